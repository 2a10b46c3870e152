// The golden hit counts of the Mooncake conversation trace, reproduced by two
// independent programs. The trace is not part of the project: the environment
// variable KVSIM_SHARED names the folder that holds it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sim/hits.h"
#include "sim/miss_ratio_curve.h"

namespace kvsim {
namespace {

class HitsGoldenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("KVSIM_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
    path_ = std::string(shared) + "/traces/mooncake_conversation.jsonl";
  }

  HitTrace Read(PartialTail tail, int64_t block_tokens) {
    auto reader = OpenTrace(path_, TraceOptions());
    EXPECT_TRUE(reader.ok()) << reader.status();
    auto trace =
        HitTrace::Read(reader->get(), {.partial_tail = tail}, block_tokens);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return *std::move(trace);
  }

  std::string path_;
};

TEST_F(HitsGoldenTest, OneEntryPerIdOverTheLastHalf) {
  const HitTrace trace = Read(PartialTail::kShared, 512);
  const struct {
    HitPolicy policy;
    int64_t blocks;
    int64_t hit_tokens;
  } kGolden[] = {
      {HitPolicy::kFifo, 4096, 5'806'048},
      {HitPolicy::kLru, 4096, 5'935'037},
      {HitPolicy::kOptimal, 4096, 23'452'732},
      {HitPolicy::kFifo, 32768, 21'376'864},
      {HitPolicy::kLru, 32768, 24'161'208},
      {HitPolicy::kOptimal, 32768, 27'038'068},
  };
  for (const auto& golden : kGolden) {
    SCOPED_TRACE(std::string(HitPolicyName(golden.policy)) + " " +
                 std::to_string(golden.blocks));
    const auto result = trace.Replay({.policy = golden.policy,
                                      .num_blocks = golden.blocks,
                                      .measured_share = 0.5});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->references, 288'500);
    EXPECT_EQ(result->measured_tokens, 67'915'607);
    EXPECT_EQ(result->hit_tokens, golden.hit_tokens);
  }
}

// DeepSeek-V3 in BF16 stores 70,272 B per token, 35,979,264 B per 512 tokens:
// 512 GiB hold 15,279 entries, 1 TiB 30,559 and 2 TiB 61,119.
TEST_F(HitsGoldenTest, LruRatesOfHostMemory) {
  const HitTrace trace = Read(PartialTail::kShared, 512);
  const struct {
    int64_t gib;
    int64_t blocks;
    double percent;  // to one decimal
  } kGolden[] = {
      {512, 15'279, 27.0}, {1024, 30'559, 34.5}, {2048, 61'119, 38.3}};
  for (const auto& golden : kGolden) {
    EXPECT_EQ((golden.gib << 30) / (70'272 * 512), golden.blocks);
    const auto result =
        trace.Replay({.num_blocks = golden.blocks, .measured_share = 0.5});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(100.0 * static_cast<double>(result->hit_tokens) /
                    static_cast<double>(result->measured_tokens),
                golden.percent, 0.05);
  }
}

TEST_F(HitsGoldenTest, EngineSemanticsAtBlock16) {
  const HitTrace trace = Read(PartialTail::kUnique, 16);
  const struct {
    int64_t blocks;
    int64_t hit_blocks;
  } kGolden[] = {{32'771, 415'487}, {131'077, 831'088}, {1'048'583, 3'107'936}};
  for (const auto& golden : kGolden) {
    const auto result = trace.Replay({.num_blocks = golden.blocks});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->references, 9'044'013);
    EXPECT_EQ(result->hit_blocks, golden.hit_blocks);
  }
  // One pass for every size gives what the runs gave, at ten sizes.
  const MissRatioCurve curve(trace, 1.0);
  for (const auto& golden : kGolden) {
    EXPECT_EQ(curve.At(golden.blocks).hit_blocks, golden.hit_blocks);
  }
  for (const int64_t blocks :
       {1'000, 10'000, 65'536, 262'144, 524'288, 2'000'000, 8'000'000}) {
    auto run = trace.Replay({.num_blocks = blocks});
    ASSERT_TRUE(run.ok()) << run.status();
    run->evictions = 0;
    EXPECT_EQ(curve.At(blocks), *run) << blocks << " blocks";
  }
}

}  // namespace
}  // namespace kvsim
