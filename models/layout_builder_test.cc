// Every kind of layer a ModelSpec can hold, as the tensors it stores.
// Engines' and articles' figures are in engine_layouts_test.cc and the
// article tests.

#include "models/layout_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AttentionSpec Heads(int64_t query_heads, int64_t kv_heads, int64_t head_dim) {
  AttentionSpec attention;
  attention.query_heads = query_heads;
  attention.kv_heads = kv_heads;
  attention.head_dim = attention.head_dim_v = head_dim;
  return attention;
}

LayerSpec LayerOf(AttentionSpec attention) {
  LayerSpec layer;
  layer.attention.push_back(std::move(attention));
  return layer;
}

ModelSpec ModelOf(std::vector<LayerSpec> layers) {
  ModelSpec spec;
  spec.name = "test";
  spec.hidden_size = 64;
  spec.layers = std::move(layers);
  return spec;
}

CacheLayout Build(const ModelSpec& spec, const LayoutOptions& options = {}) {
  const absl::StatusOr<CacheLayout> layout = BuildCacheLayout(spec, options);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *layout : CacheLayout();
}

std::vector<std::string> Names(const LayerCache& layer) {
  std::vector<std::string> names;
  for (const CacheTensor& tensor : layer.tensors) names.push_back(tensor.name);
  return names;
}

TEST(LayoutBuilderTest, QueryHeadsDoNotMatter) {
  // MHA, GQA and MQA of one width: 2 x heads x 16 x 2 bytes.
  EXPECT_EQ(Build(ModelOf({LayerOf(Heads(8, 8, 16))})).BytesPerToken(), 512);
  EXPECT_EQ(Build(ModelOf({LayerOf(Heads(8, 2, 16))})).BytesPerToken(), 128);
  EXPECT_EQ(Build(ModelOf({LayerOf(Heads(8, 1, 16))})).BytesPerToken(), 64);
}

TEST(LayoutBuilderTest, KeysAndValuesMayDifferInWidth) {
  AttentionSpec attention = Heads(8, 2, 24);
  attention.head_dim_v = 16;
  const CacheLayout layout = Build(ModelOf({LayerOf(attention)}));
  EXPECT_THAT(Names(layout.layers[0]), ElementsAre("k", "v"));
  EXPECT_EQ(layout.layers[0].tensors[0].elements, 48);
  EXPECT_EQ(layout.layers[0].tensors[1].elements, 32);
}

TEST(LayoutBuilderTest, WindowChunkAndPromptWindow) {
  AttentionSpec window = Heads(1, 1, 16);
  window.kind = AttentionKind::kSlidingWindow;
  window.window = 8;
  window.sink_tokens = 4;
  AttentionSpec chunk = Heads(1, 1, 16);
  chunk.kind = AttentionKind::kChunkedLocal;
  chunk.chunk = 8;
  AttentionSpec prompt = Heads(1, 1, 16);
  prompt.kind = AttentionKind::kPromptWindow;
  prompt.window = 8;
  const CacheLayout layout =
      Build(ModelOf({LayerOf(window), LayerOf(chunk), LayerOf(prompt)}));
  SequenceLength length;
  length.tokens = Tokens(100);
  length.generated = Tokens(20);
  // 64 bytes per token: 8 + 4 kept, (99 mod 8) + 1 = 4, 80 + 8.
  EXPECT_EQ(layout.layers[0].BytesAt(length), Bytes(12 * 64));
  EXPECT_EQ(layout.layers[1].BytesAt(length), Bytes(4 * 64));
  EXPECT_EQ(layout.layers[2].BytesAt(length), Bytes(88 * 64));
}

TEST(LayoutBuilderTest, SharedKvStoresNothing) {
  AttentionSpec sharing = Heads(8, 2, 16);
  sharing.kv_sharing_target = 0;
  const CacheLayout layout =
      Build(ModelOf({LayerOf(Heads(8, 2, 16)), LayerOf(sharing)}));
  EXPECT_THAT(layout.layers[1].tensors, IsEmpty());
  EXPECT_EQ(layout.BytesPerToken(), 128);
}

TEST(LayoutBuilderTest, KeyEqualsValueWeightsStillStoreTwoTensors) {
  AttentionSpec attention = Heads(8, 2, 16);
  attention.key_equals_value_weights = true;
  EXPECT_EQ(Build(ModelOf({LayerOf(attention)})).BytesPerToken(), 128);
}

TEST(LayoutBuilderTest, FeedForwardLayersStoreNothing) {
  const CacheLayout layout =
      Build(ModelOf({LayerSpec(), LayerOf(Heads(8, 2, 16))}));
  EXPECT_EQ(layout.layers[0].kind, "feed-forward only");
  EXPECT_THAT(layout.layers[0].tensors, IsEmpty());
}

TEST(LayoutBuilderTest, CrossAttentionKeepsTheEncoder) {
  LayerSpec layer = LayerOf(Heads(4, 4, 16));
  layer.cross = CrossAttentionSpec{.kv_heads = 4, .head_dim = 16};
  ModelSpec spec = ModelOf({layer});
  spec.max_encoder_tokens = 1500;
  const CacheLayout layout = Build(spec);
  EXPECT_THAT(Names(layout.layers[0]),
              ElementsAre("k", "v", "cross_k", "cross_v"));
  EXPECT_EQ(layout.FixedBytes(), Bytes(1500 * 2 * 4 * 16 * 2));
  EXPECT_EQ(layout.BytesPerToken(), 2 * 4 * 16 * 2);
}

TEST(LayoutBuilderTest, TwoAttentionsInOneLayer) {
  LayerSpec layer = LayerOf(Heads(8, 2, 16));
  layer.attention.push_back(layer.attention[0]);
  EXPECT_EQ(Build(ModelOf({layer})).BytesPerToken(), 256);
}

TEST(LayoutBuilderTest, AttentionAndStateInOneLayer) {
  LayerSpec layer = LayerOf(Heads(8, 2, 16));
  layer.recurrent = RecurrentSpec{.kind = RecurrentKind::kMamba2,
                                  .value_heads = 4,
                                  .key_dim = 32,
                                  .value_dim = 8,
                                  .conv_kernel = 4,
                                  .conv_channels = 96};
  const CacheLayout layout = Build(ModelOf({layer}));
  EXPECT_THAT(Names(layout.layers[0]),
              ElementsAre("k", "v", "conv_state", "recurrent_state"));
  // 96 x 3 and 4 x 8 x 32 numbers of bf16.
  EXPECT_EQ(layout.FixedBytes(), Bytes(96 * 3 * 2 + 1024 * 2));
}

struct StateCase {
  RecurrentKind kind;
  std::vector<std::string> tensors;
  DType dtype;
};

TEST(LayoutBuilderTest, RecurrentKinds) {
  for (const StateCase& c : std::vector<StateCase>{
           {RecurrentKind::kMamba1,
            {"conv_state", "recurrent_state"},
            DType::kBf16},
           {RecurrentKind::kMamba2,
            {"conv_state", "recurrent_state"},
            DType::kBf16},
           {RecurrentKind::kGatedDeltaNet,
            {"conv_state", "recurrent_state"},
            DType::kBf16},
           {RecurrentKind::kKda,
            {"conv_state", "recurrent_state"},
            DType::kFp32},
           {RecurrentKind::kShortConv, {"conv_state"}, DType::kBf16}}) {
    LayerSpec layer;
    layer.recurrent = RecurrentSpec{.kind = c.kind,
                                    .key_heads = 4,
                                    .value_heads = 4,
                                    .key_dim = 8,
                                    .value_dim = 8,
                                    .conv_kernel = 4,
                                    .conv_channels = 64};
    const CacheLayout layout = Build(ModelOf({layer}));
    EXPECT_EQ(Names(layout.layers[0]), c.tensors) << Name(c.kind);
    EXPECT_EQ(layout.layers[0].tensors.back().dtype, c.dtype) << Name(c.kind);
    EXPECT_EQ(layout.BytesPerToken(), 0);
  }
}

TEST(LayoutBuilderTest, LightningAttentionHasNoConvolution) {
  LayerSpec layer;
  layer.recurrent = RecurrentSpec{.kind = RecurrentKind::kLightning,
                                  .key_heads = 64,
                                  .value_heads = 64,
                                  .key_dim = 96,
                                  .value_dim = 96};
  const CacheLayout layout = Build(ModelOf({layer}));
  EXPECT_THAT(Names(layout.layers[0]), ElementsAre("recurrent_state"));
  EXPECT_EQ(layout.FixedBytes(), Bytes(64 * 96 * 96 * 2));
}

TEST(LayoutBuilderTest, StateDtypeOfTheConfigAndOfTheFlag) {
  LayerSpec layer;
  layer.recurrent = RecurrentSpec{.kind = RecurrentKind::kGatedDeltaNet,
                                  .key_heads = 1,
                                  .value_heads = 1,
                                  .key_dim = 8,
                                  .value_dim = 8,
                                  .state_dtype = DType::kFp32};
  const ModelSpec spec = ModelOf({layer});
  EXPECT_EQ(Build(spec).FixedBytes(), Bytes(256));
  EXPECT_EQ(Build(spec, {.state_dtype = DType::kFp16}).FixedBytes(),
            Bytes(128));
}

TEST(LayoutBuilderTest, IndexKeysInTheCacheDtype) {
  // MiniMax-M3's kind: K and V per head and one plain index key.
  AttentionSpec attention = Heads(8, 2, 16);
  attention.indexer = IndexerSpec{.kind = IndexerKind::kFull,
                                  .format = IndexKeyFormat::kCacheDtype,
                                  .query_heads = 4,
                                  .head_dim = 128};
  const ModelSpec spec = ModelOf({LayerOf(attention)});
  EXPECT_EQ(Build(spec).BytesPerToken(), 128 + 256);
  EXPECT_EQ(Build(spec, {.kv_cache_dtype = KvCacheDtype::kFp8}).BytesPerToken(),
            64 + 128);
}

TEST(LayoutBuilderTest, AutoFollowsTheCheckpointsRecord) {
  ModelSpec spec = ModelOf({LayerOf(Heads(8, 2, 16))});
  spec.quantization.kv_cache_dtype = DType::kFp8;
  EXPECT_EQ(Build(spec).BytesPerToken(), 64);
  EXPECT_EQ(
      Build(spec, {.kv_cache_dtype = KvCacheDtype::kBf16}).BytesPerToken(),
      128);
  // The weights' own dtype says nothing.
  spec.quantization.kv_cache_dtype.reset();
  spec.quantization.weight_dtype = DType::kFp8;
  EXPECT_EQ(Build(spec).BytesPerToken(), 128);
}

TEST(LayoutBuilderTest, MtpLayersOnlyWhenAsked) {
  ModelSpec spec = ModelOf({LayerOf(Heads(8, 2, 16))});
  spec.mtp_layers = spec.layers;
  EXPECT_EQ(Build(spec).BytesPerToken(), 128);
  EXPECT_EQ(Build(spec, {.mtp_layers = true}).BytesPerToken(), 256);
}

TEST(LayoutBuilderTest, OptionsOutOfRangeAreNamed) {
  const ModelSpec spec = ModelOf({LayerOf(Heads(8, 2, 16))});
  for (const int64_t heads : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
    const auto layout = BuildCacheLayout(spec, {.index_key_heads = heads});
    EXPECT_THAT(std::string(layout.status().message()),
                ::testing::HasSubstr("--index-key-heads"));
  }
  EXPECT_FALSE(BuildCacheLayout(spec, {.index_key_dtype = DType::kInt4}).ok());
  EXPECT_FALSE(BuildCacheLayout(spec, {.speculative_tokens = -1}).ok());
}

TEST(LayoutBuilderTest, SumsBeyondInt64AreRefused) {
  // 2^24 heads of 2^24: 2^50 bytes per token.
  const ModelSpec spec =
      ModelOf({LayerOf(Heads(kMaxDimension, kMaxDimension, kMaxDimension))});
  const auto layout = BuildCacheLayout(spec, {});
  EXPECT_THAT(std::string(layout.status().message()),
              ::testing::HasSubstr("more than 2^63 bytes"));
}

}  // namespace
}  // namespace kvsim
