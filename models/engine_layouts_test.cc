// What engines store, per format: the figures of vLLM's and SGLang's caches.
// Page figures are of vLLM, 2026-08.

#include <gtest/gtest.h>

#include <string>

#include "base/units.h"
#include "models/layout_builder.h"
#include "models/model_loader.h"
#include "models/printed_figure.h"

namespace kvsim {
namespace {

constexpr double kGiB = 1 << 30;
constexpr Tokens k1M(1048576);

CacheLayout Layout(const std::string& model,
                   const LayoutOptions& options = {}) {
  return *BuildCacheLayout(*LoadModel(model), options);
}

CacheLayout Layout(const std::string& model, KvCacheDtype dtype) {
  return Layout(model, LayoutOptions{.kv_cache_dtype = dtype});
}

const CacheTensor& Find(const CacheLayout& layout, const std::string& name) {
  for (const LayerCache& layer : layout.layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      if (tensor.name == name) return tensor;
    }
  }
  ADD_FAILURE() << "no tensor " << name;
  static const CacheTensor kNone;
  return kNone;
}

// Bytes of all columns that one layer's `store` has per entry.
int64_t RowBytes(const LayerCache& layer, CacheStore store) {
  Bytes row;
  for (const CacheTensor& tensor : layer.tensors) {
    if (tensor.store == store) row += tensor.EntryBytes();
  }
  return row.value();
}

// The same with the share of a page's alignment, times `rows`: a page.
int64_t PageBytes(const LayerCache& layer, CacheStore store, int64_t rows) {
  Bytes row;
  for (const CacheTensor& tensor : layer.tensors) {
    if (tensor.store == store) row += tensor.PaddedEntryBytes();
  }
  return row.value() * rows;
}

// Llama-3.1-70B: 80 layers of 8 heads of 128.
TEST(EngineLayoutsTest, DenseFormats) {
  const auto per_token = [](KvCacheDtype dtype) {
    return Layout("llama-3.1-70b", dtype).BytesPerToken() / 80 / 8;
  };
  EXPECT_EQ(per_token(KvCacheDtype::kAuto), 2 * 128 * 2);
  EXPECT_EQ(per_token(KvCacheDtype::kBf16), 2 * 128 * 2);
  EXPECT_EQ(per_token(KvCacheDtype::kFp16), 2 * 128 * 2);
  EXPECT_EQ(per_token(KvCacheDtype::kFp32), 2 * 128 * 4);
  EXPECT_EQ(per_token(KvCacheDtype::kFp8), 2 * 128);
  EXPECT_EQ(per_token(KvCacheDtype::kInt8PerTokenHead), 2 * 128 + 8);
  EXPECT_EQ(per_token(KvCacheDtype::kFp8PerTokenHead), 2 * 128 + 8);
  EXPECT_EQ(per_token(KvCacheDtype::kInt4PerTokenHead), 2 * 64 + 8);
  EXPECT_EQ(per_token(KvCacheDtype::kNvfp4), 144);  // 2 x (64 + 8)
}

// Per layer and token: 1152, 576, 656, 576 + 8.
TEST(EngineLayoutsTest, MlaFormats) {
  const auto row = [](KvCacheDtype dtype) {
    return Layout("deepseek-v3", dtype).BytesPerToken() / 61;
  };
  EXPECT_EQ(row(KvCacheDtype::kAuto), 1152);
  EXPECT_EQ(row(KvCacheDtype::kFp8), 576);
  EXPECT_EQ(row(KvCacheDtype::kFp8DsMla), 656);  // 512 + 4 x 4 + 64 x 2
  EXPECT_EQ(row(KvCacheDtype::kFp8PerTokenHead), 584);
  EXPECT_EQ(row(KvCacheDtype::kInt8PerTokenHead), 584);
}

TEST(EngineLayoutsTest, FormatsThatDoNotExistAreRefused) {
  for (const KvCacheDtype dtype :
       {KvCacheDtype::kNvfp4, KvCacheDtype::kInt4PerTokenHead}) {
    const auto layout =
        BuildCacheLayout(*LoadModel("deepseek-v3"), {.kv_cache_dtype = dtype});
    EXPECT_FALSE(layout.ok());
    EXPECT_NE(layout.status().message().find("does not exist for MLA"),
              absl::string_view::npos)
        << layout.status();
  }
  EXPECT_FALSE(BuildCacheLayout(*LoadModel("llama-2-7b"),
                                {.kv_cache_dtype = KvCacheDtype::kFp8DsMla})
                   .ok());
  EXPECT_FALSE(BuildCacheLayout(*LoadModel("deepseek-v4-pro"),
                                {.kv_cache_dtype = KvCacheDtype::kNvfp4})
                   .ok());
}

TEST(EngineLayoutsTest, IndexKeysAre132BytesOr68) {
  const CacheLayout fp8 = Layout("deepseek-v3.2");
  EXPECT_EQ(RowBytes(fp8.layers[0], CacheStore::kIndex), 132);
  const CacheLayout fp4 =
      Layout("deepseek-v3.2", LayoutOptions{.index_key_dtype = DType::kFp4});
  EXPECT_EQ(RowBytes(fp4.layers[0], CacheStore::kIndex), 68);
}

// Rows of a worked table: bytes per block of 64 tokens.
TEST(EngineLayoutsTest, DsaBytesPerBlock) {
  const auto block = [](const std::string& model, KvCacheDtype dtype) {
    return Layout(model, dtype).BytesPerToken() * 64;
  };
  EXPECT_EQ(block("deepseek-v3.2", KvCacheDtype::kFp8DsMla), 3076352);
  EXPECT_EQ(block("deepseek-v3.2", KvCacheDtype::kBf16), 5012736);
  EXPECT_EQ(block("deepseek-v3.2", KvCacheDtype::kFp8), 2764032);
  EXPECT_EQ(block("glm-5.2", KvCacheDtype::kBf16), 5928192);
  EXPECT_EQ(block("glm-5.2", KvCacheDtype::kFp8DsMla), 3452160);
}

TEST(EngineLayoutsTest, Glm52HasIndexKeysOnFullIndexersOnly) {
  // vLLM: 78 x 1152 + 21 x 132, one 1M request needs 90.46 GiB.
  const CacheLayout vllm = Layout("glm-5.2");
  EXPECT_EQ(vllm.BytesPerToken(), 78 * 1152 + 21 * 132);
  EXPECT_TRUE(
      PrintsAs(static_cast<double>(vllm.BytesAt(k1M).value()) / kGiB, "90.46"));
  // SGLang: every layer pays, 100152.
  const CacheLayout sglang =
      Layout("glm-5.2", LayoutOptions{.index_keys_on_shared_layers = true});
  EXPECT_EQ(sglang.BytesPerToken(), 100152);
}

TEST(EngineLayoutsTest, MtpLayersAddTheirOwnCache) {
  // One more layer: 62 x 788 with fp8_ds_mla.
  const CacheLayout layout = Layout(
      "deepseek-v3.2", LayoutOptions{.kv_cache_dtype = KvCacheDtype::kFp8DsMla,
                                     .mtp_layers = true});
  EXPECT_EQ(layout.layers.size(), 62u);
  EXPECT_TRUE(layout.layers.back().is_mtp);
  EXPECT_EQ(layout.BytesPerToken(), 62 * 788);
  // V4's has ratio 0: a window only.
  const LayoutOptions mtp = {.mtp_layers = true};
  const CacheLayout v4 = Layout("deepseek-v4-flash", mtp);
  EXPECT_EQ(v4.layers.back().tensors.size(), 1u);
  EXPECT_EQ(v4.BytesPerToken(), Layout("deepseek-v4-flash").BytesPerToken());
}

TEST(EngineLayoutsTest, KimiLinearKeepsTheUnrotatedPart) {
  const CacheLayout layout = Layout("kimi-linear-48b");
  // 7 x 576 x 2 = 8064 B = 7.875 KiB.
  EXPECT_EQ(layout.BytesPerToken(), 8064);
  EXPECT_EQ(layout.BytesPerToken() / 1024, 7.875);
  // One KDA layer: 3 x 32 x 128 x 3 x 2 and 32 x 128 x 128 x 4.
  EXPECT_EQ(Find(layout, "conv_state").EntryBytes(), Bytes(73728));
  EXPECT_EQ(Find(layout, "recurrent_state").EntryBytes(), Bytes(2097152));
  // 20 of them; SGLang's state slot is the same 43,417,600 B.
  EXPECT_EQ(layout.FixedBytes(), Bytes(43417600));
}

TEST(EngineLayoutsTest, Qwen3NextStateFollowsTheModelsDtype) {
  const CacheLayout layout = Layout("qwen3-next-80b");
  EXPECT_EQ(layout.BytesPerToken(), 24576);  // 12 x 2 x 2 x 256 x 2
  EXPECT_EQ(Find(layout, "conv_state").EntryBytes(), Bytes(49152));
  EXPECT_EQ(Find(layout, "recurrent_state").EntryBytes(), Bytes(1048576));
  // SGLang's fp32 slot over 36 layers: 77,266,944.
  const LayoutOptions fp32 = {.state_dtype = DType::kFp32};
  EXPECT_EQ(Layout("qwen3-next-80b", fp32).FixedBytes(), Bytes(77266944));
  // With one draft token the convolution has 4 rows, and conv + state are
  // 1,114,112.
  const CacheLayout draft =
      Layout("qwen3-next-80b", LayoutOptions{.speculative_tokens = 1});
  EXPECT_EQ(Find(draft, "conv_state").EntryBytes() +
                Find(draft, "recurrent_state").EntryBytes(),
            Bytes(1114112));
}

// Rows: 448 fp8 + 64 bf16 + 8 scale bytes; pages step by 576 bytes.
TEST(EngineLayoutsTest, V4PackedPages) {
  const CacheLayout layout = Layout("deepseek-v4-pro");
  const LayerCache& c128 = layout.layers[0];
  const LayerCache& c4 = layout.layers[2];
  EXPECT_EQ(RowBytes(c4, CacheStore::kWindow), 584);
  EXPECT_EQ(RowBytes(c4, CacheStore::kMain), 584);
  EXPECT_EQ(PageBytes(c4, CacheStore::kWindow, 64), 37440);
  EXPECT_EQ(PageBytes(c4, CacheStore::kMain, 64), 37440);
  EXPECT_EQ(PageBytes(c128, CacheStore::kMain, 2), 1728);
  EXPECT_EQ(PageBytes(c4, CacheStore::kIndex, 64), 8640);
  EXPECT_EQ(PageBytes(c4, CacheStore::kCompressorState, 4), 32832);
  EXPECT_EQ(PageBytes(c4, CacheStore::kIndexCompressorState, 4), 8640);
  EXPECT_EQ(PageBytes(c128, CacheStore::kCompressorState, 8), 32832);
  const CacheLayout fp4 =
      Layout("deepseek-v4-pro", LayoutOptions{.index_key_dtype = DType::kFp4});
  EXPECT_EQ(PageBytes(fp4.layers[2], CacheStore::kIndex, 64), 4608);
}

TEST(EngineLayoutsTest, V4PlainPages) {
  const CacheLayout bf16 = Layout("deepseek-v4-pro", KvCacheDtype::kBf16);
  EXPECT_EQ(PageBytes(bf16.layers[2], CacheStore::kWindow, 64), 65536);
  EXPECT_EQ(PageBytes(bf16.layers[2], CacheStore::kMain, 64), 65536);
  EXPECT_EQ(PageBytes(bf16.layers[0], CacheStore::kMain, 2), 2048);
  EXPECT_EQ(PageBytes(bf16.layers[2], CacheStore::kIndex, 64), 8704);
  EXPECT_EQ(PageBytes(bf16.layers[2], CacheStore::kCompressorState, 4), 32768);
  EXPECT_EQ(PageBytes(bf16.layers[2], CacheStore::kIndexCompressorState, 4),
            8192);
  const CacheLayout fp8 = Layout("deepseek-v4-pro", KvCacheDtype::kFp8);
  EXPECT_EQ(PageBytes(fp8.layers[2], CacheStore::kWindow, 64), 32768);
  EXPECT_EQ(PageBytes(fp8.layers[0], CacheStore::kMain, 2), 1024);
  EXPECT_EQ(PageBytes(fp8.layers[2], CacheStore::kIndex, 64), 8704);
}

TEST(EngineLayoutsTest, V4GrowsByTheBlocksOfItsMlaGroup) {
  // Bytes per block of 256 tokens: Pro 1,435,968, Flash 1,002,240.
  EXPECT_EQ(Layout("deepseek-v4-pro").BytesPerToken() * 256, 1435968);
  EXPECT_EQ(Layout("deepseek-v4-flash").BytesPerToken() * 256, 1002240);
  EXPECT_EQ(Layout("deepseek-v4-flash").BytesPerToken(), 3915);
  const LayoutOptions fp4 = {.index_key_dtype = DType::kFp4};
  EXPECT_EQ(Layout("deepseek-v4-pro", fp4).BytesPerToken() * 256, 1315008);
  EXPECT_EQ(Layout("deepseek-v4-flash", fp4).BytesPerToken(), 3584.25);
}

TEST(EngineLayoutsTest, V4ProAtOneMillionTokens) {
  const CacheLayout layout = Layout("deepseek-v4-pro");
  // 30 x 262144 x (585 + 135) + 31 x 8192 x 864 = 5,881,724,928 = 5.48 GiB.
  const Bytes fixed = layout.FixedBytes();
  EXPECT_EQ(layout.BytesAt(k1M) - fixed, Bytes(5881724928));
  EXPECT_TRUE(PrintsAs(
      static_cast<double>((layout.BytesAt(k1M) - fixed).value()) / kGiB,
      "5.48"));
  // 61 windows of 128 x 585; 30 states of 8 x (8208 + 2160); 31 of 128 x 4104.
  EXPECT_EQ(fixed,
            Bytes(61 * 128 * 585 + 30 * 8 * (8208 + 2160) + 31 * 128 * 4104));
  // Rows alone: 584 and 132 instead of 585 and 135, 584 instead of 864.
  SequenceLength length;
  length.tokens = k1M;
  const int64_t padding = 30 * 262144 * (1 + 3) +
                          31 * 8192 * 280 +  // compressed rows, index
                          61 * 128 * 1 +     // windows
                          30 * 8 * ((8208 - 8192) + (2160 - 2048)) +  // states
                          31 * 128 * (4104 - 4096);
  EXPECT_EQ(layout.PaddingBytesAt(length), Bytes(padding));
}

TEST(EngineLayoutsTest, Gemma3AndGptOssWindows) {
  // 10 full layers of 16 x 2 x 128 x 2; 52 windows of 1024.
  const CacheLayout gemma = Layout("gemma-3-27b");
  EXPECT_EQ(gemma.BytesPerToken(), 10 * 8192);
  EXPECT_EQ(gemma.FixedBytes(), Bytes(52 * 1024 * 8192));
  // Within the window every layer counts: 62 x 8 KiB = 496 KiB per token.
  EXPECT_EQ(gemma.BytesAt(Tokens(1)), KiB(496));
  // 18 full of 8 x 2 x 64 x 2; sinks are weights.
  const CacheLayout oss = Layout("gpt-oss-120b");
  EXPECT_EQ(oss.BytesPerToken(), 18 * 2048);
  EXPECT_EQ(oss.FixedBytes(), Bytes(18 * 128 * 2048));
  EXPECT_EQ(oss.BytesAt(Tokens(1)), KiB(72));
}

TEST(EngineLayoutsTest, ShardingAxes) {
  const CacheLayout heads = Layout("llama-3.1-8b");
  EXPECT_EQ(Find(heads, "k").shard, ShardAxis::kHeads);
  EXPECT_EQ(Find(heads, "k").heads, 8);
  for (const char* name : {"latent", "rope_key", "index_key"}) {
    EXPECT_EQ(Find(Layout("deepseek-v3.2"), name).shard,
              ShardAxis::kReplicated);
  }
  EXPECT_EQ(Find(Layout("kimi-linear-48b"), "recurrent_state").heads, 32);
}

}  // namespace
}  // namespace kvsim
