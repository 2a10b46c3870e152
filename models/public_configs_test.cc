// Public config.json files against the catalogue and against figures others
// computed from them.
//
// The files are not part of the project: the test reads them from the folder
// models/ of $KVSIM_SHARED and is skipped without it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "models/layout_builder.h"
#include "models/model_loader.h"
#include "models/printed_figure.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;

class PublicConfigsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("KVSIM_SHARED");
    if (shared == nullptr) {
      GTEST_SKIP() << "KVSIM_SHARED names no folder of public configs";
    }
    folder_ = fs::path(shared) / "models";
    if (!fs::is_directory(folder_)) {
      GTEST_SKIP() << folder_ << " is no folder";
    }
  }

  ModelSpec Load(const std::string& file) {
    const absl::StatusOr<ModelSpec> spec =
        LoadModel((folder_ / (file + ".json")).string());
    EXPECT_TRUE(spec.ok()) << spec.status();
    return spec.ok() ? *spec : ModelSpec();
  }

  fs::path folder_;
};

// Everything that decides bytes, as text.
std::string Signature(const CacheLayout& layout) {
  std::string text;
  for (const LayerCache& layer : layout.layers) {
    text += layer.kind + (layer.is_mtp ? " mtp" : "") + ":";
    for (const CacheTensor& tensor : layer.tensors) {
      text += " " + tensor.name + " " +
              std::to_string(tensor.EntryBytes().value()) + "+" +
              std::to_string(tensor.padding_bytes) + "/" +
              std::to_string(tensor.tokens_per_entry) + " w" +
              std::to_string(tensor.retention.window);
    }
    text += "\n";
  }
  return text;
}

TEST_F(PublicConfigsTest, CatalogueEqualsThePublishedFiles) {
  struct Pair {
    const char* name;
    const char* file;
  };
  for (const Pair& pair :
       {Pair{"llama-2-7b", "Llama-2-7b-hf"},
        Pair{"mistral-7b", "Mistral-7B-v0.1"},
        Pair{"llama-3.1-8b", "Llama-3.1-8B"},
        Pair{"llama-3.1-70b", "Llama-3.1-70B"}, Pair{"qwen3-8b", "Qwen3-8B"},
        Pair{"gpt-oss-120b", "gpt-oss-120b"},
        Pair{"gemma-3-27b", "gemma-3-27b-it"},
        Pair{"deepseek-v3", "DeepSeek-V3"},
        Pair{"deepseek-v3.2", "DeepSeek-V3.2"}, Pair{"glm-5.2", "GLM-5.2"},
        Pair{"kimi-linear-48b", "Kimi-Linear-48B-A3B"},
        Pair{"kimi-k3", "Kimi-K3"},
        Pair{"qwen3-next-80b", "Qwen3-Next-80B-A3B"},
        Pair{"deepseek-v4-pro", "DeepSeek-V4-Pro"},
        Pair{"deepseek-v4-flash", "DeepSeek-V4-Flash"}}) {
    const ModelSpec ours = *LoadModel(pair.name);
    const ModelSpec theirs = Load(pair.file);
    for (const bool as_article : {false, true}) {
      const LayoutOptions options = {.as_article = as_article,
                                     .mtp_layers = true};
      EXPECT_EQ(Signature(*BuildCacheLayout(ours, options)),
                Signature(*BuildCacheLayout(theirs, options)))
          << pair.name;
    }
    EXPECT_EQ(ours.max_position_embeddings, theirs.max_position_embeddings)
        << pair.name;
    EXPECT_EQ(ours.vocab_size, theirs.vocab_size) << pair.name;
  }
}

// K/V bytes per token over all layers, without windows, states and index keys.
double MainKibPerToken(const ModelSpec& spec) {
  const CacheLayout layout =
      *BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kBf16});
  double bytes = 0;
  for (const LayerCache& layer : layout.layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      if (tensor.store == CacheStore::kMain) {
        bytes += static_cast<double>(tensor.EntryBytes().value()) /
                 static_cast<double>(tensor.tokens_per_entry);
      }
    }
  }
  return bytes / 1024;
}

// A public gallery of architectures prints KiB per token in bf16. Where it
// counts otherwise, the figure beside it is the one with K and V as stored.
TEST_F(PublicConfigsTest, GalleryOfKibPerToken) {
  struct Row {
    const char* file;
    const char* kib;
  };
  for (const Row& row :
       {Row{"DeepSeek-V3", "68.6"}, Row{"DeepSeek-R1", "68.6"},
        Row{"DeepSeek-V3.2", "68.6"}, Row{"Kimi-K2-Instruct", "68.6"},
        Row{"Kimi-K2.5", "68.6"}, Row{"gemma-3-27b-it", "496"},
        Row{"Llama-4-Maverick-17B-128E-Instruct", "192"},
        Row{"Qwen3-235B-A22B", "188"}, Row{"Qwen3-32B", "256"},
        Row{"Qwen3-8B", "144"}, Row{"GLM-4.5", "368"}, Row{"GLM-4.7", "368"},
        Row{"gpt-oss-120b", "72"}, Row{"gpt-oss-20b", "48"},
        Row{"Qwen3-Next-80B-A3B", "24"}, Row{"MiniMax-M2.5", "248"},
        Row{"Kimi-Linear-48B-A3B", "7.9"}, Row{"Olmo-3.1-32B-Instruct", "256"},
        Row{"Olmo-3-7B", "512"}, Row{"GLM-5", "87.8"}, Row{"GLM-5.1", "87.8"},
        Row{"phi-4", "200"}, Row{"Qwen3.5-397B-A17B", "30"},
        Row{"Qwen3.6-35B-A3B", "20"}, Row{"Qwen3.6-27B-NVFP4", "64"},
        Row{"DeepSeek-V4-Pro", "7.7"}, Row{"DeepSeek-V4-Flash", "5.4"},
        // K = V stored twice, shared layers once, widths of
        // full layers, windowed layers' own heads.
        Row{"gemma-4-31B-it-NVFP4", "880"}, Row{"gemma-4-26B-A4B", "220"},
        Row{"gemma-4-E2B", "18"}, Row{"gemma-4-E4B", "56"},
        Row{"MiMo-V2-Flash", "217.5"}}) {
    EXPECT_TRUE(PrintsAs(MainKibPerToken(Load(row.file)), row.kib)) << row.file;
  }
}

TEST_F(PublicConfigsTest, EveryFileReadsOrNamesItsUnknownFamily) {
  int read = 0;
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path().extension() != ".json") continue;
    const absl::StatusOr<ModelSpec> spec = LoadModel(file.path().string());
    if (spec.ok()) {
      ++read;
      EXPECT_TRUE(BuildCacheLayout(*spec, {}).ok()) << file.path();
    } else {
      EXPECT_NE(spec.status().message().find("no dialect describes"),
                absl::string_view::npos)
          << spec.status();
    }
  }
  EXPECT_GE(read, 93);
}

}  // namespace
}  // namespace kvsim
