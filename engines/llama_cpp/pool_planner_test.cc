#include "engines/llama_cpp/pool_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engines/concurrency.h"
#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim::llama_cpp {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelSpec Read(const std::string& json) {
  absl::StatusOr<ModelSpec> model = ReadModelConfig(json, "config.json");
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// 28 layers of 8 KV heads of 128.
ModelSpec Llama3B() {
  return Read(
      R"({"model_type": "llama", "hidden_size": 3072, "num_hidden_layers": 28,
          "num_attention_heads": 24, "num_key_value_heads": 8,
          "head_dim": 128, "max_position_embeddings": 131072})");
}

ModelSpec Catalogued(const std::string& name) {
  absl::StatusOr<ModelSpec> model = LoadModel(name);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

CachePlan Plan(const ModelSpec& model, const Settings& settings,
               std::optional<Bytes> memory = std::nullopt) {
  absl::StatusOr<CachePlan> plan = PlanCaches(model, nullptr, settings, memory);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : CachePlan{};
}

std::string MiBOf(const CachePlan& plan, const std::string& pool,
                  const std::string& part = "") {
  const CachePool* found = FindPool(plan.pools, pool);
  if (found == nullptr) return "none";
  return PrintedMiB(part.empty() ? TotalBytes(*found)
                                 : PartBytes(*found, part));
}

// Llama 3.2 3B, 28 layers of 8 x 128: 4,096 x 28 x 1,024 x 2 B = 224 MiB of K.
// The widths of block formats are printed figures of llama.cpp.
TEST(PoolPlannerTest, BlockFormatsCarryTheirScales) {
  const ModelSpec model = Llama3B();
  const std::pair<CacheType, const char*> sizes[] = {
      {CacheType::kF16, "224.00"}, {CacheType::kQ8_0, "119.00"},
      {CacheType::kQ4_0, "63.00"}, {CacheType::kQ4_1, "70.00"},
      {CacheType::kQ5_0, "77.00"}, {CacheType::kQ5_1, "84.00"}};
  for (const auto& [type, mib] : sizes) {
    const CachePlan plan =
        Plan(model, {.ctx_size = 4096, .cache_type_k = type});
    EXPECT_EQ(MiBOf(plan, "kv", "K"), mib) << Name(type);
    EXPECT_EQ(MiBOf(plan, "kv", "V"), "224.00");
  }
}

// 65,535 tokens become 65,536 cells. Four sequences in one stream keep windows
// of 4 x 128 + 512 tokens; 18 layers of 2,048 B: 2,304 and 36 MiB.
TEST(PoolPlannerTest, AUnifiedStreamHoldsEverySequencesWindow) {
  const CachePlan plan =
      Plan(Catalogued("gpt-oss-120b"),
           {.ctx_size = 65535, .parallel = 4, .kv_unified = true});
  EXPECT_EQ(plan.streams, 1);
  EXPECT_EQ(plan.cells, 65536);
  EXPECT_EQ(plan.window_cells, 1024);
  EXPECT_EQ(MiBOf(plan, "kv"), "2304.00");
  EXPECT_EQ(MiBOf(plan, "swa"), "36.00");
}

// A batch of 128 caps the micro-batch of 512: 128 + 128 cells of windows. The
// lines are those of a public start-up log.
TEST(PoolPlannerTest, TheBatchCapsTheMicroBatch) {
  const CachePlan plan =
      Plan(Catalogued("gpt-oss-20b"), {.ctx_size = 8192,
                                       .batch_size = 128,
                                       .cache_type_k = CacheType::kQ8_0,
                                       .cache_type_v = CacheType::kQ8_0});
  EXPECT_EQ(plan.window_cells, 256);
  EXPECT_THAT(
      plan.pool.log_lines,
      ElementsAre(
          "llama_kv_cache_iswa: creating non-SWA KV cache, size = 8192 cells",
          "llama_kv_cache: size =  102.00 MiB (  8192 cells,  12 layers,  1/1 "
          "seqs), K (q8_0):   51.00 MiB, V (q8_0):   51.00 MiB",
          "llama_kv_cache_iswa: creating     SWA KV cache, size = 256 cells",
          "llama_kv_cache: size =    3.19 MiB (   256 cells,  12 layers,  1/1 "
          "seqs), K (q8_0):    1.59 MiB, V (q8_0):    1.59 MiB"));
}

TEST(PoolPlannerTest, FullWindowsAndShortContextsHaveNoMoreCells) {
  const ModelSpec model = Catalogued("gpt-oss-20b");
  EXPECT_EQ(Plan(model, {.ctx_size = 8192, .swa_full = true}).window_cells,
            8192);
  // 128 + 512 = 640 -> 768 cells, but the context has 512.
  EXPECT_EQ(Plan(model, {.ctx_size = 512}).window_cells, 512);
}

// Two sequences of 8,192 / 2 tokens in streams of their own; 6 latents of 576
// in K, nothing in V: 2 x 4,096 x 6 x 1,152 B = 54 MiB.
TEST(PoolPlannerTest, LatentsLieInKAndStreamsMultiply) {
  const ModelSpec model = Read(
      R"({"model_type": "bailing_hybrid", "hidden_size": 2048,
          "num_hidden_layers": 24, "num_attention_heads": 16,
          "num_key_value_heads": 16, "head_dim": 128, "kv_lora_rank": 512,
          "qk_rope_head_dim": 64, "layer_group_size": 4})");
  const CachePlan plan = Plan(model, {.ctx_size = 8192, .parallel = 2});
  EXPECT_EQ(plan.streams, 2);
  EXPECT_EQ(plan.cells, 4096);
  EXPECT_EQ(FindPool(plan.pools, "kv")->layers.size(), 6u);
  EXPECT_EQ(MiBOf(plan, "kv", "K"), "54.00");
  EXPECT_EQ(MiBOf(plan, "kv", "V"), "0.00");
}

// Three sequences share 8,192 cells: 2,730 tokens each, rounded up to 2,816.
TEST(PoolPlannerTest, EachStreamIsRoundedUp) {
  EXPECT_EQ(Plan(Llama3B(), {.ctx_size = 8192, .parallel = 3}).cells, 2816);
}

// Qwen3.5-27B: 48 GDN layers, fp32: R 3 x 10,240 and S 48 x 128 x 128 numbers;
// 5.625 + 144 MiB. Each token of a draft that may be taken back adds a copy.
// The MTP layer of 4 x 256 has as many cells as the model: 1 GiB of 262,144.
TEST(PoolPlannerTest, StatesAreFp32AndCopiedForDrafts) {
  const ModelSpec model = Catalogued("qwen3.5-27b");
  CachePlan plan = Plan(model, {.ctx_size = 24576});
  EXPECT_EQ(MiBOf(plan, "kv"), "1536.00");
  EXPECT_EQ(MiBOf(plan, "rs"), "149.62");
  EXPECT_EQ(MiBOf(plan, "rs", "R"), "5.62");
  EXPECT_EQ(MiBOf(plan, "rs", "S"), "144.00");
  EXPECT_EQ(MiBOf(plan, "draft"), "none");
  plan = Plan(model, {.ctx_size = 262144, .draft_max = 6});
  EXPECT_EQ(MiBOf(plan, "rs"), "1047.38");
  EXPECT_EQ(MiBOf(plan, "draft"), "1024.00");
}

// A printed line: four sequences, 4 x 149.625 MiB, all 65 layers counted.
TEST(PoolPlannerTest, TheStateLineCountsAllLayers) {
  const CachePlan plan =
      Plan(Catalogued("qwen3.5-27b"),
           {.ctx_size = 32768, .parallel = 4, .kv_unified = true});
  EXPECT_THAT(plan.pool.log_lines,
              Contains("llama_memory_recurrent: size =  598.50 MiB (     4 "
                       "cells,  65 layers,  4 seqs), R (f32):   22.50 MiB, S "
                       "(f32):  576.00 MiB"));
}

// A draft model is a second context: Llama 3.2 1B has 16 layers of 8 x 64.
TEST(PoolPlannerTest, ADraftModelHasCachesOfItsOwn) {
  const ModelSpec model = Llama3B();
  const ModelSpec draft = Read(
      R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
          "num_attention_heads": 32, "num_key_value_heads": 8,
          "head_dim": 64})");
  const absl::StatusOr<CachePlan> plan = PlanCaches(
      model, &draft, {.ctx_size = 4096, .draft_max = 4}, std::nullopt);
  ASSERT_TRUE(plan.ok()) << plan.status();
  // 4,096 x 16 x 512 x 2 B, K and V.
  EXPECT_EQ(MiBOf(*plan, "draft"), "128.00");
}

// Of 28 layers the last 20 are on the GPU: 8 / 28 of 448 MiB are not.
TEST(PoolPlannerTest, CachesLieWhereTheirLayersDo) {
  const ModelSpec model = Llama3B();
  EXPECT_EQ(Plan(model, {.ctx_size = 4096, .gpu_layers = 20}).host, MiB(128));
  EXPECT_EQ(Plan(model, {.ctx_size = 4096, .gpu_layers = 99}).host, Bytes(0));
  EXPECT_EQ(Plan(model, {.ctx_size = 4096, .kv_offload = false}).host,
            MiB(448));
}

// 448 MiB for 4,096 tokens, 28 MiB for 256: 100 MiB hold 3 x 256.
TEST(PoolPlannerTest, TooLittleMemoryIsARefusal) {
  const CachePlan plan = Plan(Llama3B(), {.ctx_size = 4096}, MiB(100));
  ASSERT_TRUE(plan.pool.refused.has_value());
  EXPECT_EQ(plan.pool.refused->needed, MiB(448));
  EXPECT_EQ(plan.pool.refused->max_len_that_fits, Tokens(768));
  EXPECT_FALSE(
      Plan(Llama3B(), {.ctx_size = 4096}, MiB(448)).pool.refused.has_value());
}

// One stream: 65,536 cells hold 65 requests of 1,000 tokens, but 1,024 window
// cells hold 127 + 1 each: 8. Streams of their own: one request each.
TEST(PoolPlannerTest, RequestsAreCountedInCellsAndStreams) {
  const ModelSpec model = Catalogued("gpt-oss-120b");
  CachePlan plan =
      Plan(model, {.ctx_size = 65536, .parallel = 4, .kv_unified = true});
  EXPECT_EQ(CountRequests(plan.pool, Tokens(1000), Tokens(0), 99).resident, 8);
  plan = Plan(model, {.ctx_size = 65536, .parallel = 4});
  EXPECT_EQ(plan.pool.max_model_len, Tokens(16384));
  EXPECT_EQ(CountRequests(plan.pool, Tokens(1000), Tokens(0), 99).resident, 4);
}

TEST(PoolPlannerTest, BadFlagsAreNamed) {
  const auto error = [](const Settings& settings) {
    return std::string(PlanCaches(Llama3B(), nullptr, settings, std::nullopt)
                           .status()
                           .message());
  };
  EXPECT_THAT(error({.parallel = 0}), HasSubstr("--parallel 0"));
  EXPECT_THAT(error({.cache_type_v = CacheType::kQ8_0,
                     .flash_attn = FlashAttention::kOff}),
              HasSubstr("--flash-attn"));
  EXPECT_THAT(std::string(ParseCacheType("q9").status().message()),
              HasSubstr("q8_0"));
}

}  // namespace
}  // namespace kvsim::llama_cpp
