#include "engines/tensorrt_llm/pool_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/model_loader.h"

namespace kvsim::tensorrt_llm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Bytes k40GiB{42949672960};

ModelSpec Catalogued(const std::string& name) {
  absl::StatusOr<ModelSpec> model = LoadModel(name);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

BlockPlan Plan(const ModelSpec& model, const Settings& settings,
               const PoolMemory& memory) {
  absl::StatusOr<BlockPlan> plan = PlanBlocks(model, settings, memory);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : BlockPlan{};
}

// Llama 3.1 8B (32 layers of 8 x 128) in fp8: 32 x 65,536 B = 2 MiB a block;
// 8,219 blocks, as a public start printed them, are 16.05 GiB.
TEST(PoolPlannerTest, BlocksTimesRowsIsWhatIsAllocated) {
  const BlockPlan plan =
      Plan(Catalogued("llama-3.1-8b"), {.kv_cache_dtype = CacheType::kFp8},
           {.num_blocks = 8219});
  EXPECT_EQ(plan.windows[0].block, Bytes(2097152));
  EXPECT_EQ(plan.max_tokens, 263008);
  EXPECT_THAT(plan.pool.log_lines,
              ElementsAre("[TensorRT-LLM][INFO] Max KV cache blocks per "
                          "sequence: 4096 [window size=131072], tokens per "
                          "block=32, primary blocks=8219, secondary blocks=0",
                          "[TensorRT-LLM][INFO] [MemUsageChange] Allocated "
                          "16.05 GiB for max tokens in paged KV cache "
                          "(263008)."));
  EXPECT_THAT(plan.pool.notes, Contains(HasSubstr("evidence")));
}

// bf16 in blocks of 64: 220,480 tokens x 131,072 B = 26.91 GiB.
TEST(PoolPlannerTest, TokensTakeThePlaceOfMemory) {
  const BlockPlan plan = Plan(Catalogued("llama-3.1-8b"),
                              {.tokens_per_block = 64}, {.max_tokens = 220480});
  EXPECT_EQ(plan.num_blocks, 3445);
  EXPECT_EQ(PrintedGiB(TotalBytes(plan.pools)), "26.91");
}

// 0.9 x 40 GiB / 4 MiB = 9,216 blocks; max_tokens lowers them to 1,000 / 32.
TEST(PoolPlannerTest, AFractionOfTheFreeMemoryIsDivided) {
  const ModelSpec model = Catalogued("llama-3.1-8b");
  EXPECT_EQ(Plan(model, {}, {.free = k40GiB}).num_blocks, 9216);
  EXPECT_EQ(Plan(model, {.max_tokens = 1000}, {.free = k40GiB}).num_blocks, 32);
  EXPECT_EQ(Plan(model, {.free_gpu_memory_fraction = 0.5}, {.free = k40GiB})
                .num_blocks,
            5120);
}

// 8 heads over 3 ranks: 3 each; over 16: one; under attention DP: all 8.
TEST(PoolPlannerTest, HeadsRoundUp) {
  const ModelSpec model = Catalogued("llama-3.1-8b");
  const auto block = [&](const Settings& settings) {
    return Plan(model, settings, {.num_blocks = 10}).windows[0].block.value();
  };
  constexpr int64_t kOneHead = int64_t{32} * 32 * 128 * 2 * 2;
  EXPECT_EQ(block({.tp_size = 3}), 3 * kOneHead);
  EXPECT_EQ(block({.tp_size = 16}), kOneHead);
  EXPECT_EQ(block({.tp_size = 16, .enable_attention_dp = true}), 8 * kOneHead);
}

// nvfp4: 1,024 elements of K are 512 + 64 B.
TEST(PoolPlannerTest, Nvfp4CarriesItsScales) {
  EXPECT_EQ(Plan(Catalogued("llama-3.1-8b"),
                 {.kv_cache_dtype = CacheType::kNvfp4}, {.num_blocks = 10})
                .windows[0]
                .block,
            Bytes(32 * 32 * 2 * 576));
}

// GLM-5.2: 78 latents of 1,152 B, index keys of 132 B on the 21 layers that
// select.
TEST(PoolPlannerTest, OnlySelectingLayersKeepIndexKeys) {
  EXPECT_EQ(Plan(Catalogued("glm-5.2"), {.tp_size = 8}, {.num_blocks = 10})
                .windows[0]
                .block,
            Bytes(32 * (78 * 1152 + 21 * 132)));
}

// gpt-oss-120b: 18 layers of 32 x 2,048 B in both windows. 20 GiB each at a
// fraction of 1: 18,204 blocks; shares go from the narrow window to the wide.
TEST(PoolPlannerTest, WindowsDivideTheMemoryEqually) {
  const ModelSpec model = Catalogued("gpt-oss-120b");
  BlockPlan plan =
      Plan(model, {.free_gpu_memory_fraction = 1}, {.free = k40GiB});
  ASSERT_EQ(plan.windows.size(), 2u);
  EXPECT_EQ(plan.windows[0].window, 131072);
  EXPECT_EQ(plan.windows[1].window, 128);
  EXPECT_EQ(plan.windows[0].num_blocks, 18204);
  EXPECT_EQ(plan.windows[1].num_blocks, 18204);
  EXPECT_EQ(plan.pool.UsableBlocks(1), Blocks(18204));
  plan = Plan(model,
              {.free_gpu_memory_fraction = 1, .window_size_shares = {0.1, 0.9}},
              {.free = k40GiB});
  EXPECT_EQ(plan.windows[0].num_blocks, 32768);  // 36 GiB / 1,179,648 B
  EXPECT_EQ(plan.windows[1].num_blocks, 3640);   // 4 GiB
}

// The flag's windows are repeated over the layers: every other layer 4,096.
TEST(PoolPlannerTest, WindowsByFlagRepeat) {
  const BlockPlan plan =
      Plan(Catalogued("llama-3.1-8b"), {.max_attention_window = {4096, 131072}},
           {.num_blocks = 5000});
  ASSERT_EQ(plan.windows.size(), 2u);
  EXPECT_EQ(plan.windows[1].window, 4096);
  EXPECT_EQ(plan.windows[1].layers.size(), 16u);
}

// 100 blocks of 32 tokens hold 3,200: the engine shortens its sequences.
TEST(PoolPlannerTest, TooSmallAPoolShortensSequences) {
  const BlockPlan plan =
      Plan(Catalogued("llama-3.1-8b"), {}, {.num_blocks = 100});
  EXPECT_EQ(plan.max_seq_len, 3200);
  EXPECT_THAT(plan.pool.log_lines, Contains(HasSubstr("reduced to 3200")));
  EXPECT_FALSE(plan.pool.refused.has_value());
}

// Kimi-Linear: 20 layers of 73,728 B and 32 x 128 x 128 numbers, for each of 8
// requests.
TEST(PoolPlannerTest, StatesAreTakenFirst) {
  const BlockPlan plan =
      Plan(Catalogued("kimi-linear-48b"),
           {.max_seq_len = 131072, .max_batch_size = 8}, {.free = k40GiB});
  ASSERT_NE(FindPool(plan.pools, "mamba"), nullptr);
  EXPECT_EQ(TotalBytes(*FindPool(plan.pools, "mamba")),
            Bytes(8 * 20 * (73728 + int64_t{32} * 128 * 128 * 2)));
}

TEST(PoolPlannerTest, AHostCacheHasBlocksOfTheSameSize) {
  EXPECT_EQ(Plan(Catalogued("llama-3.1-8b"), {.host_cache_size = GiB(1)},
                 {.num_blocks = 5000})
                .windows[0]
                .host_blocks,
            256);  // 1 GiB / 4 MiB
}

TEST(PoolPlannerTest, BadInputIsNamed) {
  const ModelSpec model = Catalogued("llama-3.1-8b");
  const auto error = [&](const Settings& settings, const PoolMemory& memory) {
    return std::string(PlanBlocks(model, settings, memory).status().message());
  };
  EXPECT_THAT(error({.tokens_per_block = 48}, {.num_blocks = 1}),
              HasSubstr("tokens_per_block 48"));
  EXPECT_THAT(error({}, {}), HasSubstr("no memory"));
  EXPECT_THAT(error({.free_gpu_memory_fraction = 2}, {.num_blocks = 1}),
              HasSubstr("fraction 2"));
  EXPECT_THAT(error({.window_size_shares = {0.5, 0.5}}, {.num_blocks = 1}),
              HasSubstr("2 values for 1 windows"));
  EXPECT_EQ(PlanBlocks(Catalogued("deepseek-v4-flash"), {}, {.num_blocks = 1})
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

TEST(PoolPlannerTest, NoBlockIsARefusal) {
  EXPECT_TRUE(Plan(Catalogued("llama-3.1-8b"), {}, {.free = Bytes(1000)})
                  .pool.refused.has_value());
}

}  // namespace
}  // namespace kvsim::tensorrt_llm
