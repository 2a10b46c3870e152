// SGLang's division of memory, with 40 GiB left on one rank. The figures follow
// from the engine's formulas; each derivation stands beside its number.
#include "engines/sglang/token_budget.h"

#include <gtest/gtest.h>

#include <string>

#include "engines/sglang/row_bytes.h"
#include "models/model_loader.h"

namespace kvsim::sglang {
namespace {

constexpr Bytes k40GiB{42949672960};

ModelSpec Catalogued(const std::string& name) {
  absl::StatusOr<ModelSpec> model = LoadModel(name);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

BudgetInput Input(const std::string& name, const Settings& settings = {},
                  int64_t page_size = 1) {
  const ModelSpec model = Catalogued(name);
  BudgetInput input;
  input.settings = settings;
  input.page_size = page_size;
  input.context_length = model.max_position_embeddings;
  input.type = ResolveCacheType(settings, model);
  absl::StatusOr<std::vector<RankLayer>> layers =
      LayersOnRank(model, {.tensor = settings.AttentionRanks(),
                           .index_keys_on_shared_layers = true,
                           .mtp_layers = settings.speculative});
  EXPECT_TRUE(layers.ok()) << layers.status();
  input.layers = *std::move(layers);
  return input;
}

// 32 layers x 32 heads x 128 x K and V x 2 B = 2^19; 40 x 2^30 / 2^19 = 81,920.
TEST(TokenBudgetTest, DenseRowsDivideTheMemory) {
  const TokenBudget budget = BudgetTokens(Input("llama-2-7b"), k40GiB);
  EXPECT_EQ(budget.token_bytes, 524288);
  EXPECT_EQ(budget.tokens, 81920);
}

// 80 layers x one of 8 heads x 128 x 2 x 2 B = 40,960.
TEST(TokenBudgetTest, RanksShareHeads) {
  const TokenBudget budget =
      BudgetTokens(Input("llama-3.1-70b", {.tp_size = 8}), k40GiB);
  EXPECT_EQ(budget.token_bytes, 40960);
  EXPECT_EQ(budget.tokens, 1048576);
}

// With DP attention of 8 over 8 ranks every rank keeps all 8 heads.
TEST(TokenBudgetTest, DataParallelAttentionKeepsAllHeads) {
  const Settings settings = {
      .tp_size = 8, .dp_size = 8, .enable_dp_attention = true};
  EXPECT_EQ(BudgetTokens(Input("llama-3.1-70b", settings), k40GiB).token_bytes,
            8 * 40960);
}

// 61 x 576 x 2 B = 70,272.
TEST(TokenBudgetTest, LatentsAreWholeOnEveryRank) {
  const TokenBudget budget =
      BudgetTokens(Input("deepseek-v3", {.tp_size = 8}), k40GiB);
  EXPECT_EQ(budget.token_bytes, 70272);
  EXPECT_EQ(budget.tokens, 611191);
}

// 61 x (1,152 + 132) = 78,324; 548,358 tokens cut to pages of 64: 8,568 pages.
TEST(TokenBudgetTest, SparseRowsAddAnIndexKeyAndPagesCut) {
  const TokenBudget budget =
      BudgetTokens(Input("deepseek-v3.2", {}, 64), k40GiB);
  EXPECT_EQ(budget.token_bytes, 78324);
  EXPECT_EQ(budget.tokens, 548352);
}

// fp8: 61 x (576 + 132) = 43,188 charged while 61 x (656 + 132) = 48,068 are
// stored: 994,432 tokens take 994,432 x 48,068 B = 44.5 GiB.
TEST(TokenBudgetTest, SparseFp8IsChargedLessThanItStores) {
  BudgetInput input =
      Input("deepseek-v3.2", {.kv_cache_dtype = CacheType::kFp8}, 64);
  TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_EQ(budget.token_bytes, 43188);
  EXPECT_EQ(budget.tokens, 994432);
  int64_t stored = 0;
  for (const RankLayer& layer : input.layers) {
    stored += StoredRow(layer, CacheType::kFp8, input.settings).Total().value();
  }
  EXPECT_EQ(stored, 48068);
  EXPECT_NEAR(static_cast<double>(994432 * stored) / 0x1p30, 44.5, 0.05);

  input.settings.sparse_charge = SparseCharge::kStoredRow;
  budget = BudgetTokens(input, k40GiB);
  EXPECT_EQ(budget.token_bytes, 48068);
  EXPECT_EQ(budget.tokens, 893504);  // 893,518 in pages of 64
}

// The trtllm backend keeps plain fp8 rows: the charge is what is stored.
TEST(TokenBudgetTest, SparseFp8RowsOfTrtllmArePlain) {
  const BudgetInput input = Input(
      "deepseek-v3.2",
      {.kv_cache_dtype = CacheType::kFp8, .attention_backend = "trtllm_mla"});
  EXPECT_EQ(StoredRow(input.layers[0], CacheType::kFp8, input.settings).Total(),
            Bytes(576 + 132));
}

// All 78 layers of GLM-5.2 pay for an index key, though 57 reuse another's
// selection: 78 x (1,152 + 132) = 100,152, fp8 as stored 78 x 788 = 61,464.
TEST(TokenBudgetTest, IndexKeysAreChargedOnAllLayers) {
  TokenBudget budget = BudgetTokens(Input("glm-5.2", {}, 64), k40GiB);
  EXPECT_EQ(budget.token_bytes, 100152);
  EXPECT_EQ(budget.tokens, 428800);
  budget = BudgetTokens(Input("glm-5.2",
                              {.kv_cache_dtype = CacheType::kFp8,
                               .sparse_charge = SparseCharge::kStoredRow},
                              64),
                        k40GiB);
  EXPECT_EQ(budget.token_bytes, 61464);
  EXPECT_EQ(budget.tokens, 698752);
}

// gpt-oss-120b: a row is 8 x 64 x 2 x 2 B = 2,048; 18 full + 0.8 x 18 windows.
TEST(TokenBudgetTest, WindowsGetAPoolOfTheirOwn) {
  const BudgetInput input = Input("gpt-oss-120b");
  const TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_DOUBLE_EQ(budget.token_bytes, 66355.2);
  EXPECT_EQ(budget.tokens, 647269);
  EXPECT_EQ(WindowTokens(input, budget.tokens), 517815);  // 517,815.2
}

// Gemma-3-27B: 16 x 128 x 2 x 2 B = 8,192; 10 full + 0.8 x 52 windows.
TEST(TokenBudgetTest, ManyWindowsGetMostOfTheMemory) {
  const BudgetInput input = Input("gemma-3-27b");
  const TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_DOUBLE_EQ(budget.token_bytes, 422707.2);
  EXPECT_EQ(budget.tokens, 101606);
  EXPECT_EQ(WindowTokens(input, budget.tokens), 81284);  // 81,284.8
}

TEST(TokenBudgetTest, WithoutTheHybridPoolWindowsArePlainRows) {
  const BudgetInput input =
      Input("gemma-3-27b", {.disable_hybrid_swa_memory = true});
  EXPECT_EQ(BudgetTokens(input, k40GiB).token_bytes, 62 * 8192);
}

// V4-Flash (43 layers, 21 compress by 4, 20 by 128), per full token:
//   0.1 x 584 x 43 = 2,511.2, 584/4 x 21 = 3,066, 584/128 x 20 = 91.25,
//   132/4 x 21 = 693, 0.1 x 8/128 x (8,192 + 2,048) x 21 = 1,344.
// First: 33,152 rows of 4,096 B in 20 layers, 33,152 = 259 x 128 being
// (256 + 1) x 128 + 129 rounded up.
TEST(TokenBudgetTest, CompressedRowsAreChargedByTheirShare) {
  const BudgetInput input = Input("deepseek-v4-flash", {}, 256);
  const TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_NEAR(budget.token_bytes, 7705.45, 1e-9);
  EXPECT_EQ(budget.taken_first, Bytes(2715811840));
  EXPECT_EQ(budget.tokens, 5221376);                      // 20,396 pages
  EXPECT_EQ(WindowTokens(input, budget.tokens), 521984);  // 2,039 pages
  EXPECT_EQ(RunningRequests(input, budget.tokens, 0), 256);
}

// V4-Pro: 61 layers, 30 compress by 4, 31 by 128: 3,562.4 + 4,380 + 141.4375 +
// 990 + 1,920; 33,152 x 4,096 x 31 first.
TEST(TokenBudgetTest, DeeperCompressedModelsToo) {
  const BudgetInput input = Input("deepseek-v4-pro", {}, 256);
  const TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_NEAR(budget.token_bytes, 10993.8375, 1e-9);
  EXPECT_EQ(budget.taken_first, Bytes(4209508352));
  EXPECT_EQ(budget.tokens, 3523584);
  EXPECT_EQ(WindowTokens(input, budget.tokens), 352256);
}

// Kimi-Linear: 7 latents of 1,152 B. A slot is 20 KDA layers of 73,728 B of
// convolution and 2,097,152 B of fp32 state. States get 0.9/1.9 of the memory:
// 468.6 slots, of which a request takes 5; tokens get what is left of 1/1.9.
TEST(TokenBudgetTest, StatesTakeTheirShareFirst) {
  const BudgetInput input = Input("kimi-linear-48b");
  EXPECT_EQ(SlotBytes(input), Bytes(43417600));
  EXPECT_EQ(StateSlots(input, k40GiB), 468);
  const TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_EQ(budget.token_bytes, 8064);
  EXPECT_EQ(budget.tokens, 2803210);
  EXPECT_EQ(RunningRequests(input, budget.tokens, 468), 93);
}

// Qwen3-Next: 12 layers x 2 heads x 256 x 2 x 2 B = 24,576; a slot is 36 GDN
// layers of 49,152 B and, in fp32, 2,097,152 B.
TEST(TokenBudgetTest, StatesAreFp32UnlessTold) {
  const BudgetInput input = Input("qwen3-next-80b");
  EXPECT_EQ(SlotBytes(input), Bytes(77266944));
  EXPECT_EQ(StateSlots(input, k40GiB), 263);
  const TokenBudget budget = BudgetTokens(input, k40GiB);
  EXPECT_EQ(budget.token_bytes, 24576);
  EXPECT_EQ(budget.tokens, 919803);
  EXPECT_EQ(RunningRequests(input, budget.tokens, 263), 52);

  const BudgetInput half =
      Input("qwen3-next-80b", {.mamba_ssm_dtype = DType::kBf16});
  EXPECT_EQ(SlotBytes(half), Bytes(36 * (49152 + 1048576)));
}

// Without a radix cache a request takes one slot, and the flag sizes the pool:
// 48 slots of 77,266,944 B leave (40 GiB - 3,708,813,312 B) / 24,576 B.
TEST(TokenBudgetTest, WithoutRadixCacheRequestsSizeTheStatePool) {
  const BudgetInput input =
      Input("qwen3-next-80b",
            {.max_running_requests = 48, .disable_radix_cache = true});
  EXPECT_EQ(StateSlots(input, k40GiB), 48);
  EXPECT_EQ(BudgetTokens(input, k40GiB).tokens,
            (42949672960 - 48 * int64_t{77266944}) / 24576);
  EXPECT_EQ(RunningRequests(input, 1000000, 48), 48);
}

TEST(TokenBudgetTest, SlotsOfARequestFollowTheStrategy) {
  Settings settings;
  EXPECT_EQ(settings.SlotsPerRequest(), 5);
  settings.disable_overlap_schedule = true;
  EXPECT_EQ(settings.SlotsPerRequest(), 4);
  settings.mamba_scheduler_strategy = MambaStrategy::kNoBuffer;
  EXPECT_EQ(settings.SlotsPerRequest(), 3);
  settings.disable_radix_cache = true;
  EXPECT_EQ(settings.SlotsPerRequest(), 1);
}

// 61 layers and a draft layer of the same row: 70,272 x 62 / 61 = 71,424.
TEST(TokenBudgetTest, DraftLayersAddTheirShare) {
  const TokenBudget budget =
      BudgetTokens(Input("deepseek-v3", {.speculative = true}), k40GiB);
  EXPECT_NEAR(budget.token_bytes, 71424, 1e-6);
}

// tokens / length x 512 within 2,048 to 4,096, and never more than half the
// tokens: 81,920 / 4,096 x 512 = 10,240; 100 tokens allow 50.
TEST(TokenBudgetTest, RequestsFollowTheTokens) {
  const BudgetInput input = Input("llama-2-7b");
  EXPECT_EQ(RunningRequests(input, 81920, 0), 4096);
  EXPECT_EQ(RunningRequests(input, 15387, 0), 2048);
  EXPECT_EQ(RunningRequests(input, 100, 0), 50);
}

TEST(TokenBudgetTest, NothingIsLeft) {
  EXPECT_EQ(BudgetTokens(Input("llama-2-7b"), Bytes(0)).tokens, 0);
  EXPECT_EQ(BudgetTokens(Input("llama-2-7b"), Bytes(-5)).tokens, 0);
  EXPECT_EQ(StateSlots(Input("kimi-linear-48b"), Bytes(-5)), 0);
}

// nvfp4-like rows: half a byte and a scale per 16: 128 -> 64 + 8 for K and V;
// mxfp8: 128 + 4.
TEST(RowBytesTest, NarrowRowsCarryTheirScales) {
  const RankLayer layer = Input("llama-3.1-70b", {.tp_size = 8}).layers[0];
  EXPECT_EQ(StoredRow(layer, CacheType::kFp4, {}).Total(), Bytes(2 * 72));
  EXPECT_EQ(StoredRow(layer, CacheType::kMxfp8, {}).Total(), Bytes(2 * 132));
}

}  // namespace
}  // namespace kvsim::sglang
