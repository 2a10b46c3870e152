#include "engines/vllm/spec_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/layout_builder.h"
#include "models/model_loader.h"

namespace kvsim::vllm {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::vector<LayerKvSpec>> Build(const ModelSpec& model,
                                               const SpecRules& rules) {
  absl::StatusOr<CacheLayout> layout = BuildCacheLayout(model, {});
  if (!layout.ok()) return layout.status();
  return BuildKvSpecs(model, *layout, rules);
}

// 8 KV heads of 128 on 4 ranks: 2 heads x 256 numbers x 2 B.
TEST(BuildKvSpecs, HeadsAreSharedOut) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const auto specs = *Build(model, {.tensor = 4});
  ASSERT_EQ(specs.size(), 32u);
  EXPECT_EQ(specs[0].spec.row_bytes, Bytes(1024));
  EXPECT_EQ(specs[0].spec.heads, 2);
  EXPECT_EQ(specs[31].layer, 31);
  // 16 ranks hold one head each, twice over.
  EXPECT_EQ(Build(model, {.tensor = 16})->at(0).spec.row_bytes, Bytes(512));
}

TEST(BuildKvSpecs, LatentsAndIndexKeysAreWhole) {
  const auto specs = *Build(*LoadModel("deepseek-v3.2"), {.tensor = 8});
  ASSERT_EQ(specs.size(), 122u);
  EXPECT_EQ(specs[0].spec.row_bytes, Bytes(1152));
  EXPECT_FALSE(specs[0].is_index_key);
  EXPECT_EQ(specs[1].spec.row_bytes, Bytes(132));
  EXPECT_TRUE(specs[1].is_index_key);
  EXPECT_EQ(specs[1].spec.block_tokens, Tokens(64));
}

TEST(BuildKvSpecs, WindowsKeepTheirOwnBlock) {
  const auto specs =
      *Build(*LoadModel("gpt-oss-120b"), {.block_size = Tokens(64)});
  EXPECT_EQ(specs[0].spec.kind, SpecKind::kSlidingWindow);
  EXPECT_EQ(specs[0].spec.block_tokens, Tokens(16));
  EXPECT_EQ(specs[1].spec.block_tokens, Tokens(64));
}

// K3 on 8 ranks: 12 heads x 128 x 128 x 4 B = 786,432, and a convolution of
// 3 x 12 x 128 x 3 x 2 B = 27,648; 128-token steps of 147,456 B: 6 of them.
TEST(BuildKvSpecs, AttentionBlockGrowsToHoldAState) {
  const auto specs = *Build(*LoadModel("kimi-k3"), {.tensor = 8});
  EXPECT_EQ(specs[0].spec.state_bytes, Bytes(814080));
  EXPECT_EQ(Page(specs[0].spec), Bytes(768 * 1152));
  EXPECT_EQ(specs[3].spec.kind, SpecKind::kMla);
  EXPECT_EQ(specs[3].spec.block_tokens, Tokens(768));
}

// A larger block of the user stays, rounded up to a multiple of itself.
TEST(BuildKvSpecs, UserBlockIsTheStepOfTheGrowth) {
  const auto specs =
      *Build(*LoadModel("kimi-k3"), {.tensor = 8, .block_size = Tokens(1024)});
  EXPECT_EQ(specs[3].spec.block_tokens, Tokens(1024));
}

// Mamba-2: 24 heads x 64 x 128 numbers, one B/C group for all of them. On two
// ranks each holds a group: (1,536 + 2 x 2 x 128) / 2 channels x 3 x 2 B.
TEST(BuildKvSpecs, EveryRankGetsAMamba2Group) {
  ModelSpec model = *LoadModel("llama-3.1-8b");
  model.layers.resize(1);
  model.layers[0].attention.clear();
  model.layers[0].recurrent = RecurrentSpec{.kind = RecurrentKind::kMamba2,
                                            .key_heads = 24,
                                            .value_heads = 24,
                                            .key_dim = 128,
                                            .value_dim = 64,
                                            .groups = 1,
                                            .conv_kernel = 4,
                                            .conv_channels = 1536 + 2 * 128};
  // State on two ranks: 12 x 64 x 128 x 2 B = 196,608.
  EXPECT_EQ(Build(model, {.tensor = 2})->at(0).spec.state_bytes,
            Bytes(1024 * 3 * 2 + 196608));
  EXPECT_EQ(Build(model, {.tensor = 1})->at(0).spec.state_bytes,
            Bytes(1792 * 3 * 2 + 2 * 196608));
}

TEST(BuildKvSpecs, ErrorsNameFlagAndBothNumbers) {
  const auto message = [](const char* model, const SpecRules& rules) {
    return std::string(Build(*LoadModel(model), rules).status().message());
  };
  EXPECT_THAT(message("llama-3.1-8b", {.tensor = 3}),
              HasSubstr("--tensor-parallel-size 3 does not fit 8 KV heads"));
  EXPECT_THAT(message("kimi-k3", {.tensor = 64}),
              HasSubstr("--tensor-parallel-size 64 does not divide 96 heads"));
  EXPECT_THAT(message("llama-3.1-8b", {.block_size = Tokens(0)}),
              HasSubstr("--block-size 0: must be from 1 to 1048576"));
  EXPECT_THAT(message("llama-3.1-8b", {.block_size = Tokens(1 << 21)}),
              HasSubstr("--block-size 2097152"));
}

TEST(DefaultBlockTokens, FollowsModelAndCard) {
  EXPECT_EQ(DefaultBlockTokens(*LoadModel("llama-3.1-8b"), {.sm = 90}),
            Tokens(16));
  EXPECT_EQ(DefaultBlockTokens(*LoadModel("deepseek-v3"), {.sm = 90}),
            Tokens(16));
  EXPECT_EQ(DefaultBlockTokens(*LoadModel("deepseek-v3"), {.sm = 100}),
            Tokens(32));
  EXPECT_EQ(DefaultBlockTokens(*LoadModel("deepseek-v3.2"), {.sm = 100}),
            Tokens(64));
  EXPECT_EQ(DefaultBlockTokens(*LoadModel("deepseek-v4-pro"), {.sm = 0}),
            Tokens(256));
}

TEST(DefaultBlockTokens, FollowsPlatformAndBackend) {
  const ModelSpec llama = *LoadModel("llama-3.1-8b");
  const ModelSpec deepseek = *LoadModel("deepseek-v3");
  EXPECT_EQ(DefaultBlockTokens(llama, {.platform = Platform::kAscend}),
            Tokens(128));
  EXPECT_EQ(DefaultBlockTokens(llama, {.platform = Platform::kXpu}),
            Tokens(64));
  EXPECT_EQ(DefaultBlockTokens(deepseek, {.attention_backend = "FLASHMLA"}),
            Tokens(64));
  EXPECT_EQ(DefaultBlockTokens(deepseek, {.attention_backend = "CUTLASS_MLA"}),
            Tokens(128));
  // A backend that is named goes before the card.
  EXPECT_EQ(DefaultBlockTokens(deepseek,
                               {.sm = 100, .attention_backend = "TRITON_MLA"}),
            Tokens(16));
}

TEST(BuildKvSpecs, WindowsTakeThePlatformsSmallestBlock) {
  const ModelSpec model = *LoadModel("gpt-oss-120b");
  EXPECT_EQ(Build(model, {.platform = Platform::kXpu})->at(0).spec.block_tokens,
            Tokens(64));
  EXPECT_EQ(
      Build(model, {.platform = Platform::kAscend})->at(0).spec.block_tokens,
      Tokens(128));
}

// All 8 KV heads of 128: TPUs plan for their chips together.
TEST(BuildKvSpecs, TpusDoNotDivideHeads) {
  const auto specs = *Build(*LoadModel("llama-3.1-8b"),
                            {.tensor = 4, .platform = Platform::kTpu});
  EXPECT_EQ(specs[0].spec.row_bytes, Bytes(4096));
}

// Bamba-9B: a state of 128 heads x 64 x 128 and (8,192 + 2 x 128) x 3 inputs, in
// bf16 2,147,840 B; a row of 8 x 128 x 2 x 2 = 4,096 B, so 524.4 tokens: 33
// steps of 16, or 3 of the 256 tokens that its kernels take at once.
TEST(BuildKvSpecs, StatesOfEveryBlockAlignToTheirKernel) {
  ModelSpec model = *LoadModel("bamba-9b-v2");
  for (LayerSpec& layer : model.layers) {
    if (layer.recurrent.has_value()) layer.recurrent->chunk = 256;
  }
  const auto block = [&](const SpecRules& rules) {
    Tokens found;
    const auto specs = *Build(model, rules);
    for (const LayerKvSpec& cache : specs) {
      if (KeepsAllHistory(cache.spec.kind)) found = cache.spec.block_tokens;
    }
    return found;
  };
  EXPECT_TRUE(CanKeepAllStates(model));
  EXPECT_FALSE(CanKeepAllStates(*LoadModel("kimi-k3")));
  EXPECT_EQ(block({}), Tokens(528));
  EXPECT_EQ(block({.state_mode = StateMode::kAll}), Tokens(768));
  EXPECT_EQ(block({.state_mode = StateMode::kAll, .state_block = Tokens(1024)}),
            Tokens(1024));
  EXPECT_THAT(std::string(Build(model, {.state_mode = StateMode::kAll,
                                        .state_block = Tokens(1 << 20)})
                              .status()
                              .message()),
              HasSubstr("--mamba-block-size 1048576"));
}

// Qwen3-Next's block of 544 (section of worked examples) becomes 576.
TEST(BuildKvSpecs, XpuRoundsGrownBlocksUp) {
  const ModelSpec model = *LoadModel("qwen3-next-80b");
  const Tokens cuda =
      Build(model, {.block_size = Tokens(16)})->back().spec.block_tokens;
  const Tokens xpu =
      Build(model, {.block_size = Tokens(16), .platform = Platform::kXpu})
          ->back()
          .spec.block_tokens;
  EXPECT_EQ(xpu, RoundUp(cuda, Tokens(64)));
}

}  // namespace
}  // namespace kvsim::vllm
