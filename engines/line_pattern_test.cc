#include "engines/line_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Gaps(absl::string_view pattern,
                              absl::string_view text) {
  PatternMatch match;
  if (!MatchPattern(pattern, text, 0, &match)) return {"no match"};
  return match.gaps;
}

TEST(LinePatternTest, NumbersKeepTheirDigits) {
  EXPECT_THAT(Gaps("size: {#} GiB", "[x] size: -1,234.50GiB"),
              ElementsAre("-1,234.50"));
  EXPECT_THAT(Gaps("size: {#}, {#}.", "size: 1, 2."), ElementsAre("1", "2"));
  EXPECT_THAT(Gaps("size: {#}", "size: many"), ElementsAre("no match"));
}

TEST(LinePatternTest, WordsAreAsShortAsTheyCanBe) {
  EXPECT_THAT(Gaps("K ({w}): {#}", "K (q8_0):   51.00 MiB"),
              ElementsAre("q8_0", "51.00"));
  EXPECT_THAT(Gaps("Policy: {w}", "Policy: NO_EVICT and more"),
              ElementsAre("NO_EVICT"));
}

TEST(LinePatternTest, OptionalTextMayBeMissing) {
  const char pattern[] = "took {#} GiB{? memory} and {#}";
  EXPECT_THAT(Gaps(pattern, "took 1 GiB and 2"), ElementsAre("1", "2"));
  EXPECT_THAT(Gaps(pattern, "took 1 GiB memory and 2"), ElementsAre("1", "2"));
}

// The first place where the head stands does not have to be the right one.
TEST(LinePatternTest, SearchesOn) {
  EXPECT_THAT(Gaps("size = {#} MiB", "size = 8 cells, size = 3 MiB"),
              ElementsAre("3"));
}

TEST(LinePatternTest, RanksHaveFactsOfTheirOwn) {
  const LinePattern patterns[] = {{"a={#} b={#} c={#}", "@a - c"}};
  StartupLog log;
  ReadPatterns(patterns, {"a=1 b=2 c=3 a=4 b=5 c=6", {{0, 7}}}, "2", &log);
  EXPECT_EQ(log.Text("ranks.2.a"), "4");
  EXPECT_EQ(log.Text("c"), "6");
  EXPECT_EQ(log.facts().size(), 2u);
  EXPECT_EQ(log.Find("c")->line, 7);
}

}  // namespace
}  // namespace kvsim
