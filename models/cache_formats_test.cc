// Every cache format and state dtype, by the bytes of its rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/layout_builder.h"
#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

// Bytes of one token of K and V of one head of 128 in one layer.
TEST(CacheFormatsTest, EveryFormatHasItsRowBytes) {
  ModelSpec spec = *ReadModelConfig(
      R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 128,
          "num_attention_heads": 1})",
      "one head");
  struct Row {
    const char* format;
    int64_t bytes;  // of K or V: 128 elements
  };
  for (const Row& row :
       {Row{"fp32", 512}, Row{"fp16", 256}, Row{"bf16", 256}, Row{"fp8", 128},
        Row{"int8", 128}, Row{"int4", 64}, Row{"fp8_per_token_head", 128 + 4},
        Row{"int8_per_token_head", 128 + 4}, Row{"int4_per_token_head", 64 + 4},
        Row{"nvfp4", 64 + 8},
        // Four blocks of 32.
        Row{"q8_0", 4 * 34}, Row{"q5_1", 4 * 24}, Row{"q5_0", 4 * 22},
        Row{"q4_1", 4 * 20}, Row{"q4_0", 4 * 18}, Row{"iq4_nl", 4 * 18}}) {
    const LayoutOptions options = {.kv_cache_dtype =
                                       *ParseKvCacheDtype(row.format)};
    EXPECT_EQ(BuildCacheLayout(spec, options)->BytesPerToken(),
              static_cast<double>(2 * row.bytes))
        << row.format;
  }
}

TEST(CacheFormatsTest, BlocksMustFillTheRows) {
  const ModelSpec spec = *ReadModelConfig(
      R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 80,
          "num_attention_heads": 1})",
      "80 wide");
  const auto layout =
      BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kQ4_0});
  EXPECT_THAT(std::string(layout.status().message()),
              ::testing::HasSubstr("k rows are 80 wide"));
}

// Latents of 512 + 64 in q8_0: 18 blocks of 34 B; plain int8: 576 B.
TEST(CacheFormatsTest, LatentsInBlocksAndInInt8) {
  const ModelSpec spec = *LoadModel("deepseek-v3");
  EXPECT_EQ(BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kQ8_0})
                ->BytesPerToken(),
            61 * 18 * 34);
  EXPECT_EQ(BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kInt8})
                ->BytesPerToken(),
            61 * 576);
  EXPECT_FALSE(
      BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kInt4}).ok());
}

// Index keys: 128 B + 4 of scale in fp8, 64 + 4 in fp4, without scales 128,
// 256 and 512.
TEST(CacheFormatsTest, IndexKeysHaveADTypeOfTheirOwn) {
  const ModelSpec spec = *LoadModel("deepseek-v3.2");
  const auto index_bytes = [&](DType dtype) {
    const CacheLayout layout =
        *BuildCacheLayout(spec, {.index_key_dtype = dtype});
    double bytes = 0;
    for (const CacheTensor& tensor : layout.layers[0].tensors) {
      if (tensor.store == CacheStore::kIndex) bytes += tensor.BytesPerToken();
    }
    return bytes;
  };
  EXPECT_EQ(index_bytes(DType::kFp8), 132);
  EXPECT_EQ(index_bytes(DType::kFp4), 68);
  EXPECT_EQ(index_bytes(DType::kInt8), 128);
  EXPECT_EQ(index_bytes(DType::kBf16), 256);
  EXPECT_EQ(index_bytes(DType::kFp32), 512);
  EXPECT_FALSE(BuildCacheLayout(spec, {.index_key_dtype = DType::kNvfp4}).ok());
}

// Qwen3-Next: convolution (2 x 16 x 128 + 32 x 128) x 3 = 24,576 numbers and a
// state of 32 x 128 x 128 = 524,288 in each of 36 layers.
TEST(CacheFormatsTest, ConvolutionAndRecurrentStatesHaveTheirOwnDTypes) {
  const ModelSpec spec = *LoadModel("qwen3-next-80b");
  const auto fixed = [&](const LayoutOptions& options) {
    return BuildCacheLayout(spec, options)->FixedBytes();
  };
  EXPECT_EQ(fixed({}), Bytes(36 * 2 * (24576 + 524288)));
  EXPECT_EQ(fixed({.state_dtype = DType::kFp32}),
            Bytes(36 * (2 * 24576 + 4 * 524288)));
  // Recurrent states follow where nothing names theirs.
  EXPECT_EQ(fixed({.conv_state_dtype = DType::kFp32}),
            Bytes(36 * 4 * (24576 + 524288)));
  EXPECT_EQ(
      fixed({.state_dtype = DType::kBf16, .conv_state_dtype = DType::kFp32}),
      Bytes(36 * (4 * 24576 + 2 * 524288)));
  // One fp32 scale for each of 32 heads.
  EXPECT_EQ(fixed({.state_dtype = DType::kInt8}),
            Bytes(36 * (2 * 24576 + 524288 + 32 * 4)));
  EXPECT_FALSE(BuildCacheLayout(spec, {.state_dtype = DType::kInt4}).ok());
  EXPECT_FALSE(BuildCacheLayout(spec, {.conv_state_dtype = DType::kInt8}).ok());
}

}  // namespace
}  // namespace kvsim
