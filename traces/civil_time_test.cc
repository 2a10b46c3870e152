#include "traces/civil_time.h"

#include "gtest/gtest.h"

namespace kvsim {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// `date -u -d '2023-11-16 18:15:46' +%s` is 1700158546.
TEST(ParseCivilTimeTest, CountsFrom1970) {
  EXPECT_EQ(ParseCivilTime("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(ParseCivilTime("2023-11-16 18:15:46.6805900"),
            1'700'158'546 * kSecond + 680'590'000);
  EXPECT_EQ(ParseCivilTime("2024-02-29T23:59:59.000000001Z"),
            1'709'251'199 * kSecond + 1);
  EXPECT_EQ(ParseCivilTime("2024-05-10 02:00:00+02:00"),
            ParseCivilTime("2024-05-10 00:00:00"));
  EXPECT_EQ(ParseCivilTime("2024-05-09 22:30:00-0130"),
            ParseCivilTime("2024-05-10 00:00:00"));
}

TEST(ParseCivilTimeTest, RefusesWhatIsNoTime) {
  for (const char* bad :
       {"", "2023-11-16", "2023-13-01 00:00:00", "2023-02-29 00:00:00",
        "2023-11-16 24:00:00", "2023-11-16 18:60:46", "2023-11-16 18:15:46.",
        "2023-11-16 18:15:46.0123456789", "2023-11-16 18:15:46 ", "nan",
        "16/11/2023 18:15:46", "1969-12-31 23:59:59", "2044-01-01 00:00:00",
        "2023-11-16 18:15:46+", "2023-11-16x18:15:46", "-023-11-16 18:15:46",
        "1970-01-01 00:00:00+01:00"}) {
    EXPECT_FALSE(ParseCivilTime(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace kvsim
