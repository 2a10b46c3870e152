#include "base/shell_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ShellWords, BlanksAndLineEndsSeparateWords) {
  EXPECT_THAT(*SplitShellWords("  vllm\tserve \n m "),
              ElementsAre("vllm", "serve", "m"));
  EXPECT_THAT(*SplitShellWords(""), IsEmpty());
  EXPECT_THAT(*SplitShellWords(" \n"), IsEmpty());
}

TEST(ShellWords, QuotesKeepAWordTogether) {
  EXPECT_THAT(*SplitShellWords(R"(-a 'x "y" \z' "p 'q'" '' -b="1 2"'3 4')"),
              ElementsAre("-a", R"(x "y" \z)", "p 'q'", "", "-b=1 23 4"));
}

TEST(ShellWords, BackslashesKeepTheNextCharacterAndJoinLines) {
  EXPECT_THAT(*SplitShellWords("vllm serve \\\n  a\\ b \\\r\n --c\\\nd"),
              ElementsAre("vllm", "serve", "a b", "--cd"));
  EXPECT_THAT(*SplitShellWords(R"("a\"b\\c\$d\e")"),
              ElementsAre(R"(a"b\c$d\e)"));
  EXPECT_THAT(*SplitShellWords("a\\"), ElementsAre("a\\"));
}

TEST(ShellWords, CommentsGoToTheLinesEnd) {
  EXPECT_THAT(*SplitShellWords("# start\nvllm # here 'it is\nserve a#b"),
              ElementsAre("vllm", "serve", "a#b"));
}

TEST(ShellWords, AnOpenQuoteIsNamedWithItsPlace) {
  EXPECT_THAT(std::string(SplitShellWords("a 'b c").status().message()),
              HasSubstr("quotation mark ' at character 3 is not closed"));
  EXPECT_THAT(std::string(SplitShellWords("\"a\\\"").status().message()),
              HasSubstr("quotation mark \" at character 1 is not closed"));
}

}  // namespace
}  // namespace kvsim
