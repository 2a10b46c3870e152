// Public config.json files against the catalogue and against figures others
// computed from them.
//
// The files are not part of the project: the test reads them from the folder
// models/ of $KVSIM_SHARED and is skipped without it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "models/layout_builder.h"
#include "models/main_kib.h"
#include "models/model_loader.h"
#include "models/parameter_count.h"
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

// The rest of the catalogue; cache and weights of a file may be quantized where
// the entry is the plain model, so both are laid out in bf16.
TEST_F(PublicConfigsTest, CatalogueKeepsWhatThePublishedFilesSay) {
  struct Pair {
    const char* name;
    const char* file;
  };
  const LayoutOptions options = {.kv_cache_dtype = KvCacheDtype::kBf16};
  for (const Pair& pair :
       {Pair{"llama-2-70b", "Llama-2-70b-hf"},
        Pair{"codellama-34b", "CodeLlama-34b"},
        Pair{"llama-3.3-70b", "Llama-3.3-70B-Instruct"},
        Pair{"llama-3.1-405b", "Llama-3.1-405B"},
        Pair{"yi-34b", "Yi-34B"},
        Pair{"mistral-7b-v0.3", "Mistral-7B-v0.3"},
        Pair{"mistral-nemo-12b", "Mistral-Nemo-12B"},
        Pair{"qwen2.5-1.5b", "Qwen2.5-1.5B"},
        Pair{"qwen2.5-7b", "Qwen2.5-7B"},
        Pair{"qwen2.5-14b", "Qwen2.5-14B"},
        Pair{"qwen2.5-32b", "Qwen2.5-32B"},
        Pair{"qwen2.5-72b", "Qwen2.5-72B"},
        Pair{"qwen3-0.6b", "Qwen3-0.6B"},
        Pair{"qwen3-1.7b", "Qwen3-1.7B"},
        Pair{"qwen3-4b", "Qwen3-4B"},
        Pair{"qwen3-14b", "Qwen3-14B"},
        Pair{"qwen3-32b", "Qwen3-32B"},
        Pair{"seed-oss-36b", "Seed-OSS-36B"},
        Pair{"phi-3-mini-4k", "Phi-3-mini-4k-instruct"},
        Pair{"phi-4", "phi-4"},
        Pair{"phi-4-mini", "Phi-4-mini-instruct"},
        Pair{"gemma-2-27b", "gemma-2-27b"},
        Pair{"gemma-3-1b", "gemma-3-1b-it"},
        Pair{"gemma-4-31b", "gemma-4-31B-it-NVFP4"},
        Pair{"olmo-3-7b", "Olmo-3-7B"},
        Pair{"olmo-3.1-32b", "Olmo-3.1-32B-Instruct"},
        Pair{"exaone-4.0-32b", "EXAONE-4.0-32B"},
        Pair{"command-a", "c4ai-command-a-03-2025"},
        Pair{"mimo-7b", "MiMo-7B-Base"},
        Pair{"muse-glimmer-30b", "Muse-Glimmer-30B"},
        Pair{"starcoder", "starcoder"},
        Pair{"starcoder2-7b", "starcoder2-7b"},
        Pair{"falcon-7b", "falcon-7b"},
        Pair{"falcon-40b", "falcon-40b"},
        Pair{"gpt2", "gpt2"},
        Pair{"bloom", "bloom"},
        Pair{"whisper-large-v3", "Whisper-large-v3"},
        Pair{"t5-small", "t5-small"},
        Pair{"mixtral-8x7b", "Mixtral-8x7B-v0.1"},
        Pair{"mixtral-8x22b", "Mixtral-8x22B-v0.1"},
        Pair{"qwen3-30b-a3b", "Qwen3-30B-A3B"},
        Pair{"qwen3-235b-a22b", "Qwen3-235B-A22B"},
        Pair{"qwen3-coder-480b", "Qwen3-Coder-480B-A35B-Instruct"},
        Pair{"qwen3-vl-235b", "Qwen3-VL-235B-A22B-Instruct"},
        Pair{"glm-4.5", "GLM-4.5"},
        Pair{"glm-4.6", "GLM-4.6"},
        Pair{"glm-4.7", "GLM-4.7"},
        Pair{"minimax-m2.5", "MiniMax-M2.5"},
        Pair{"minimax-m2.7", "MiniMax-M2.7"},
        Pair{"minimax-m3", "MiniMax-M3-NVFP4"},
        Pair{"gpt-oss-20b", "gpt-oss-20b"},
        Pair{"llama-4-scout", "Llama-4-Scout-17B-16E-Instruct"},
        Pair{"llama-4-maverick", "Llama-4-Maverick-17B-128E-Instruct"},
        Pair{"mimo-v2-flash", "MiMo-V2-Flash"},
        Pair{"step-3", "Step-3"},
        Pair{"step-3.5-flash", "Step-3.5-Flash"},
        Pair{"hunyuan-a13b", "Hunyuan-A13B"},
        Pair{"hy3", "Hy3"},
        Pair{"gemma-4-26b-a4b", "gemma-4-26B-A4B"},
        Pair{"laguna-s-2.1", "Laguna-S-2.1-FP8"},
        Pair{"laguna-xs.2", "Laguna-XS.2-FP8"},
        Pair{"inkling", "Inkling"},
        Pair{"deepseek-v2-lite", "DeepSeek-V2-Lite"},
        Pair{"deepseek-v2", "DeepSeek-V2"},
        Pair{"deepseek-r1", "DeepSeek-R1"},
        Pair{"deepseek-v3.1", "DeepSeek-V3.1"},
        Pair{"kimi-k2", "Kimi-K2-Instruct"},
        Pair{"kimi-k2-thinking", "Kimi-K2-Thinking"},
        Pair{"kimi-k2.5", "Kimi-K2.5"},
        Pair{"glm-4.7-flash", "GLM-4.7-Flash"},
        Pair{"glm-5", "GLM-5"},
        Pair{"glm-5.1", "GLM-5.1"},
        Pair{"glm-5.3", "GLM-5.3"},
        Pair{"longcat-flash", "LongCat-Flash-Chat"},
        Pair{"hy4-preview", "Hy4-preview"},
        Pair{"qwen3.5-9b", "Qwen3.5-9B"},
        Pair{"qwen3.5-27b", "Qwen3.5-27B"},
        Pair{"qwen3.5-35b-a3b", "Qwen3.5-35B-A3B"},
        Pair{"qwen3.5-122b-a10b", "Qwen3.5-122B-A10B"},
        Pair{"qwen3.5-397b-a17b", "Qwen3.5-397B-A17B"},
        Pair{"qwen3.6-27b", "Qwen3.6-27B-NVFP4"},
        Pair{"qwen3.6-35b-a3b", "Qwen3.6-35B-A3B"},
        Pair{"qwen3.8-2.4t-a95b", "Qwen3.8-2.4T-A95B"},
        Pair{"qwen3.8-flash-next", "Qwen3.8-Flash-Next"},
        Pair{"glm-5.3-flash", "GLM-5.3-Flash"},
        Pair{"minimax-m1", "MiniMax-M1-80k"},
        Pair{"minimax-text-01", "MiniMax-Text-01"},
        Pair{"ring-mini-linear-2.0", "Ring-mini-linear-2.0"},
        Pair{"jamba-1.5-mini", "Jamba-1.5-Mini"},
        Pair{"jamba-1.5-large", "Jamba-1.5-Large"},
        Pair{"bamba-9b-v2", "Bamba-9B-v2"},
        Pair{"granite-4.0-h-small", "granite-4.0-h-small"},
        Pair{"nemotron-3-nano", "Nemotron-3-Nano-30B-A3B"},
        Pair{"nemotron-3-super", "Nemotron-3-Super-120B-A12B"},
        Pair{"nemotron-3-ultra", "Nemotron-3-Ultra-550B-A55B"},
        Pair{"nemotron-h-56b", "Nemotron-H-56B-Base-8K"},
        Pair{"nemotron-nano-9b-v2", "Nemotron-Nano-9B-v2"},
        Pair{"mamba-codestral-7b", "Mamba-Codestral-7B"}}) {
    const ModelSpec ours = *LoadModel(pair.name);
    const ModelSpec theirs = Load(pair.file);
    EXPECT_EQ(Signature(*BuildCacheLayout(ours, options)),
              Signature(*BuildCacheLayout(theirs, options)))
        << pair.name;
    EXPECT_EQ(CountParameters(ours).routed_experts,
              CountParameters(theirs).routed_experts)
        << pair.name;
    EXPECT_EQ(CountParameters(ours).attention,
              CountParameters(theirs).attention)
        << pair.name;
  }
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
        Row{"MiMo-V2-Flash", "217.5"},
        // Without the three prediction layers, which the gallery counts.
        Row{"Step-3.5-Flash", "180"},
        // Agree as printed.
        Row{"Nemotron-3-Nano-30B-A3B", "6"},
        Row{"Nemotron-3-Super-120B-A12B", "8"}, Row{"Ling-2.5-1T", "11.2"},
        Row{"Kimi-K2.6-NVFP4", "68.6"}, Row{"Llama-3.1-8B", "128"},
        Row{"MiniMax-M2.7", "248"}}) {
    EXPECT_TRUE(PrintsAs(MainKibPerToken(Load(row.file)), row.kib)) << row.file;
  }
}

// What every file keeps, read a second time by a naive script that follows the
// list of dialects: elements of K and V (or latents) per token of history over
// all layers, windowed or chunked layers and their elements per token, and
// layers with a recurrent state.
struct Kept {
  const char* file;
  double history;
  int window_layers;
  int64_t window_elements;
  int state_layers;
};

constexpr Kept kKept[] = {
    {"AFM-4.5B", 36864, 0, 0, 0},
    {"Bamba-9B-v2", 6144, 0, 0, 29},
    {"CodeLlama-34b", 98304, 0, 0, 0},
    {"DeepSeek-R1", 35136, 0, 0, 0},
    {"DeepSeek-V2-Lite", 15552, 0, 0, 0},
    {"DeepSeek-V2", 34560, 0, 0, 0},
    {"DeepSeek-V3.1", 35136, 0, 0, 0},
    {"DeepSeek-V3.2", 35136, 0, 0, 0},
    {"DeepSeek-V3", 35136, 0, 0, 0},
    {"DeepSeek-V4-Flash-FP8", 2768, 0, 0, 0},
    {"DeepSeek-V4-Flash", 2768, 0, 0, 0},
    {"DeepSeek-V4-Pro-NVFP4", 3964, 0, 0, 0},
    {"DeepSeek-V4-Pro", 3964, 0, 0, 0},
    {"EXAONE-4.0-32B", 32768, 48, 98304, 0},
    {"EXAONE-4.5-33B", 32768, 48, 98304, 0},
    {"Falcon-H1-0.5B-Instruct", 9216, 0, 0, 36},
    {"Falcon-H1-7B-Instruct", 22528, 0, 0, 44},
    {"GLM-4.5", 188416, 0, 0, 0},
    {"GLM-4.6", 188416, 0, 0, 0},
    {"GLM-4.7-Flash", 27072, 0, 0, 0},
    {"GLM-4.7", 188416, 0, 0, 0},
    {"GLM-5.1-NVFP4", 44928, 0, 0, 0},
    {"GLM-5.1", 44928, 0, 0, 0},
    {"GLM-5.2", 44928, 0, 0, 0},
    {"GLM-5.3-Flash", 5632, 0, 0, 34},
    {"GLM-5.3", 44928, 0, 0, 0},
    {"GLM-5", 44928, 0, 0, 0},
    {"Hunyuan-A13B", 65536, 0, 0, 0},
    {"Hy3", 163840, 0, 0, 0},
    {"Hy4-preview", 44928, 0, 0, 0},
    {"Inkling", 22528, 55, 225280, 0},
    {"Jamba-1.5-Large", 18432, 0, 0, 63},
    {"Jamba-1.5-Mini", 8192, 0, 0, 28},
    {"Kimi-K2-Instruct", 35136, 0, 0, 0},
    {"Kimi-K2-Thinking", 35136, 0, 0, 0},
    {"Kimi-K2.5-NVFP4", 35136, 0, 0, 0},
    {"Kimi-K2.5", 35136, 0, 0, 0},
    {"Kimi-K2.6-NVFP4", 35136, 0, 0, 0},
    {"Kimi-K2.7-Code-NVFP4", 35136, 0, 0, 0},
    {"Kimi-K3", 13824, 0, 0, 69},
    {"Kimi-Linear-48B-A3B", 4032, 0, 0, 20},
    {"Laguna-S-2.1-FP8", 24576, 36, 73728, 0},
    {"Laguna-XS.2-FP8", 20480, 30, 61440, 0},
    {"Ling-2.5-1T", 5760, 0, 0, 70},
    {"Ling-2.6-flash", 2304, 0, 0, 28},
    {"Llama-2-70b-hf", 163840, 0, 0, 0},
    {"Llama-2-7b-hf", 262144, 0, 0, 0},
    {"Llama-3.1-405B", 258048, 0, 0, 0},
    {"Llama-3.1-70B", 163840, 0, 0, 0},
    {"Llama-3.1-8B", 65536, 0, 0, 0},
    {"Llama-3.3-70B-Instruct", 163840, 0, 0, 0},
    {"Llama-3_3-Nemotron-Super-49B-v1", 100352, 0, 0, 0},
    {"Llama-4-Maverick-17B-128E-Instruct", 24576, 36, 73728, 0},
    {"Llama-4-Scout-17B-16E-Instruct", 24576, 36, 73728, 0},
    {"LongCat-Flash-Chat", 32256, 0, 0, 0},
    {"Mamba-Codestral-7B", 0, 0, 0, 64},
    {"MiMo-7B-Base", 73728, 0, 0, 0},
    {"MiMo-V2-Flash", 11520, 39, 99840, 0},
    {"MiniMax-M1-80k", 20480, 0, 0, 70},
    {"MiniMax-M2.5", 126976, 0, 0, 0},
    {"MiniMax-M2.7", 126976, 0, 0, 0},
    {"MiniMax-M3-NVFP4", 61440, 0, 0, 0},
    {"MiniMax-M3", 61440, 0, 0, 0},
    {"MiniMax-Text-01", 20480, 0, 0, 70},
    {"Mistral-7B-v0.1", 0, 32, 65536, 0},
    {"Mistral-7B-v0.3", 65536, 0, 0, 0},
    {"Mistral-Nemo-12B", 81920, 0, 0, 0},
    {"Mixtral-8x22B-v0.1", 114688, 0, 0, 0},
    {"Mixtral-8x7B-v0.1", 65536, 0, 0, 0},
    {"Muse-Glimmer-30B", 6656, 39, 19968, 0},
    {"Nemotron-3-Nano-30B-A3B", 3072, 0, 0, 23},
    {"Nemotron-3-Super-120B-A12B", 4096, 0, 0, 40},
    {"Nemotron-3-Ultra-550B-A55B", 6144, 0, 0, 48},
    {"Nemotron-3.5-Lightning-30B-A3B", 3072, 0, 0, 23},
    {"Nemotron-H-56B-Base-8K", 20480, 0, 0, 54},
    {"Nemotron-H-8B-Base-8K", 8192, 0, 0, 24},
    {"Nemotron-Nano-9B-v2", 8192, 0, 0, 27},
    {"Olmo-3-7B", 65536, 24, 196608, 0},
    {"Olmo-3.1-32B-Instruct", 32768, 48, 98304, 0},
    {"Phi-3-mini-4k-instruct", 0, 32, 196608, 0},
    {"Phi-3.5-mini-instruct", 0, 32, 196608, 0},
    {"Phi-4-mini-instruct", 0, 32, 65536, 0},
    {"Qwen2.5-1.5B", 14336, 0, 0, 0},
    {"Qwen2.5-14B", 98304, 0, 0, 0},
    {"Qwen2.5-32B", 131072, 0, 0, 0},
    {"Qwen2.5-72B", 163840, 0, 0, 0},
    {"Qwen2.5-7B", 28672, 0, 0, 0},
    {"Qwen3-0.6B", 57344, 0, 0, 0},
    {"Qwen3-1.7B", 57344, 0, 0, 0},
    {"Qwen3-14B", 81920, 0, 0, 0},
    {"Qwen3-235B-A22B", 96256, 0, 0, 0},
    {"Qwen3-30B-A3B", 49152, 0, 0, 0},
    {"Qwen3-32B-FP8", 131072, 0, 0, 0},
    {"Qwen3-32B", 131072, 0, 0, 0},
    {"Qwen3-4B", 73728, 0, 0, 0},
    {"Qwen3-8B", 73728, 0, 0, 0},
    {"Qwen3-Coder-480B-A35B-Instruct", 126976, 0, 0, 0},
    {"Qwen3-Next-80B-A3B", 12288, 0, 0, 36},
    {"Qwen3-VL-235B-A22B-Instruct", 96256, 0, 0, 0},
    {"Qwen3.5-122B-A10B", 12288, 0, 0, 36},
    {"Qwen3.5-27B", 32768, 0, 0, 48},
    {"Qwen3.5-35B-A3B", 10240, 0, 0, 30},
    {"Qwen3.5-397B-A17B", 15360, 0, 0, 45},
    {"Qwen3.5-9B", 16384, 0, 0, 24},
    {"Qwen3.6-27B-NVFP4", 32768, 0, 0, 48},
    {"Qwen3.6-35B-A3B", 10240, 0, 0, 30},
    {"Qwen3.8-2.4T-A95B", 47104, 0, 0, 69},
    {"Qwen3.8-Flash-Next", 12288, 0, 0, 36},
    {"Ring-mini-linear-2.0", 4096, 0, 0, 16},
    {"Seed-OSS-36B", 131072, 0, 0, 0},
    {"Step-3.5-Flash", 24576, 33, 67584, 0},
    {"Step-3.7-Flash", 24576, 33, 67584, 0},
    {"Step-3", 31232, 0, 0, 0},
    {"Whisper-large-v3", 81920, 0, 0, 0},
    {"Yi-34B", 122880, 0, 0, 0},
    {"bloom", 2007040, 0, 0, 0},
    {"bloomz-7b1", 245760, 0, 0, 0},
    {"c4ai-command-a-03-2025", 32768, 48, 98304, 0},
    {"c4ai-command-r-plus", 131072, 0, 0, 0},
    {"falcon-40b", 61440, 0, 0, 0},
    {"falcon-7b", 4096, 0, 0, 0},
    {"gemma-2-27b", 94208, 23, 94208, 0},
    {"gemma-3-1b-it", 2048, 22, 11264, 0},
    {"gemma-3-27b-it", 40960, 52, 212992, 0},
    {"gemma-4-26B-A4B", 10240, 25, 102400, 0},
    {"gemma-4-31B-it-NVFP4", 40960, 50, 409600, 0},
    {"gemma-4-E2B", 3072, 12, 6144, 0},
    {"gemma-4-E4B", 8192, 20, 20480, 0},
    {"gpt-oss-120b", 18432, 18, 18432, 0},
    {"gpt-oss-20b", 12288, 12, 12288, 0},
    {"gpt2", 18432, 0, 0, 0},
    {"granite-4.0-h-small", 8192, 0, 0, 36},
    {"phi-4", 102400, 0, 0, 0},
    {"santacoder-tiny-gpt_bigcode", 6144, 0, 0, 0},
    {"starcoder", 10240, 0, 0, 0},
    {"starcoder2-7b", 0, 32, 32768, 0},
    {"t5-small", 6144, 0, 0, 0},
    {"t5-v1_1-xxl", 0, 0, 0, 0},
    {"whisper-tiny", 3072, 0, 0, 0},
};

Kept Measure(const ModelSpec& spec) {
  Kept kept = {};
  const CacheLayout layout =
      *BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kBf16});
  for (const LayerCache& layer : layout.layers) {
    bool window = false, state = false;
    for (const CacheTensor& tensor : layer.tensors) {
      state |= tensor.store == CacheStore::kRecurrent;
      if (tensor.store != CacheStore::kMain) continue;
      if (tensor.GrowsWithHistory()) {
        kept.history += static_cast<double>(tensor.elements) /
                        static_cast<double>(tensor.tokens_per_entry);
      } else {
        window = true;
        kept.window_elements += tensor.elements;
      }
    }
    kept.window_layers += window;
    kept.state_layers += state;
  }
  return kept;
}

TEST_F(PublicConfigsTest, EveryFileKeepsWhatItSays) {
  for (const Kept& expected : kKept) {
    SCOPED_TRACE(expected.file);
    const Kept kept = Measure(Load(expected.file));
    EXPECT_DOUBLE_EQ(kept.history, expected.history);
    EXPECT_EQ(kept.window_layers, expected.window_layers);
    EXPECT_EQ(kept.window_elements, expected.window_elements);
    EXPECT_EQ(kept.state_layers, expected.state_layers);
  }
}

TEST_F(PublicConfigsTest, EveryFileIsInTheTable) {
  std::set<std::string> known;
  for (const Kept& expected : kKept) known.insert(expected.file);
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path().extension() != ".json") continue;
    EXPECT_EQ(known.count(file.path().stem().string()), 1u) << file.path();
  }
}

}  // namespace
}  // namespace kvsim
