// K/V bytes per token of the catalogue against a public gallery of
// architectures, which prints KiB in bf16 over all layers, windows, states and
// index keys left out. Where the gallery counts otherwise, its figure stands
// beside ours with the cause.

#include <gtest/gtest.h>

#include <string>

#include "models/main_kib.h"
#include "models/model_loader.h"
#include "models/printed_figure.h"

namespace kvsim {
namespace {

TEST(KibPerTokenTest, AgreesWithTheGallery) {
  struct Row {
    const char* model;
    const char* kib;
  };
  for (const Row& row :
       {Row{"llama-3.1-8b", "128"},    Row{"deepseek-v3", "68.6"},
        Row{"deepseek-r1", "68.6"},    Row{"deepseek-v3.2", "68.6"},
        Row{"kimi-k2", "68.6"},        Row{"kimi-k2.5", "68.6"},
        Row{"gemma-3-27b", "496"},     Row{"llama-4-maverick", "192"},
        Row{"qwen3-235b-a22b", "188"}, Row{"qwen3-32b", "256"},
        Row{"qwen3-8b", "144"},        Row{"glm-4.5", "368"},
        Row{"glm-4.7", "368"},         Row{"gpt-oss-120b", "72"},
        Row{"gpt-oss-20b", "48"},      Row{"qwen3-next-80b", "24"},
        Row{"minimax-m2.5", "248"},    Row{"kimi-linear-48b", "7.9"},
        Row{"olmo-3.1-32b", "256"},    Row{"olmo-3-7b", "512"},
        Row{"nemotron-3-nano", "6"},   Row{"nemotron-3-super", "8"},
        Row{"glm-5", "87.8"},          Row{"glm-5.1", "87.8"},
        Row{"phi-4", "200"},           Row{"qwen3.5-397b-a17b", "30"},
        Row{"qwen3.6-35b-a3b", "20"},  Row{"qwen3.6-27b", "64"},
        Row{"deepseek-v4-pro", "7.7"}, Row{"deepseek-v4-flash", "5.4"}}) {
    EXPECT_TRUE(PrintsAs(MainKibPerToken(*LoadModel(row.model)), row.kib))
        << row.model << " " << MainKibPerToken(*LoadModel(row.model));
  }
}

TEST(KibPerTokenTest, DiffersForKnownCauses) {
  struct Row {
    const char* model;
    const char* ours;
    const char* gallery;
  };
  for (const Row& row :
       {// The gallery counts layers whose K and V share a projection once;
        // allocators keep both.
        Row{"gemma-4-31b", "880", "840"}, Row{"gemma-4-26b-a4b", "220", "210"},
        // It ignores windowed layers' own KV heads and V of 128, and counts
        // 40 + 8 layers where the config has 39 + 9.
        Row{"mimo-v2-flash", "217.5", "144"},
        // It counts the three prediction layers.
        Row{"step-3.5-flash", "180", "192"}}) {
    EXPECT_TRUE(PrintsAs(MainKibPerToken(*LoadModel(row.model)), row.ours))
        << row.model;
    EXPECT_FALSE(PrintsAs(MainKibPerToken(*LoadModel(row.model)), row.gallery))
        << row.model;
  }
}

}  // namespace
}  // namespace kvsim
