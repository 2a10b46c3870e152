#include "tools/kvsim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(KvsimTest, VersionIsAResult) {
  const Outcome outcome = Kvsim({"--version"});
  EXPECT_EQ(outcome.code, kExitOk);
  // With or without CUDA, as it was built.
  EXPECT_THAT(outcome.out,
              StartsWith(std::string("kvsim ") + kVersion +
                         "\ncommit unknown\nrules  vLLM main of "
                         "2026-08-17, releases to 0.31.0\nkernels host"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(KvsimTest, UnknownFlagIsWrongUsage) {
  const Outcome outcome = Kvsim({"--no-such-flag"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, Not(IsEmpty()));
}

TEST(KvsimTest, UnknownCommandIsWrongUsageAndNamed) {
  const Outcome outcome = Kvsim({"relay", "--trace", "x"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("no command \"relay\""));
}

TEST(KvsimTest, UnknownCommandIsNamedBehindUnitsToo) {
  EXPECT_THAT(Kvsim({"--units", "gb", "relay"}).err,
              HasSubstr("no command \"relay\""));
  EXPECT_THAT(Kvsim({"relay", "--units=gb"}).err,
              HasSubstr("no command \"relay\""));
}

// The names by which commands are found are those that they declare: each one that
// `kvsim --help` lists explains itself.
TEST(KvsimTest, EveryListedCommandHasHelp) {
  const std::string help = Kvsim({"--help"}).out;
  const std::string list = help.substr(help.find("Subcommands:"));
  int commands = 0;
  for (size_t at = list.find("\n  "); at != std::string::npos;
       at = list.find("\n  ", at + 1)) {
    if (list[at + 3] == ' ') continue;  // a description goes on
    const std::string name =
        list.substr(at + 3, list.find(' ', at + 3) - at - 3);
    const Outcome outcome = Kvsim({name, "--help"});
    EXPECT_EQ(outcome.code, kExitOk) << name;
    EXPECT_THAT(outcome.out, HasSubstr("kvsim " + name)) << name;
    ++commands;
  }
  EXPECT_GE(commands, 12);
}

TEST(KvsimTest, NoCommandIsWrongUsage) {
  EXPECT_EQ(Kvsim({}).code, kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
