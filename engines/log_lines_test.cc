#include "engines/log_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Messages(const std::string& text) {
  std::istringstream stream(text);
  LogLines lines(stream);
  LogMessage message;
  std::vector<std::string> found;
  while (lines.Next(&message)) found.push_back(message.text);
  return found;
}

TEST(LogLinesTest, ColoursGoAndReturnsEndALine) {
  EXPECT_THAT(Messages("\033[1;32mINFO \033[0mone\r\n\nbar\rINFO two"),
              ElementsAre("INFO one bar", "INFO two"));
}

TEST(LogLinesTest, LinesThatBeginNothingAreTheRestOfTheLineBefore) {
  EXPECT_THAT(Messages("> INFO a\n>  b\nINFO c\n"),
              ElementsAre("INFO a b", "INFO c"));
}

TEST(LogLinesTest, OffsetsHaveTheirLines) {
  std::istringstream stream("\nINFO a\nb\n");
  LogLines lines(stream);
  LogMessage message;
  ASSERT_TRUE(lines.Next(&message));
  EXPECT_EQ(message.text, "INFO a b");
  EXPECT_EQ(message.LineAt(0), 2);
  EXPECT_EQ(message.LineAt(7), 3);
}

// 65,536 characters are a line.
TEST(LogLinesTest, LongLinesAreCut) {
  const std::string text = "INFO " + std::string(70000, 'x');
  const std::vector<std::string> messages = Messages(text);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].substr(65530, 10), "xxxxxx xxx");
  EXPECT_TRUE(Messages("").empty());
}

}  // namespace
}  // namespace kvsim
