#include "kernels/paging_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

class PagingBenchTest : public ::testing::Test {
 protected:
  PagingBenchTest() : memory_(MakeHostMemory()) {
    bench_ = *PagingBench::Create(HostKernels(), memory_.get(),
                                  {.memory_bytes = 16 << 20, .repeats = 1});
  }
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<PagingBench> bench_;
};

TEST_F(PagingBenchTest, MeasuresEveryOperationInEveryFormat) {
  for (const char* operation : PagingBench::Operations()) {
    std::vector<std::string> dtypes = PagingBench::DtypesOf(operation);
    if (dtypes.empty()) dtypes.push_back("");
    for (const std::string& dtype : dtypes) {
      const auto result = bench_->Run({.operation = operation,
                                       .dtype = dtype,
                                       .unit_bytes = 4096,
                                       .layers = 2,
                                       .batch = 2});
      ASSERT_TRUE(result.ok())
          << operation << " " << dtype << ": " << result.status();
      EXPECT_GT(result->bytes, 0) << operation;
      EXPECT_GT(result->call_ns, 0) << operation;
      EXPECT_GT(result->plain_ns, 0) << operation;
      EXPECT_GT(result->Ratio(), 0) << operation;
    }
  }
}

// 8 pages of 4 KiB in two layers; rows of 8 heads of 128, K and V, in bf16.
TEST_F(PagingBenchTest, CountsWhatACallMoves) {
  const auto copy = bench_->Run({.operation = "copy_blocks",
                                 .unit_bytes = 4096,
                                 .layers = 2,
                                 .batch = 8});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->bytes, 65'536);
  const auto write = bench_->Run(
      {.operation = "write_tokens", .dtype = "bf16", .layers = 2, .batch = 8});
  ASSERT_TRUE(write.ok()) << write.status();
  EXPECT_EQ(write->bench.unit_bytes, 2 * 8 * 128 * 2);
  EXPECT_EQ(write->bytes, 2 * 8 * 4096);
  const auto all =
      bench_->Run({.operation = "copy_blocks", .unit_bytes = 4096});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->bench.batch, 4096);
}

// 32 heads of 128 x 128: 2 MiB in fp32, a quarter of it and 32 scales in int8; conv
// rows 9 x 4,096 in bf16.
TEST_F(PagingBenchTest, StatesHaveTheSizesOfTheirPages) {
  const auto save = [&](const char* dtype) {
    return bench_->Run({.operation = "save_state", .dtype = dtype, .batch = 1});
  };
  const auto exact = save("fp32");
  ASSERT_TRUE(exact.ok()) << exact.status();
  EXPECT_EQ(exact->bench.unit_bytes, 2'097'152 + 73'728);
  EXPECT_EQ(exact->bytes, 2'097'152 + 73'728);
  const auto small = save("int8");
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(small->bench.unit_bytes, 524'288 + 128 + 73'728);
}

std::string ErrorOf(const absl::StatusOr<BenchResult>& result) {
  EXPECT_FALSE(result.ok());
  return std::string(result.status().message());
}

TEST_F(PagingBenchTest, RefusesWhatIsNoCase) {
  EXPECT_THAT(ErrorOf(bench_->Run({.operation = "copy"})),
              HasSubstr("operation 'copy': accepted: copy_blocks"));
  EXPECT_THAT(
      ErrorOf(bench_->Run({.operation = "write_tokens", .dtype = "fp4"})),
      HasSubstr("dtype 'fp4' of write_tokens: accepted: bf16"));
  EXPECT_THAT(
      ErrorOf(bench_->Run(
          {.operation = "swap_in", .unit_bytes = 4096, .batch = 4097})),
      HasSubstr("4097 units in 1 layers do not fit; accepted: more memory, or "
                "up to 4096"));
}

}  // namespace
}  // namespace kvsim
