// Every figure of the article "Kimi K3.1 Pro: the KV account, 24 layers of
// full attention make 123 GiB", under its own assumptions, and the engines'
// figures for the same model. Quoted figures are strings, as printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/units.h"
#include "models/layout_builder.h"
#include "models/model_loader.h"
#include "models/printed_figure.h"

namespace kvsim {
namespace {

constexpr double kGiB = 1 << 30;
constexpr double kTiB = kGiB * 1024;
constexpr double kGB = 1e9;
constexpr Tokens k128K(131072);
constexpr Tokens k256K(262144);
constexpr Tokens k1M(1048576);

class KimiK31ArticleTest : public ::testing::Test {
 protected:
  static ModelSpec Spec(absl::string_view overrides = "") {
    return *LoadModel("kimi-k3.1-pro", overrides);
  }

  static CacheLayout AsArticle(const ModelSpec& spec,
                               LayoutOptions options = {}) {
    options.as_article = true;
    return *BuildCacheLayout(spec, options);
  }

  static CacheLayout AsEngine(const ModelSpec& spec) {
    return *BuildCacheLayout(spec, LayoutOptions());
  }

  static double Bytes(const CacheLayout& layout, Tokens tokens) {
    return static_cast<double>(layout.BytesAt(tokens).value());
  }

  // Bytes per token of one layer that has the article's gated DSA.
  static double DsaLayer(const CacheLayout& layout) {
    for (const LayerCache& layer : layout.layers) {
      if (!layer.tensors.empty()) return layer.BytesPerToken();
    }
    return 0;
  }

  static double TensorOfDsaLayer(const CacheLayout& layout,
                                 const std::string& name) {
    for (const LayerCache& layer : layout.layers) {
      for (const CacheTensor& tensor : layer.tensors) {
        if (tensor.name == name) return tensor.BytesPerToken();
      }
    }
    return 0;
  }

  // The model without its indexers: latents only.
  static ModelSpec WithoutIndexer(ModelSpec spec) {
    for (LayerSpec& layer : spec.layers) {
      for (AttentionSpec& attention : layer.attention) {
        attention.indexer = IndexerSpec();
      }
    }
    return spec;
  }

  // All 93 layers MLA without an indexer: the article's third column.
  static ModelSpec AllMla(const ModelSpec& spec) {
    ModelSpec all = WithoutIndexer(spec);
    LayerSpec mla;
    for (const LayerSpec& layer : all.layers) {
      if (!layer.attention.empty()) mla = layer;
    }
    for (LayerSpec& layer : all.layers) layer = mla;
    return all;
  }
};

TEST_F(KimiK31ArticleTest, NinetyThreeLayersAre69KdaAnd24Dsa) {
  int kda = 0, dsa = 0;
  const ModelSpec spec = Spec();
  for (const LayerSpec& layer : spec.layers) {
    if (layer.recurrent) ++kda;
    if (!layer.attention.empty()) ++dsa;
  }
  EXPECT_EQ(spec.layers.size(), 93u);
  EXPECT_EQ(kda, 69);
  EXPECT_EQ(dsa, 24);
  EXPECT_TRUE(PrintsAs(100.0 * dsa / 93, "25.8"));  // share of layers
  EXPECT_TRUE(PrintsAs(100.0 * kda / 93, "74"));
  EXPECT_EQ(spec.max_position_embeddings, 1048576);
  EXPECT_THAT(spec.assumed_fields, ::testing::Not(::testing::IsEmpty()));
}

TEST_F(KimiK31ArticleTest, OneLayerStores5248BytesPerToken) {
  const CacheLayout layout = AsArticle(Spec());
  // (512 + 64) x 2 = 1152 and 32 x 128 x 1 = 4096.
  EXPECT_EQ(
      TensorOfDsaLayer(layout, "latent") + TensorOfDsaLayer(layout, "rope_key"),
      1152);
  EXPECT_EQ(TensorOfDsaLayer(layout, "index_key"), 4096);
  EXPECT_EQ(DsaLayer(layout), 5248);
  EXPECT_TRUE(PrintsAs(100.0 * 4096 / DsaLayer(layout), "78"));
  EXPECT_EQ(TensorOfDsaLayer(layout, "index_scale"), 0);  // not counted
}

TEST_F(KimiK31ArticleTest, ThreeContextLengths) {
  const CacheLayout layout = AsArticle(Spec());
  EXPECT_TRUE(PrintsAs(Bytes(layout, k128K) / kGiB, "15.4"));
  EXPECT_TRUE(PrintsAs(Bytes(layout, k256K) / kGiB, "30.8"));
  EXPECT_TRUE(PrintsAs(Bytes(layout, k1M) / kGiB, "123.0"));
}

TEST_F(KimiK31ArticleTest, IndexKeysUndoWhatLinearLayersSave) {
  const double with = Bytes(AsArticle(Spec()), k1M);
  const double without = Bytes(AsArticle(WithoutIndexer(Spec())), k1M);
  const double all_mla = Bytes(AsArticle(AllMla(Spec())), k1M);
  EXPECT_TRUE(PrintsAs(without / kGiB, "27.0"));
  EXPECT_TRUE(PrintsAs(all_mla / kGiB, "104.6"));
  EXPECT_TRUE(PrintsAs(100 * with / all_mla, "117.6"));
  EXPECT_TRUE(PrintsAs(100 * with / all_mla - 100, "17.6"));
  EXPECT_TRUE(PrintsAs(100 * without / all_mla, "25.8"));
  EXPECT_TRUE(PrintsAs(100 - 100 * without / all_mla, "74"));
  EXPECT_TRUE(PrintsAs(with / without, "4.6"));
  EXPECT_TRUE(PrintsAs(117.6 / 25.8, "4.6"));
}

TEST_F(KimiK31ArticleTest, Bf16IndexKeysMake219GiB) {
  LayoutOptions options;
  options.index_key_dtype = DType::kBf16;
  const CacheLayout layout = AsArticle(Spec(), options);
  EXPECT_EQ(TensorOfDsaLayer(layout, "index_key"), 8192);
  EXPECT_EQ(DsaLayer(layout), 9344);
  EXPECT_TRUE(PrintsAs(Bytes(layout, k1M) / kGiB, "219"));
  const double all_mla = Bytes(AsArticle(AllMla(Spec())), k1M);
  EXPECT_TRUE(PrintsAs(100 * Bytes(layout, k1M) / all_mla - 100, "109"));
}

TEST_F(KimiK31ArticleTest, StateThatWouldEqualTheCache) {
  // Spread over 69 layers of 2-byte elements.
  const double elements = Bytes(AsArticle(Spec()), k1M) / 69 / 2;
  EXPECT_TRUE(PrintsAs(elements / 1e6, "957.03"));
  EXPECT_TRUE(PrintsAs(elements / 1e6, "957"));
  EXPECT_TRUE(PrintsAs(elements / 96 / 1e3, "9969"));
  EXPECT_TRUE(PrintsAs(std::sqrt(elements / 96), "3157"));
  // A real state is 128 x 128 = 16384 per head: 608 times less, "600".
  EXPECT_NEAR(elements / 96 / 16384, 600, 50);
}

TEST_F(KimiK31ArticleTest, StatesAreAFewHundredMegabytes) {
  EXPECT_EQ(AsArticle(Spec()).FixedBytes(), kvsim::Bytes(0));  // left out
  ModelSpec counted = Spec();
  counted.article.counts_recurrent_state = true;
  // 69 x (96 x 128 x 128 + 3 x 96 x 128 x 3) x 2 bytes.
  EXPECT_EQ(AsArticle(counted).FixedBytes(),
            kvsim::Bytes(69 * (1572864 + 110592) * 2));
}

TEST_F(KimiK31ArticleTest, ReadingMlaAsMhaIs43TimesTooMuch) {
  // 2 x 96 heads x 128 x 2 bytes.
  ModelSpec mha = WithoutIndexer(Spec());
  for (LayerSpec& layer : mha.layers) {
    for (AttentionSpec& attention : layer.attention) {
      attention.kind = AttentionKind::kFull;
      attention.kv_heads = attention.query_heads;
      attention.head_dim = attention.head_dim_v = 128;
    }
  }
  const CacheLayout layout = AsArticle(mha);
  EXPECT_EQ(DsaLayer(layout), 49152);
  EXPECT_TRUE(PrintsAs(DsaLayer(layout) / 1152, "42.7"));
  EXPECT_TRUE(PrintsAs(DsaLayer(layout) / 1152, "43"));
}

TEST_F(KimiK31ArticleTest, ErrorOneOverOnePetabyteIsOneTebibyte) {
  // The article: "1.1 PB". By its own figures 49152 x 24 x 2^20 bytes.
  const double bytes = 49152.0 * 24 * 1048576;
  EXPECT_TRUE(PrintsAs(bytes / kTiB, "1.13"));
  EXPECT_FALSE(PrintsAs(bytes / 1e15, "1.1"));
}

TEST_F(KimiK31ArticleTest, GibibytesAreSevenPercentMore) {
  EXPECT_TRUE(PrintsAs(Bytes(AsArticle(Spec()), k1M) / kGB, "132.1"));
  EXPECT_TRUE(PrintsAs(100 * kGiB / kGB - 100, "7"));
}

TEST_F(KimiK31ArticleTest, InputAndOutputShareTheContext) {
  const CacheLayout layout = AsArticle(Spec());
  EXPECT_EQ((960 + 64) * 1024, 1048576);  // "960K in, 64K out"
  const double share = Bytes(layout, Tokens(900 * 1024)) / Bytes(layout, k1M);
  EXPECT_TRUE(PrintsAs(share, "0.9"));
}

TEST_F(KimiK31ArticleTest, SixteenCardsHoldFiveRequests) {
  const double left = (16 * 141 - 1560) * kGB;
  EXPECT_EQ(16 * 141, 2256);
  EXPECT_NEAR(left / kGB, 700, 50);  // "only 700GB left"
  EXPECT_EQ(std::floor(left / Bytes(AsArticle(Spec()), k1M)), 5);
}

TEST_F(KimiK31ArticleTest, ErrorTenRequestsAreNot1Point2Terabytes) {
  // "10 requests are 1.2TB", beside vendor TB: 10 x 123 GiB are 1.32 TB; 1.2
  // is the figure in TiB.
  const double ten = 10 * Bytes(AsArticle(Spec()), k1M);
  EXPECT_TRUE(PrintsAs(ten / 1e12, "1.32"));
  EXPECT_TRUE(PrintsAs(ten / kTiB, "1.2"));
}

TEST_F(KimiK31ArticleTest, ErrorWiderLatentIs147GiBNot152) {
  const CacheLayout layout = AsArticle(Spec(R"({"kv_lora_rank": 1024})"));
  EXPECT_EQ(
      TensorOfDsaLayer(layout, "latent") + TensorOfDsaLayer(layout, "rope_key"),
      2176);  // (1024 + 64) x 2, as printed
  // (2176 + 4096) x 24 x 2^20: the article prints 152.
  EXPECT_TRUE(PrintsAs(Bytes(layout, k1M) / kGiB, "147.0"));
}

TEST_F(KimiK31ArticleTest, EnginesStoreOneIndexKey) {
  const CacheLayout layout = AsEngine(Spec());
  // 24 x (1152 + 128 + 4) = 30816 bytes per token.
  EXPECT_EQ(layout.BytesPerToken(), 30816);
  EXPECT_TRUE(PrintsAs(layout.BytesPerToken() * 1048576 / kGiB, "30.09"));
  const CacheLayout wide = AsEngine(Spec(R"({"kv_lora_rank": 1024})"));
  EXPECT_TRUE(PrintsAs(wide.BytesPerToken() * 1048576 / kGiB, "54.1"));
}

TEST_F(KimiK31ArticleTest, IndexKeyHeadsFlagGivesTheArticlesKeysWithScales) {
  LayoutOptions options;
  options.index_key_heads = 32;
  const CacheLayout layout = *BuildCacheLayout(Spec(), options);
  // 24 x (1152 + 32 x 132).
  EXPECT_EQ(layout.BytesPerToken(), 24 * (1152 + 32 * 132));
}

}  // namespace
}  // namespace kvsim
