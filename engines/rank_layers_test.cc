#include "engines/rank_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

ModelSpec Catalogued(const std::string& name) {
  absl::StatusOr<ModelSpec> model = LoadModel(name);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

std::vector<RankLayer> Layers(const ModelSpec& model, RankRules rules) {
  absl::StatusOr<std::vector<RankLayer>> layers = LayersOnRank(model, rules);
  EXPECT_TRUE(layers.ok()) << layers.status();
  return *std::move(layers);
}

// Llama 3.1 70B has 8 KV heads of 128: one of them on each of 8 ranks, and a
// copy on each of 16.
TEST(RankLayersTest, HeadsAreSharedAndThenCopied) {
  const ModelSpec model = Catalogued("llama-3.1-70b");
  for (const int64_t ranks : {8, 16}) {
    const RankLayer layer = Layers(model, {.tensor = ranks})[0];
    EXPECT_EQ(layer.kv_heads, 1);
    EXPECT_EQ(layer.k, 128);
    EXPECT_EQ(layer.v, 128);
  }
}

TEST(RankLayersTest, HeadsThatDoNotDivideAreRefusedOrRoundedUp) {
  const ModelSpec model = Catalogued("llama-3.1-70b");  // 8 KV heads
  EXPECT_THAT(LayersOnRank(model, {.tensor = 3}).status().message(),
              HasSubstr("8"));
  // ceil(8 / 3) = 3 heads.
  EXPECT_EQ(Layers(model, {.tensor = 3, .heads_round_up = true})[0].k, 3 * 128);
}

// DeepSeek V3.2: a latent of 512 and a rope part of 64, whole on every rank, and
// an index key of 128 with one fp32 scale.
TEST(RankLayersTest, LatentsAndIndexKeysAreWholeOnEveryRank) {
  const RankLayer layer = Layers(Catalogued("deepseek-v3.2"), {.tensor = 8})[0];
  EXPECT_TRUE(layer.IsLatent());
  EXPECT_EQ(layer.k, 576);
  EXPECT_EQ(layer.rope, 64);
  EXPECT_EQ(layer.v, 0);
  EXPECT_EQ(layer.index, 128);
  EXPECT_EQ(layer.index_scale_bytes, 4);
}

// Kimi-Linear: 20 KDA layers of 32 heads x 128 x 128; a convolution of length 4
// over Q, K and V keeps three inputs of 3 x 32 x 128.
TEST(RankLayersTest, StatesAreSharedByHeads) {
  const ModelSpec model = Catalogued("kimi-linear-48b");
  const std::vector<RankLayer> states =
      Select(Layers(model, {.tensor = 4}), RankLayerKind::kState, false);
  ASSERT_EQ(states.size(), 20u);
  EXPECT_EQ(states[0].state, 8 * 128 * 128);
  EXPECT_EQ(states[0].conv, 3 * 3 * 8 * 128);
  EXPECT_EQ(Select(Layers(model, {}), RankLayerKind::kHistory, false).size(),
            7u);
}

// gpt-oss-120b: 18 windows of 128 and 18 full layers.
TEST(RankLayersTest, WindowsAreSelectedApart) {
  const std::vector<RankLayer> layers = Layers(Catalogued("gpt-oss-120b"), {});
  const std::vector<RankLayer> windows =
      Select(layers, RankLayerKind::kWindow, false);
  ASSERT_EQ(windows.size(), 18u);
  EXPECT_EQ(windows[0].Window(), 128);
  EXPECT_EQ(Select(layers, RankLayerKind::kHistory, false).size(), 18u);
}

// 2^40 tokens of 61 x 576 elements are 2^57 B at 4 B each; 2^50 are too many.
TEST(RankLayersTest, CachesBeyondCountingAreRefused) {
  const std::vector<RankLayer> layers = Layers(Catalogued("deepseek-v3"), {});
  EXPECT_TRUE(CheckCacheSize(layers, int64_t{1} << 40, 0).ok());
  EXPECT_THAT(CheckCacheSize(layers, int64_t{1} << 50, 0).message(),
              HasSubstr("1125899906842624 tokens"));
  const std::vector<RankLayer> states =
      Layers(Catalogued("kimi-linear-48b"), {});
  EXPECT_TRUE(CheckCacheSize(states, 0, 1 << 20).ok());
  EXPECT_FALSE(CheckCacheSize(states, 0, int64_t{1} << 50).ok());
}

TEST(RankLayersTest, DraftLayersCountOnFromTheModel) {
  const ModelSpec model = Catalogued("deepseek-v3");  // 61 layers, 1 MTP layer
  const std::vector<RankLayer> drafts = Select(
      Layers(model, {.mtp_layers = true}), RankLayerKind::kHistory, true);
  ASSERT_EQ(drafts.size(), 1u);
  EXPECT_EQ(drafts[0].layer, 61);
}

}  // namespace
}  // namespace kvsim
