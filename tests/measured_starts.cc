#include "tests/measured_starts.h"

#include <fstream>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

constexpr char kFp8[] = R"({"quantization_config": {"quant_method": "fp8"}})";
constexpr char kInt4[] = R"({"quantization_config": {"quant_method": "gptq",
                            "bits": 4, "group_size": 128}})";
// The vision tower of Qwen3.5 to 3.8 and of Gemma 4, which the catalogue's text
// parts leave out.
constexpr char kTower[] = R"({"vision_config": {"num_hidden_layers": 27,
    "hidden_size": 1152, "intermediate_size": 4304}})";
constexpr char kFp32[] = R"({"torch_dtype": "float32"})";

// A dense config in the fields that count here.
std::string Dense(int64_t layers, int64_t hidden, int64_t width, int64_t heads,
                  int64_t kv_heads, int64_t head_dim, int64_t vocabulary,
                  bool tied) {
  return absl::StrCat(
      R"({"model_type": "llama", "torch_dtype": "bfloat16", )",
      R"("num_hidden_layers": )", layers, R"(, "hidden_size": )", hidden,
      R"(, "intermediate_size": )", width, R"(, "num_attention_heads": )",
      heads, R"(, "num_key_value_heads": )", kv_heads, R"(, "head_dim": )",
      head_dim, R"(, "vocab_size": )", vocabulary,
      R"(, "tie_word_embeddings": )", tied ? "true" : "false", "}");
}

// The same with a vision tower beside it: layers, width and its feed-forward.
std::string WithTower(std::string config, int64_t layers, int64_t hidden,
                      int64_t width, bool gated = false) {
  config.pop_back();
  return absl::StrCat(config, R"(, "vision_config": {"num_hidden_layers": )",
                      layers, R"(, "hidden_size": )", hidden,
                      R"(, "intermediate_size": )", width,
                      gated ? R"(, "hidden_act": "silu")" : "", "}}");
}

std::string WithSiglip(std::string config) {
  return WithTower(std::move(config), 27, 1152, 4304);
}

constexpr char kKimiVl[] = R"({"model_type": "deepseek_v3",
    "torch_dtype": "bfloat16", "num_hidden_layers": 27, "hidden_size": 2048,
    "intermediate_size": 11264, "moe_intermediate_size": 1408,
    "n_routed_experts": 64, "num_experts_per_tok": 6, "n_shared_experts": 2,
    "first_k_dense_replace": 1, "moe_layer_freq": 1,
    "num_attention_heads": 16, "num_key_value_heads": 16,
    "kv_lora_rank": 512, "q_lora_rank": null, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840,
    "tie_word_embeddings": false})";

constexpr char kQwenMoe[] = R"({"model_type": "qwen2_moe",
    "torch_dtype": "bfloat16", "num_hidden_layers": 24, "hidden_size": 2048,
    "intermediate_size": 5632, "moe_intermediate_size": 1408,
    "num_experts": 60, "num_experts_per_tok": 4,
    "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1,
    "num_attention_heads": 16, "num_key_value_heads": 16,
    "vocab_size": 151936, "tie_word_embeddings": false})";

// What a repository's config.json says: a name in the catalogue or the fields.
// Towers beside a language model are not in it.
std::string ConfigOf(const std::string& repository) {
  static const auto* const kConfigs = new std::map<std::string, std::string>{
      {"codellama/CodeLlama-7b-hf",
       Dense(32, 4096, 11008, 32, 32, 128, 32016, false)},
      {"deepseek-ai/DeepSeek-V2-Lite-Chat", "deepseek-v2-lite"},
      {"RedHatAI/Llama-3.3-70B-Instruct-fp8-dynamic", "llama-3.3-70b"},
      {"redhatai/Llama-3.3-70B-Instruct-quantized.w8a8", "llama-3.3-70b"},
      {"RedHatAI/Qwen2.5-7B-Instruct-fp8-dynamic", "qwen2.5-7b"},
      {"RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8", "qwen2.5-7b"},
      {"Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"},
      {"Qwen/Qwen2.5-72B-Instruct", "qwen2.5-72b"},
      {"moonshotai/Kimi-Dev-72B", "qwen2.5-72b"},
      {"google/gemma-2-27b-it", "gemma-2-27b"},
      {"google/gemma-2-2b-it", Dense(26, 2304, 9216, 8, 4, 256, 256000, true)},
      {"google/gemma-2-9b-it",
       Dense(42, 3584, 14336, 16, 8, 256, 256000, true)},
      {"google/gemma-3-12b-it",
       WithSiglip(Dense(48, 3840, 15360, 16, 8, 256, 262208, true))},
      {"google/gemma-3-27b-it",
       WithSiglip(Dense(62, 5376, 21504, 32, 16, 128, 262208, true))},
      {"google/gemma-3-4b-it",
       WithSiglip(Dense(34, 2560, 10240, 8, 4, 256, 262208, true))},
      {"google/gemma-7b", Dense(28, 3072, 24576, 16, 16, 256, 256000, true)},
      {"ibm-granite/granite-3.1-2b-instruct",
       Dense(40, 2048, 8192, 32, 8, 64, 49155, true)},
      {"ibm-granite/granite-3.1-8b-instruct",
       Dense(40, 4096, 12800, 32, 8, 128, 49155, true)},
      {"ibm-granite/granite-3.3-8b-instruct",
       Dense(40, 4096, 12800, 32, 8, 128, 49159, true)},
      {"ibm-granite/granite-vision-3.3-2b",
       WithSiglip(Dense(40, 2048, 8192, 32, 8, 64, 49156, true))},
      {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b"},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "llama-3.1-8b"},
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"},
      // Two matrices of 10,240, which weigh as three of 6,827.
      {"microsoft/phi-2", Dense(32, 2560, 6827, 32, 32, 80, 51200, false)},
      {"microsoft/phi-4", "phi-4"},
      {"mistralai/Mistral-Small-3.1-24B-Instruct-2503",
       WithTower(Dense(40, 5120, 32768, 32, 8, 128, 131072, false), 24, 1024,
                 4096, true)},
      {"RedHatAI/Mistral-Small-3.1-24B-Instruct-2503-quantized.w8a8",
       WithTower(Dense(40, 5120, 32768, 32, 8, 128, 131072, false), 24, 1024,
                 4096, true)},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
      {"moonshotai/Kimi-VL-A3B-Instruct", WithSiglip(kKimiVl)},
      {"openai/gpt-oss-20b", "gpt-oss-20b"},
      {"Qwen/Qwen1.5-MoE-A2.7B", kQwenMoe},
      {"Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"},
      {"Qwen/Qwen3-8B", "qwen3-8b"},
  };
  const auto found = kConfigs->find(repository);
  return found == kConfigs->end() ? "" : found->second;
}

// How its weights are stored, by the log's own words.
std::string OverridesOf(const std::string& quantization,
                        const std::string& dtype) {
  if (quantization == "fp8" || quantization == "compressed-tensors") {
    return kFp8;
  }
  if (quantization == "gptq_marlin") return kInt4;
  return dtype == "torch.float32" ? kFp32 : "";
}

// Columns of a row by the names of the first.
using Row = std::map<std::string, std::string>;

absl::StatusOr<MeasuredStart> StartOf(const Row& row) {
  const auto number = [&](const std::string& column) {
    double value = 0;
    const bool is_number = absl::SimpleAtod(row.at(column), &value);
    return is_number ? value : 0.0;
  };
  MeasuredStart start;
  start.name = absl::StrCat(row.at("model"), " ", row.at("dtype").substr(6),
                            " TP", row.at("tp"), " PP", row.at("pp"));
  start.model = ConfigOf(row.at("model"));
  if (start.model.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no config is known of '", row.at("model"), "'"));
  }
  start.overrides = OverridesOf(row.at("quantization"), row.at("dtype"));
  start.version = "0.19.0";
  start.gpu_gib = number("init_total_memory_gib");
  start.utilization = number("gpu_memory_utilization");
  start.tensor = static_cast<int64_t>(number("tp"));
  start.pipeline = static_cast<int64_t>(number("pp"));
  start.weights = number("weights_memory_gib");
  start.activations = number("activation_memory_gib");
  start.non_torch = number("non_torch_forward_gib");
  start.cuda_graphs = number("cuda_graph_estimated_gib");
  start.kv = number("kv_cache_memory_gib");
  return start;
}

}  // namespace

absl::StatusOr<ModelSpec> ModelOf(const MeasuredStart& start) {
  if (start.model[0] != '{') return LoadModel(start.model, start.overrides);
  return ReadModelConfig(start.model, start.name, start.overrides);
}

absl::StatusOr<std::vector<MeasuredStart>> ReadMeasuredStarts(
    const std::string& csv) {
  std::ifstream file(csv);
  std::string line;
  if (!std::getline(file, line)) {
    return absl::NotFoundError(absl::StrCat(csv, ": cannot be read"));
  }
  const std::vector<std::string> columns = absl::StrSplit(line, ',');
  std::vector<MeasuredStart> starts;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    if (cells.size() != columns.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(csv, ": ", cells.size(), " cells in '", line, "'"));
    }
    Row row;
    for (size_t i = 0; i < cells.size(); ++i) row[columns[i]] = cells[i];
    if (row["status"] != "ok") continue;
    absl::StatusOr<MeasuredStart> start = StartOf(row);
    if (!start.ok()) return start.status();
    starts.push_back(*std::move(start));
  }
  return starts;
}

// Memory lines of public start-up logs. Totals of cards: the engine's, or the
// sum of the printed parts over the utilization where they differ.
std::vector<MeasuredStart> MeasuredStarts() {
  std::vector<MeasuredStart> starts;
  const auto add = [&](MeasuredStart start) { starts.push_back(start); };
  // llm-d-planner, H100 of 79.19 GiB: its page of measured starts, v0.11, and
  // its sweep over versions of Qwen3-14B.
  add({.name = "0.11 H100 gpt-oss-20b",
       .model = "gpt-oss-20b",
       .version = "0.11.0",
       .weights = 13.47,
       .activations = 7.38,
       .non_torch = 0.13,
       .kv = 50.28});
  add({.name = "0.11 H100 gpt-oss-120b",
       .model = "gpt-oss-120b",
       .version = "0.11.0",
       .utilization = 0.95,
       .weights = 64.38,
       .activations = 7.38,
       .non_torch = 0.13,
       .kv = 3.33});
  add({.name = "0.11 H100 Llama-3.3-70B fp8 TP2",
       .model = "llama-3.3-70b",
       .overrides = kFp8,
       .version = "0.11.0",
       .tensor = 2,
       .weights = 33.88,
       .activations = 4.84,
       .non_torch = 0.55,
       .kv = 32.00});
  add({.name = "0.11 H100 Llama-3.1-8B",
       .model = "llama-3.1-8b",
       .version = "0.11.0",
       .weights = 14.99,
       .activations = 4.76,
       .non_torch = 0.13,
       .kv = 51.38});
  add({.name = "0.11 H100 Qwen3-0.6B",
       .model = "qwen3-0.6b",
       .version = "0.11.0",
       .weights = 1.12,
       .activations = 5.56,
       .non_torch = 0.13,
       .kv = 64.45});
  add({.name = "0.11 H100 Qwen3-32B",
       .model = "qwen3-32b",
       .version = "0.11.0",
       .weights = 61.03,
       .activations = 5.64,
       .non_torch = 0.14,
       .kv = 4.45});
  add({.name = "0.11 H100 Qwen3-32B TP2",
       .model = "qwen3-32b",
       .version = "0.11.0",
       .tensor = 2,
       .weights = 30.59,
       .activations = 5.64,
       .non_torch = 0.54,
       .kv = 34.49});
  add({.name = "0.16 H100 Qwen3-14B",
       .model = "qwen3-14b",
       .version = "0.16.0",
       .utilization = 0.95,
       .weights = 27.52,
       .activations = 5.64,
       .non_torch = 0.13,
       .kv = 41.94});
  add({.name = "0.17 H100 Qwen3-14B",
       .model = "qwen3-14b",
       .version = "0.17.0",
       .utilization = 0.95,
       .weights = 27.52,
       .activations = 2.23,
       .non_torch = 0.13,
       .kv = 45.34});
  add({.name = "0.18 H100 Qwen3-14B",
       .model = "qwen3-14b",
       .version = "0.18.0",
       .utilization = 0.95,
       .weights = 27.52,
       .activations = 2.23,
       .non_torch = 0.25,
       .kv = 45.23});
  // Logs of other cards.
  add({.name = "0.11 H200 Qwen3-Next-80B TP2",
       .model = "qwen3-next-80b",
       .version = "0.11.0",
       .gpu_gib = 139.80,
       .tensor = 2,
       .weights = 74.28,
       .activations = 5.58,
       .non_torch = 1.38,
       .kv = 44.59});
  add({.name = "0.14 48 GB Ada Qwen3-8B",
       .model = "qwen3-8b",
       .version = "0.14.0",
       .gpu_gib = 47.38,
       .sm = 89,
       .fast_link = false,
       .weights = 15.27,
       .activations = 1.40,
       .non_torch = 0.03,
       .kv = 25.94});
  add({.name = "0.10 L40S Qwen3-235B fp8 TP4 EP8",
       .model = "qwen3-235b-a22b",
       .overrides = kFp8,
       .version = "0.10.2",
       .gpu_gib = 44.41,
       .sm = 89,
       .fast_link = false,
       .tensor = 4,
       .weights = 27.72,
       .activations = 1.40,
       .non_torch = 0.21,
       .kv = 10.64,
       .whole_model = false});
  add({.name = "0.16 RTX PRO 6000 MiniMax-M2.5 TP4",
       .model = "minimax-m2.5",
       .version = "0.16.0",
       .gpu_gib = 94.97,
       .sm = 120,
       .fast_link = false,
       .tensor = 4,
       .weights = 53.75,
       .kv = 23.62});
  add({.name = "0.20 RTX PRO 6000 GLM-5.1 NVFP4 TP8",
       .model = "glm-5.1",
       .overrides = R"({"quantization_config": {"quant_method": "modelopt",
                        "quant_algo": "NVFP4"}})",
       .version = "0.20.0",
       .gpu_gib = 94.97,
       .sm = 120,
       .fast_link = false,
       .utilization = 0.865,
       .tensor = 8,
       .sequences = 64,
       .weights = 55.67,
       .kv = 19.55});
  add({.name = "0.20 RTX PRO 6000 Qwen3-235B fp8 TP4",
       .model = "qwen3-235b-a22b",
       .overrides = kFp8,
       .version = "0.20.0",
       .gpu_gib = 95.0,
       .sm = 120,
       .fast_link = false,
       .tensor = 4,
       .sequences = 32,
       .weights = 55.19,
       .activations = 0.76,
       .non_torch = 1.70,
       .kv = 27.85});
  // LLMServingSim's recorded run.
  add({.name = "0.19 RTX 4090 Llama-3.1-8B",
       .model = "llama-3.1-8b",
       .version = "0.19.0",
       .gpu_gib = 23.517,
       .sm = 89,
       .fast_link = false,
       .batch_tokens = 2048,
       .sequences = 256,
       .weights = 14.99,
       .kv = 5.05});
  add({.name = "0.2x 95 GiB Qwen3.8-27B",
       .model = "qwen3.6-27b",
       .overrides = kTower,
       .version = "0.22.0",
       .gpu_gib = 95.0,
       .sm = 120,
       .fast_link = false,
       .weights = 51.1,
       .cuda_graphs = 0.76,
       .kv = 29.48});
  add({.name = "0.26 B300 gemma-4-31B",
       .model = "gemma-4-31b",
       .overrides = kTower,
       .version = "0.26.0",
       .gpu_gib = 267.69,
       .sm = 103,
       .utilization = 0.92,
       .weights = 58.99,
       .activations = 3.90,
       .non_torch = 0.25,
       .cuda_graphs = 0.76,
       .kv = 182.37});
  add({.name = "0.31 A100-80 Llama-3.1-8B",
       .model = "llama-3.1-8b",
       .version = "0.31.0",
       .gpu_gib = 79.25,
       .sm = 80,
       .utilization = 0.92,
       .weights = 14.99,
       .activations = 1.21,
       .non_torch = 0.27,
       .cuda_graphs = 0.23,
       .kv = 56.21});
  add({.name = "0.2x H200 GLM-5.3-Flash TP8",
       .model = "glm-5.3-flash",
       .version = "0.28.0",
       .gpu_gib = 139.80,
       .tensor = 8,
       .weights = 38.24,
       .activations = 2.84,
       .non_torch = 1.74,
       .cuda_graphs = 1.2,
       .kv = 81.79});
  add({.name = "0.2x B300 DeepSeek-V4-Flash and draft",
       .model = "deepseek-v4-flash",
       .version = "0.28.0",
       .gpu_gib = 267.69,
       .sm = 103,
       .utilization = 0.92,
       .weights = 156.32,
       .non_torch = 0.23,
       .kv = 86.74,
       .whole_model = false});
  add({.name = "0.2x GB10 DeepSeek-V4-Flash and draft TP4",
       .model = "deepseek-v4-flash",
       .version = "0.28.0",
       .gpu_gib = 121.62,
       .sm = 121,
       .fast_link = false,
       .utilization = 0.8,
       .tensor = 4,
       .weights = 42.46,
       .non_torch = 2.43,
       .kv = 50.57,
       .whole_model = false});
  add({.name = "0.2x GB10 DeepSeek-V4-Flash TP4",
       .model = "deepseek-v4-flash",
       .version = "0.28.0",
       .gpu_gib = 121.62,
       .sm = 121,
       .fast_link = false,
       .utilization = 0.7,
       .tensor = 4,
       .weights = 40.55,
       .non_torch = 0.13,
       .kv = 42.43});
  add({.name = "0.2x GB10 DeepSeek-V4-Flash and draft TP2",
       .model = "deepseek-v4-flash",
       .version = "0.28.0",
       .gpu_gib = 121.62,
       .sm = 121,
       .fast_link = false,
       .utilization = 0.87,
       .tensor = 2,
       .weights = 80.84,
       .non_torch = 5.72,
       .kv = 17.14,
       .whole_model = false});
  add({.name = "0.2x Strix Halo Qwen3.8-27B",
       .model = "qwen3.6-27b",
       .overrides = kTower,
       .version = "0.28.0",
       .gpu_gib = 80.0,
       .sm = 0,
       .fast_link = false,
       .utilization = 0.92,
       .weights = 51.66,
       .kv = 19.54,
       .consumed = true});
  add({.name = "0.2x 3090 Qwen3.8-27B int4",
       .model = "qwen3.6-27b",
       .overrides = kInt4,
       .version = "0.28.0",
       .gpu_gib = 23.56,
       .sm = 86,
       .fast_link = false,
       .utilization = 0.972,
       .weights = 14.73,
       .kv = 7.08,
       .consumed = true,
       .whole_model = false});
  // V0, which profiles a whole prompt until its chunks begin above 32K.
  add({.name = "V0 0.6.5 80 GB Llama-3.1-8B",
       .model = "llama-3.1-8b",
       .version = "0.6.5",
       .gpu_gib = 79.14,
       .sm = 80,
       .batch_tokens = 2048,
       .sequences = 256,
       .weights = 14.99,
       .activations = 1.19,
       .non_torch = 0.12,
       .kv = 54.93});
  add({.name = "V0 0.7 L40S Qwen2.5-Math-1.5B",
       .model = "qwen2.5-1.5b",
       .version = "0.7.0",
       .gpu_gib = 44.39,
       .sm = 89,
       .fast_link = false,
       .utilization = 0.85,
       .batch_tokens = 4096,
       .sequences = 256,
       .weights = 2.88,
       .activations = 1.40,
       .non_torch = 0.08,
       .kv = 33.37});
  add({.name = "V0 0.7 T4 Qwen2.5-1.5B",
       .model = "qwen2.5-1.5b",
       .version = "0.7.0",
       .gpu_gib = 14.56,
       .sm = 75,
       .fast_link = false,
       .utilization = 0.5,
       .batch_tokens = 32768,
       .sequences = 256,
       .weights = 2.89,
       .activations = 2.02,
       .non_torch = 0.01,
       .kv = 2.36});
  add({.name = "V0 0.7 A100-40 Phi-4-mini",
       .model = "phi-4-mini",
       .version = "0.7.0",
       .gpu_gib = 39.57,
       .sm = 80,
       .batch_tokens = 2048,
       .sequences = 256,
       .weights = 7.17,
       .activations = 1.83,
       .non_torch = 0.01,
       .kv = 26.60});
  add({.name = "V0 0.7 3090 Qwen2.5-7B",
       .model = "qwen2.5-7b",
       .version = "0.7.0",
       .gpu_gib = 23.57,
       .sm = 86,
       .fast_link = false,
       .batch_tokens = 2048,
       .sequences = 256,
       .weights = 14.25,
       .activations = 1.09,
       .non_torch = 0.10,
       .kv = 5.77});
  add({.name = "V0 0.8 80 GB Phi-4 int4",
       .model = "phi-4",
       .overrides = kInt4,
       .version = "0.7.3",
       .gpu_gib = 78.70,
       .sm = 80,
       .utilization = 0.7,
       .batch_tokens = 2048,
       .sequences = 256,
       .weights = 8.63,
       .activations = 1.16,
       .non_torch = 0.09,
       .kv = 45.21});
  add({.name = "V0 0.8.5 22 GB R1-Qwen3-8B TP4",
       .model = "qwen3-8b",
       .version = "0.7.3",
       .gpu_gib = 21.49,
       .sm = 86,
       .fast_link = false,
       .utilization = 0.93,
       .tensor = 4,
       .batch_tokens = 2048,
       .sequences = 256,
       .weights = 3.85,
       .activations = 1.45,
       .non_torch = 0.20,
       .kv = 14.49});
  return starts;
}

}  // namespace kvsim
