#include "base/decimal.h"

#include <gtest/gtest.h>

#include <string>

namespace kvsim {
namespace {

std::optional<int64_t> Scaled(absl::string_view text, int64_t multiplier) {
  const std::optional<Decimal> value = ConsumeDecimal(&text);
  if (!value.has_value() || !text.empty()) return std::nullopt;
  return Scale(*value, multiplier);
}

TEST(DecimalTest, TakesTheNumberAndLeavesTheRest) {
  absl::string_view text = "33.35GiB";
  const std::optional<Decimal> value = ConsumeDecimal(&text);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->digits, 3335);
  EXPECT_EQ(value->fraction_digits, 2);
  EXPECT_EQ(text, "GiB");
}

TEST(DecimalTest, RefusesWhatIsNoPlainNumber) {
  for (const char* text : {"", "GiB", ".", "-1", "+1", "nan", "inf", "1."}) {
    absl::string_view rest = text;
    EXPECT_FALSE(ConsumeDecimal(&rest).has_value()) << text;
    EXPECT_EQ(rest, text);
  }
}

TEST(DecimalTest, AgreesWithIntegersForEveryThousandth) {
  // k/1000 times 1000 is k whichever way it is written.
  for (int k = 0; k < 3000; ++k) {
    const std::string digits = std::to_string(1000 + k % 1000).substr(1);
    EXPECT_EQ(Scaled(std::to_string(k / 1000) + "." + digits, 1000), k);
  }
}

TEST(DecimalTest, RoundsHalvesUp) {
  EXPECT_EQ(Scaled("0.5", 1), 1);
  EXPECT_EQ(Scaled("0.4999999999999999999", 1), 0);
  EXPECT_EQ(Scaled("2.5", 1), 3);
}

TEST(DecimalTest, IsExactWhereDoublesAreNot) {
  // 33.35 * 2^30 = 35809289830.4 exactly.
  EXPECT_EQ(Scaled("33.35", int64_t{1} << 30), 35809289830);
  // 2^63 - 1 has 19 digits; a double would give 2^63.
  EXPECT_EQ(Scaled("9223372036854775807", 1), 9223372036854775807);
}

TEST(DecimalTest, RefusesOverflow) {
  EXPECT_EQ(Scaled("9223372036854775808", 1), std::nullopt);
  EXPECT_EQ(Scaled("8192", int64_t{1} << 50), std::nullopt);  // 2^63
  EXPECT_EQ(Scaled("9999999999999999999999", int64_t{1} << 50), std::nullopt);
  EXPECT_EQ(Scaled("99999999999999999999999", 1), std::nullopt);  // 23 digits
}

TEST(DecimalTest, ConvertsToTheNearestDouble) {
  absl::string_view text = "0.92";
  EXPECT_EQ(ToDouble(*ConsumeDecimal(&text)), 0.92);
}

}  // namespace
}  // namespace kvsim
