#include "models/model_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

ModelSpec Valid() {
  ModelSpec spec;
  spec.name = "test";
  spec.hidden_size = 64;
  LayerSpec layer;
  AttentionSpec attention;
  attention.query_heads = 8;
  attention.kv_heads = 2;
  attention.head_dim = attention.head_dim_v = 16;
  layer.attention.push_back(attention);
  spec.layers = {layer, layer};
  return spec;
}

std::string ErrorOf(const std::function<void(ModelSpec&)>& damage) {
  ModelSpec spec = Valid();
  damage(spec);
  return std::string(ValidateModelSpec(spec).message());
}

TEST(ModelSpecTest, AcceptsWhatReadersReturn) {
  EXPECT_TRUE(ValidateModelSpec(Valid()).ok());
}

TEST(ModelSpecTest, NamesLayerFieldValueAndRange) {
  const std::string error = ErrorOf(
      [](ModelSpec& spec) { spec.layers[1].attention[0].head_dim = -3; });
  EXPECT_THAT(error, HasSubstr("test: layer 1"));
  EXPECT_THAT(error, HasSubstr("head_dim is -3"));
  EXPECT_THAT(error, HasSubstr("accepted: 1 to 16777216"));
}

TEST(ModelSpecTest, KvHeadsMustDivideQueryHeads) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                spec.layers[0].attention[0].kv_heads = 3;
              }),
              HasSubstr("num_key_value_heads is 3"));
}

TEST(ModelSpecTest, WindowsAndChunksArePositive) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                spec.layers[0].attention[0].kind =
                    AttentionKind::kSlidingWindow;
              }),
              HasSubstr("sliding_window is 0"));
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                spec.layers[0].attention[0].kind = AttentionKind::kChunkedLocal;
              }),
              HasSubstr("attention_chunk_size is 0"));
}

TEST(ModelSpecTest, CompressRatiosArePowersOfTwo) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                AttentionSpec& attention = spec.layers[0].attention[0];
                attention.kind = AttentionKind::kCompressed;
                attention.window = 8;
                attention.compress_ratio = 3;
              }),
              HasSubstr("compress_ratios is 3"));
}

TEST(ModelSpecTest, SharingNeedsAnEarlierOwnerOfTheSameShape) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                spec.layers[1].attention[0].kv_sharing_target = 1;
              }),
              HasSubstr("kv_sharing_target is 1"));
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                spec.layers[1].attention[0].kv_sharing_target = 0;
                spec.layers[1].attention[0].head_dim = 32;
              }),
              HasSubstr("same shape"));
}

TEST(ModelSpecTest, SharedIndexerNeedsAFullOneBefore) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                IndexerSpec& indexer = spec.layers[0].attention[0].indexer;
                indexer.kind = IndexerKind::kShared;
                indexer.head_dim = 128;
              }),
              HasSubstr("full indexers"));
}

TEST(ModelSpecTest, StatesAreBounded) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) {
                RecurrentSpec& recurrent = spec.layers[0].recurrent.emplace();
                recurrent.value_heads = kMaxDimension;
                recurrent.key_dim = recurrent.value_dim = kMaxDimension;
              }),
              HasSubstr("elements per layer"));
}

TEST(ModelSpecTest, LayerCountIsBounded) {
  EXPECT_THAT(ErrorOf([](ModelSpec& spec) { spec.layers.clear(); }),
              HasSubstr("num_hidden_layers is 0"));
}

TEST(ModelSpecTest, DescribesLayers) {
  const ModelSpec spec = Valid();
  LayerSpec layer = spec.layers[0];
  EXPECT_EQ(DescribeLayer(layer), "GQA 8q/2kv x 16");
  layer.attention[0].kv_heads = 8;
  EXPECT_EQ(DescribeLayer(layer), "MHA 8q/8kv x 16");
  layer.attention[0].kv_heads = 1;
  layer.attention[0].head_dim_v = 8;
  EXPECT_EQ(DescribeLayer(layer), "MQA 8q/1kv x 16/8");
  EXPECT_EQ(DescribeLayer(LayerSpec()), "feed-forward only");
}

}  // namespace
}  // namespace kvsim
