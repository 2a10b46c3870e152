#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What bash offers for the last of these words, by the script itself.
std::string Offers(const std::string& words) {
  const Outcome outcome = Kvsim("completion", {"bash"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  const std::string path = testing::TempDir() + "/completion.bash";
  std::ofstream(path) << outcome.out << "COMP_WORDS=(" << words
                      << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                      << "_kvsim\necho \"${COMPREPLY[*]}\"\n";
  std::FILE* shell = popen(("bash " + path).c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(shell)) != EOF;) {
    text += static_cast<char>(c);
  }
  EXPECT_EQ(pclose(shell), 0) << text;
  return text;
}

TEST(CompletionCommandTest, BashOffersCommandsAndFlags) {
  EXPECT_EQ(Offers("kvsim cap"), "capacity\n");
  EXPECT_EQ(Offers("kvsim replay --max-num-b"), "--max-num-batched-tokens\n");
  EXPECT_EQ(Offers("kvsim trace anon"), "anonymise\n");
  EXPECT_THAT(Offers("kvsim trace stats --"), HasSubstr("--json"));
  EXPECT_THAT(Offers("kvsim trace stats --"), Not(HasSubstr("--max-num-seqs")));
  // A flag's value that fits no word is left to file names.
  EXPECT_EQ(Offers("kvsim replay --trace tra"), "\n");
}

TEST(CompletionCommandTest, ZshLoadsBashsCompletion) {
  EXPECT_THAT(Kvsim("completion", {"zsh"}).out, HasSubstr("bashcompinit"));
}

TEST(CompletionCommandTest, WrongUsage) {
  EXPECT_EQ(Kvsim("completion", {"fish"}).code, kExitWrongUsage);
  EXPECT_EQ(Kvsim("completion", {}).code, kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
