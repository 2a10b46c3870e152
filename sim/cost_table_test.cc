#include "sim/cost_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

// Every part moves 1 GB/s in pieces of 1 KiB and 4 GB/s in pieces of 16 KiB.
std::string Costs() {
  std::string operations;
  for (int part = 0; part < kNumPagingParts; ++part) {
    absl::StrAppend(&operations, part == 0 ? "" : ",", "\"",
                    PagingPartName(static_cast<PagingPart>(part)),
                    "\": [{\"unit_bytes\": 1024, \"launch_ns\": 100, "
                    "\"bytes_per_second\": 1e9}, {\"unit_bytes\": 16384, "
                    "\"launch_ns\": 200, \"bytes_per_second\": 4e9}]");
  }
  return absl::StrCat(
      "{\"kvsim_costs\": 1, \"backend\": \"host\", \"measured_on\": \"a test\","
      " \"operations\": {",
      operations, "}}");
}

TEST(CostTableTest, InterpolatesInTheLogarithmOfTheUnit) {
  const auto table = CostTable::Parse(Costs(), "costs.json");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->backend(), "host");
  EXPECT_EQ(table->measured_on(), "a test");
  const auto speed = [&](int64_t unit) {
    return table->BytesPerSecond(PagingPart::kCopyBlocks, unit);
  };
  EXPECT_DOUBLE_EQ(speed(1), 1e9);
  EXPECT_DOUBLE_EQ(speed(1024), 1e9);
  EXPECT_DOUBLE_EQ(speed(4096), 2.5e9);  // half of the way from 2^10 to 2^14
  EXPECT_DOUBLE_EQ(speed(16'384), 4e9);
  EXPECT_DOUBLE_EQ(speed(1 << 20), 4e9);
}

// Three calls of 100 ns and 1,000,000 B at 1 GB/s; beyond the first unit calls take
// what the next one's took.
TEST(CostTableTest, PricesCallsAndBytes) {
  const auto table = CostTable::Parse(Costs(), "costs.json");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->Ns(PagingPart::kWriteTokens, 3, 1'000'000, 1024),
            300 + 1'000'000);
  EXPECT_EQ(table->Ns(PagingPart::kWriteTokens, 1, 4'000'000, 1 << 20),
            200 + 1'000'000);
  EXPECT_EQ(table->Ns(PagingPart::kWriteTokens, 0, 0, 1), 0);
}

std::string ErrorOf(const std::string& text) {
  const auto table = CostTable::Parse(text, "costs.json");
  EXPECT_FALSE(table.ok());
  return std::string(table.status().message());
}

TEST(CostTableTest, ErrorsNameFileAndField) {
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("costs.json: is not a table of costs"));
  EXPECT_THAT(ErrorOf("garbage"), HasSubstr("kvsim paging calibrate"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(
                  Costs(), {{"\"backend\": \"host\"", "\"backend\": 1"}})),
              HasSubstr("field backend must be text"));
  EXPECT_THAT(
      ErrorOf(absl::StrReplaceAll(Costs(), {{"swap_in", "swap_up"}})),
      HasSubstr("field operations.swap_in must be a list of measurements"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(Costs(), {{"4e9", "-4"}})),
              HasSubstr("field operations.block_tables[1].bytes_per_second is "
                        "-4; accepted: a number from 1"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(Costs(), {{"16384", "1024"}})),
              HasSubstr("must be greater than the one before"));
  EXPECT_THAT(std::string(CostTable::Read("/no/such/file").status().message()),
              HasSubstr("/no/such/file: cannot be opened"));
}

}  // namespace
}  // namespace kvsim
