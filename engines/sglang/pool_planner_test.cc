#include "engines/sglang/pool_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim::sglang {
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

SglangPlan Plan(const ModelSpec& model, const Settings& settings,
                const PoolMemory& memory) {
  absl::StatusOr<SglangPlan> plan = PlanPools(model, nullptr, settings, memory);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

Bytes Part(const SglangPlan& plan, const std::string& pool,
           const std::string& part) {
  const CachePool* found = FindPool(plan.pools, pool);
  return found == nullptr ? Bytes(0) : PartBytes(*found, part);
}

// 81,920 tokens and a page of one more, 32 x 32 x 128 x 2 B of K for each.
TEST(PoolPlannerTest, BuffersHoldOnePageMore) {
  const SglangPlan plan = Plan(Catalogued("llama-2-7b"), {}, {{k40GiB}});
  EXPECT_EQ(plan.max_total_tokens, 81920);
  EXPECT_EQ(Part(plan, "full", "K"), Bytes(int64_t{81921} * 262144));
  EXPECT_EQ(Part(plan, "full", "V"), Bytes(int64_t{81921} * 262144));
  EXPECT_EQ(plan.pool.num_blocks, Blocks(81921));
  EXPECT_EQ(plan.pool.UsableBlocks(), Blocks(81920));
  EXPECT_THAT(
      plan.pool.log_lines,
      ElementsAre("KV Cache is allocated. dtype: torch.float16, "
                  "#tokens: 81920, K size: 20.00 GB, V size: 20.00 GB",
                  "max_total_num_tokens=81920, "
                  "chunked_prefill_size=8192, max_prefill_tokens=16384, "
                  "max_running_requests=4096, context_len=4096"));
}

// A printed start: Qwen3-0.6B (28 layers, 8 x 128), 15,387 tokens given,
// K 0.82 GB: 15,388 x 28 x 2,048 B.
TEST(PoolPlannerTest, GivenTokensTakeThePlaceOfMemory) {
  const SglangPlan plan =
      Plan(Catalogued("qwen3-0.6b"), {}, {.max_total_tokens = 15387});
  EXPECT_EQ(Part(plan, "full", "K"), Bytes(int64_t{15388} * 28 * 2048));
  EXPECT_THAT(plan.pool.log_lines,
              Contains(HasSubstr("K size: 0.82 GB, V size: 0.82 GB")));
}

// --max-total-tokens lowers the budget to whole pages: 10,000 / 64 = 156.
TEST(PoolPlannerTest, TheTokenLimitIsInWholePages) {
  const SglangPlan plan =
      Plan(Catalogued("llama-2-7b"),
           {.page_size = 64, .max_total_tokens = 10000}, {{k40GiB}});
  EXPECT_EQ(plan.max_total_tokens, 9984);  // 156 pages
  EXPECT_EQ(plan.pool.block_tokens, Tokens(64));
}

TEST(PoolPlannerTest, PagesFollowBackendAndModel) {
  EXPECT_EQ(PageSize({}, Catalogued("llama-2-7b")), 1);
  EXPECT_EQ(PageSize({.attention_backend = "fa4"}, Catalogued("llama-2-7b")),
            128);
  EXPECT_EQ(
      PageSize({.attention_backend = "flashmla"}, Catalogued("deepseek-v3")),
      64);
  EXPECT_EQ(
      PageSize({.attention_backend = "cutlass_mla"}, Catalogued("deepseek-v3")),
      128);
  EXPECT_EQ(PageSize({}, Catalogued("deepseek-v3.2")), 64);
  EXPECT_EQ(PageSize({}, Catalogued("deepseek-v4-flash")), 256);
  EXPECT_EQ(PageSize({.page_size = 32}, Catalogued("deepseek-v3.2")), 32);
}

// gpt-oss-120b: 18 windows and 18 full layers of 2,048 B a row, in two pools;
// a window request of any length holds 127 + 128 tokens there.
TEST(PoolPlannerTest, WindowsLieInAPoolBeside) {
  const SglangPlan plan = Plan(Catalogued("gpt-oss-120b"), {}, {{k40GiB}});
  EXPECT_EQ(plan.max_total_tokens, 647269);
  EXPECT_EQ(plan.window_tokens, 517815);
  EXPECT_EQ(Part(plan, "swa", "K"), Bytes(int64_t{517816} * 18 * 1024));
  ASSERT_EQ(plan.pool.side_pools.size(), 1u);
  EXPECT_EQ(plan.pool.side_pools[0].num_blocks, Blocks(517816));
  EXPECT_EQ(SteadyBlocks(plan.pool, Tokens(100000), 1), Blocks(127 + 128));
  EXPECT_THAT(plan.pool.log_lines,
              Contains("Use sliding window memory pool. "
                       "full_layer_tokens=647269, swa_layer_tokens=517815"));
}

// Kimi-Linear: 468 slots and the sink, 73,728 B and 2,097,152 B in 20 layers.
// 93 requests of 5 slots each.
TEST(PoolPlannerTest, StatesHaveSlotsAndRequestsTakeSeveral) {
  const SglangPlan plan = Plan(Catalogued("kimi-linear-48b"), {}, {{k40GiB}});
  EXPECT_EQ(plan.mamba_slots, 468);
  EXPECT_EQ(plan.max_running_requests, 93);
  EXPECT_EQ(plan.max_total_tokens, 2803210);
  EXPECT_EQ(Part(plan, "state", "conv"), Bytes(int64_t{469} * 20 * 73728));
  EXPECT_EQ(Part(plan, "state", "ssm"), Bytes(int64_t{469} * 20 * 2097152));
  EXPECT_EQ(plan.pool.UsableBlocks(1), Blocks(468));
  EXPECT_EQ(SteadyBlocks(plan.pool, Tokens(1), 1), Blocks(5));
}

// V4-Flash: pages of 256 tokens are 149,760 B of windows, 37,440 B and 8,448 B
// of index keys compressed by 4, 1,728 B by 128.
TEST(PoolPlannerTest, CompressedPagesStepBy576) {
  const SglangPlan plan = Plan(Catalogued("deepseek-v4-flash"), {}, {{k40GiB}});
  EXPECT_EQ(plan.max_total_tokens, 5221376);
  EXPECT_EQ(plan.window_tokens, 521984);
  const int64_t pages = 5221376 / 256 + 1;
  EXPECT_EQ(Part(plan, "swa", "KV"), Bytes((2039 + 1) * int64_t{43} * 149760));
  EXPECT_EQ(Part(plan, "c4", "KV"), Bytes(pages * 21 * 37440));
  EXPECT_EQ(Part(plan, "c4", "index"), Bytes(pages * 21 * 8448));
  EXPECT_EQ(Part(plan, "c128", "KV"), Bytes(pages * 20 * 1728));
  EXPECT_EQ(Part(plan, "c128_state", "state"), Bytes(2715811840));
  // 521,984 / 128 rings of 8.
  EXPECT_THAT(plan.pool.log_lines,
              Contains("DSV4 pool sizes: full=5221376, swa=521984, c4=1305344, "
                       "c128=40792, c4_state=32624, c128_state=33152"));
}

// 61 latents and one of the MTP layer, the same tokens and the same extra page.
TEST(PoolPlannerTest, ADraftStoresAsManyTokens) {
  const SglangPlan plan = Plan(Catalogued("deepseek-v3"), {.speculative = true},
                               {.max_total_tokens = 1000});
  EXPECT_EQ(Part(plan, "full", "KV"), Bytes(1001 * 61 * 1152));
  EXPECT_EQ(Part(plan, "draft", "KV"), Bytes(1001 * 1152));
}

// A drafter that is another model: Qwen3-0.6B's 28 layers of 8 x 128 beside 36
// of the 8B's, and so 1 + 28 / 36 times the charge of 36 x 4,096 B.
TEST(PoolPlannerTest, ADraftModelHasRowsOfItsOwn) {
  const ModelSpec draft = Catalogued("qwen3-0.6b");
  const absl::StatusOr<SglangPlan> plan =
      PlanPools(Catalogued("qwen3-8b"), &draft,
                {.speculative_draft_model_path = "drafter"}, {{k40GiB}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_DOUBLE_EQ(plan->token_bytes, 64 * 4096);
  EXPECT_EQ(plan->max_total_tokens, 163840);  // 40 GiB / 262,144 B
  EXPECT_EQ(Part(*plan, "draft", "K"), Bytes(int64_t{163841} * 28 * 2048));
}

// Context ranks: each stores 611,191 tokens in pages of 64, all together eight
// times as many.
TEST(PoolPlannerTest, ContextRanksAddTheirTokens) {
  const SglangPlan plan =
      Plan(Catalogued("deepseek-v3"),
           {.tp_size = 8, .dcp_size = 8, .page_size = 64}, {{k40GiB}});
  EXPECT_EQ(plan.max_total_tokens, 611136 * 8);  // 9,549 pages
  EXPECT_EQ(plan.pool.UsableBlocks(), Blocks(9549));
  EXPECT_EQ(plan.pool.scheduler_block_tokens, Tokens(512));
}

// Two stages of 16 layers each hold twice the tokens; the one with less memory
// decides: 30 GiB / 262,144 B = 122,880.
TEST(PoolPlannerTest, TheSmallestStageDecides) {
  const SglangPlan plan = Plan(Catalogued("llama-2-7b"), {.pp_size = 2},
                               {{k40GiB, Bytes(int64_t{30} << 30)}});
  EXPECT_EQ(plan.max_total_tokens, 122880);
  EXPECT_EQ(plan.pool.binding_rank, 1u);
  EXPECT_EQ(plan.pool.ranks[0].own_blocks, Blocks(163841));
}

// Tokens alone say nothing about slots; a flag does.
TEST(PoolPlannerTest, GivenTokensLeaveUnknownStatesOut) {
  const ModelSpec model = Catalogued("kimi-linear-48b");
  SglangPlan plan = Plan(model, {}, {.max_total_tokens = 1000});
  EXPECT_EQ(FindPool(plan.pools, "state"), nullptr);
  EXPECT_FALSE(plan.pool.refused.has_value());
  EXPECT_THAT(plan.pool.notes, Contains(HasSubstr("not counted")));
  plan = Plan(model, {.max_mamba_cache_size = 10}, {.max_total_tokens = 1000});
  EXPECT_EQ(plan.mamba_slots, 10);
  EXPECT_EQ(plan.max_running_requests, 2);  // of 5 slots each
}

// A model of nothing but states: the slots are the pool.
TEST(PoolPlannerTest, AModelOfStatesHasSlotsOnly) {
  const absl::StatusOr<ModelSpec> model = ReadModelConfig(
      R"({"model_type": "mamba2", "hidden_size": 256, "num_hidden_layers": 2,
          "num_heads": 8, "head_dim": 64, "state_size": 16, "n_groups": 1,
          "conv_kernel": 4, "expand": 2})",
      "states.json");
  ASSERT_TRUE(model.ok()) << model.status();
  const SglangPlan plan =
      Plan(*model, {.disable_radix_cache = true}, {.mamba_slots = 48});
  EXPECT_EQ(plan.pool.num_blocks, Blocks(49));
  // 8 x 64 x 16 fp32 in 2 layers, 49 slots.
  EXPECT_EQ(Part(plan, "state", "ssm"), Bytes(49 * 2 * 8 * 64 * 16 * 4));
}

TEST(PoolPlannerTest, ATooSmallMemoryIsARefusal) {
  SglangPlan plan = Plan(Catalogued("llama-2-7b"), {.mem_fraction_static = 0.5},
                         {{Bytes(9)}});
  ASSERT_TRUE(plan.pool.refused.has_value());
  EXPECT_THAT(plan.pool.refused->message, HasSubstr("mem_fraction_static=0.5"));
  plan = Plan(Catalogued("kimi-linear-48b"), {}, {{Bytes(200000000)}});
  ASSERT_TRUE(plan.pool.refused.has_value());
  // 200 MB x 0.9/1.9 / 43,417,600 B = 2 slots of the 5 that a request takes.
  EXPECT_THAT(plan.pool.refused->message,
              HasSubstr("max_mamba_cache_size=2, mamba_ratio=5"));
}

TEST(PoolPlannerTest, BadFlagsAreNamed) {
  const ModelSpec model = Catalogued("llama-2-7b");
  EXPECT_THAT(
      PlanPools(model, nullptr, {.tp_size = 3}, {{k40GiB}}).status().message(),
      HasSubstr("32"));
  EXPECT_THAT(PlanPools(model, nullptr, {.page_size = 0}, {{k40GiB}})
                  .status()
                  .message(),
              HasSubstr("--page-size 0"));
  EXPECT_THAT(PlanPools(model, nullptr, {}, {}).status().message(),
              HasSubstr("no memory"));
}

}  // namespace
}  // namespace kvsim::sglang
