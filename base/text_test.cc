#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::string ErrorOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(FormatTest, CountsHaveThousandsSeparators) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1048576), "1,048,576");
  EXPECT_EQ(FormatCount(-100), "-100");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatCount(kMin), "-9,223,372,036,854,775,808");
}

TEST(FormatTest, RatiosRoundHalvesAwayFromZero) {
  EXPECT_EQ(FormatRatio(2, 3, 2), "0.67");
  EXPECT_EQ(FormatRatio(1, 8, 2), "0.13");  // 0.125
  EXPECT_EQ(FormatRatio(-1, 8, 2), "-0.13");
  EXPECT_EQ(FormatRatio(5, 2, 0), "3");
  EXPECT_EQ(FormatRatio(999, 1000, 2), "1.00");
  EXPECT_EQ(FormatRatio(-1, 1000, 2), "0.00");
}

TEST(FormatTest, RatiosReachTheEndsOfInt64) {
  EXPECT_EQ(FormatRatio(kMax, 1, 9), "9223372036854775807.000000000");
  EXPECT_EQ(FormatRatio(kMin, 1, 0), "-9223372036854775808");
  EXPECT_EQ(FormatRatio(kMax, kMax, 2), "1.00");
}

TEST(FormatTest, PercentOfNothingIsNotANumber) {
  EXPECT_EQ(FormatPercent(1, 3), "33.3 %");
  EXPECT_EQ(FormatPercent(3, 3, 0), "100 %");
  EXPECT_EQ(FormatPercent(0, 0), "n/a");
}

TEST(FormatTest, BytesPickTheLargestUnitThatLeavesOne) {
  EXPECT_EQ(FormatBytes(Bytes(0)), "0 B");
  EXPECT_EQ(FormatBytes(Bytes(1023)), "1023 B");
  EXPECT_EQ(FormatBytes(Bytes(1024)), "1.00 KiB");
  EXPECT_EQ(FormatBytes(KiB(27) + Bytes(512)), "27.50 KiB");
  EXPECT_EQ(FormatBytes(GiB(3)), "3.00 GiB");
  EXPECT_EQ(FormatBytes(Bytes(-2048)), "-2.00 KiB");
}

TEST(FormatTest, GigabytesAreNamedForWhatTheyAre) {
  // 141e9 / 2^30 = 131.3164...
  const Bytes h200(141'000'000'000);
  EXPECT_EQ(FormatGB(h200), "141.00 GB");
  EXPECT_EQ(FormatGiB(h200), "131.32 GiB");
  EXPECT_EQ(FormatGiB(h200, 0), "131 GiB");
}

TEST(FormatTest, DurationsPickTheirUnit) {
  EXPECT_EQ(FormatDuration(SimTime(950)), "950 ns");
  EXPECT_EQ(FormatDuration(SimTime(1500)), "1.50 us");
  EXPECT_EQ(FormatDuration(Milliseconds(20)), "20.00 ms");
  EXPECT_EQ(FormatDuration(Milliseconds(2500)), "2.50 s");
  EXPECT_EQ(FormatDuration(Seconds(65)), "1 min 05 s");
  EXPECT_EQ(FormatDuration(Seconds(2 * 3600 + 3 * 60)), "2 h 03 min");
}

TEST(FormatTest, DurationsNeverPrintSixtySeconds) {
  EXPECT_EQ(FormatDuration(Milliseconds(59'994)), "59.99 s");
  EXPECT_EQ(FormatDuration(Milliseconds(59'995)), "1 min 00 s");
  EXPECT_EQ(FormatDuration(Milliseconds(119'700)), "2 min 00 s");
  EXPECT_EQ(FormatDuration(Seconds(3599) + Milliseconds(600)), "1 h 00 min");
}

TEST(ParseBytesTest, ReadsWhatEnginesAndVendorsPrint) {
  EXPECT_EQ(*ParseBytes("0"), Bytes(0));
  EXPECT_EQ(*ParseBytes("4096"), Bytes(4096));
  EXPECT_EQ(*ParseBytes("141GB"), Bytes(141'000'000'000));
  EXPECT_EQ(*ParseBytes("1.56TB"), Bytes(1'560'000'000'000));
  EXPECT_EQ(*ParseBytes(" 8 GiB "), GiB(8));
  EXPECT_EQ(*ParseBytes("0.5KiB"), Bytes(512));
  // 33.35 * 2^30 = 35809289830.4.
  EXPECT_EQ(*ParseBytes("33.35GiB"), Bytes(35'809'289'830));
}

TEST(ParseBytesTest, ReadsBackWhatFormatBytesPrints) {
  for (int64_t bytes : {0L, 1023L, 1024L, 1L << 30, 5L << 40}) {
    EXPECT_EQ(*ParseBytes(FormatBytes(Bytes(bytes))), Bytes(bytes));
  }
}

TEST(ParseBytesTest, RefusesAndSaysWhatItAccepts) {
  for (const char* text :
       {"", "GiB", "-1GiB", "nan", "inf", "1e9", "1G", "1K", "1gib", "1Gb",
        "1 GiB x", "1.2.3GiB", "0x10", "9223372036854775808", "8192PiB"}) {
    const std::string error = ErrorOf(ParseBytes(text).status());
    EXPECT_THAT(error, HasSubstr(std::string("\"") + text + "\""));
    EXPECT_THAT(error, HasSubstr("33.35GiB"));
  }
  EXPECT_THAT(ErrorOf(ParseBytes("1G").status()),
              HasSubstr("unknown unit \"G\""));
  EXPECT_THAT(ErrorOf(ParseBytes("8192PiB").status()),
              HasSubstr("larger than 2^63 - 1"));
}

TEST(ParseTokensTest, LettersAreBinary) {
  EXPECT_EQ(*ParseTokens("131072"), Tokens(131'072));
  EXPECT_EQ(*ParseTokens("128K"), Tokens(131'072));
  EXPECT_EQ(*ParseTokens("1M"), Tokens(1'048'576));
  EXPECT_EQ(*ParseTokens("1.5M"), Tokens(1'572'864));
  EXPECT_EQ(*ParseTokens("1,048,576"), Tokens(1'048'576));
}

TEST(ParseTokensTest, RefusesAmbiguousAndMalformed) {
  for (const char* text : {"", "128k", "1m", "1G", "1.5", "-1", "12,34", "K",
                           "1KiB", ",123", "1,,000", "NaN"}) {
    EXPECT_THAT(ErrorOf(ParseTokens(text).status()), HasSubstr("128K"));
  }
}

TEST(ParseCountTest, SeparatorsMustSeparateThousands) {
  EXPECT_EQ(*ParseCount("1,000"), 1000);
  EXPECT_EQ(*ParseCount("9,223,372,036,854,775,807"), kMax);
  EXPECT_EQ(*ParseCount(FormatCount(1234567)), 1234567);
  for (const char* text : {"", ",", "1,00", "10,00", "1000,000", "1,000,",
                           "1.0", "+1", "9223372036854775808"}) {
    EXPECT_FALSE(ParseCount(text).ok()) << text;
  }
}

TEST(ParseDurationTest, NeedsAUnit) {
  EXPECT_EQ(*ParseDuration("20ms"), Milliseconds(20));
  EXPECT_EQ(*ParseDuration("1.5 s"), Milliseconds(1500));
  EXPECT_EQ(*ParseDuration("2min"), Seconds(120));
  EXPECT_EQ(*ParseDuration("0.5h"), Seconds(1800));
  EXPECT_THAT(ErrorOf(ParseDuration("20").status()), HasSubstr("no unit"));
}

TEST(ParseFractionTest, ReadsSharesAndPercent) {
  EXPECT_EQ(*ParseFraction("50%"), 0.5);
  EXPECT_EQ(*ParseFraction("0.92"), 0.92);
  EXPECT_EQ(*ParseFraction("1"), 1.0);
  for (const char* text : {"", "%", "101%", "1.01", "-0.5", "half", "50 %x"}) {
    EXPECT_FALSE(ParseFraction(text).ok()) << text;
  }
}

TEST(TextTest, PercentOfHugeCountsDoesNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(FormatPercent(kMost, kMost), "100.0 %");
  EXPECT_EQ(FormatPercent(kMost, 1, 0), "922337203685477580700 %");
}

}  // namespace
}  // namespace kvsim
