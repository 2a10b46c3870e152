#include "sim/step_rates_for_test.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/model_loader.h"
#include "sim/model_roofline.h"

namespace kvsim {
namespace {

struct Row {
  std::string engine, config, gpu, precision;
  int64_t in = 0, out = 0, batch = 0, tensor = 0;
  double tpot_ms = 0;
};

// Measured models and the configs that have their shapes. DeepSeek R1, V3 and
// V3.1 are one architecture.
const std::map<std::string, std::string>& Configs() {
  static const auto* const configs = new std::map<std::string, std::string>{
      {"MiniMaxAI/MiniMax-M2.5", "MiniMax-M2.5"},
      {"Qwen/Qwen3-235B-A22B-FP8", "Qwen3-235B-A22B"},
      {"Qwen/Qwen3-32B", "Qwen3-32B"},
      {"Qwen/Qwen3.5-397B-A17B", "Qwen3.5-397B-A17B"},
      {"deepseek-ai/DeepSeek-R1", "DeepSeek-V3"},
      {"deepseek-ai/DeepSeek-V3", "DeepSeek-V3"},
      {"meta-llama/Llama-3.1-70B", "Llama-3.1-70B"},
      {"meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"},
      {"moonshotai/Kimi-K2.5", "Kimi-K2.5"},
      {"nvidia/DeepSeek-R1-NVFP4", "DeepSeek-V3"},
      {"nvidia/DeepSeek-V3.1-NVFP4", "DeepSeek-V3"},
      {"nvidia/Llama-3.1-8B-Instruct-FP8", "Llama-3.1-8B"},
      {"nvidia/Qwen3-32B-NVFP4", "Qwen3-32B"},
      {"openai/gpt-oss-120b", "gpt-oss-120b"},
      {"zhipuai/GLM-5", "GLM-5"},
  };
  return *configs;
}

// Columns: backend, version, model, system, precision, isl, osl, batch, tp, pp,
// attention dp, moe tp, moe ep, ttft_ms, tpot_ms.
std::optional<Row> ReadRow(const std::string& line) {
  const std::vector<std::string> f = absl::StrSplit(line, ',');
  if (f.size() != 15) return std::nullopt;
  const auto config = Configs().find(f[2]);
  const auto one = [](const std::string& text) {
    return text.empty() || text == "1";
  };
  const bool plain = one(f[9]) && one(f[10]) &&
                     (f[11] == f[8] || f[11] == "0" || f[12] == f[8] ||
                      (f[11] == "1" && f[12] == "1"));
  Row row;
  if (config == Configs().end() || !plain || !absl::SimpleAtoi(f[5], &row.in) ||
      !absl::SimpleAtoi(f[6], &row.out) ||
      !absl::SimpleAtoi(f[7], &row.batch) ||
      !absl::SimpleAtoi(f[8], &row.tensor) ||
      !absl::SimpleAtod(f[14], &row.tpot_ms) || row.tpot_ms <= 0) {
    return std::nullopt;
  }
  row.engine = f[0] == "trtllm" ? "tensorrt-llm" : f[0];
  row.config = config->second;
  row.gpu = f[3].substr(0, f[3].find('_'));
  row.precision = f[4].empty() ? "bf16" : f[4];
  if (row.config == "gpt-oss-120b" && row.gpu == "h100" && row.batch == 512) {
    return std::nullopt;
  }
  return row;
}

// The config's weights in the precision that was measured.
ModelSpec AtPrecision(ModelSpec spec, const std::string& precision) {
  QuantizationSpec& q = spec.quantization;
  if (spec.model_type == "gpt_oss") return spec;  // MXFP4 as published
  if (precision == "bf16") q.weight_dtype = q.expert_dtype = DType::kBf16;
  if (precision == "fp8") q.weight_dtype = q.expert_dtype = DType::kFp8;
  if (precision == "fp4") q.weight_dtype = q.expert_dtype = DType::kNvfp4;
  if (precision == "int4") {
    q.weight_dtype = DType::kBf16;
    q.expert_dtype = DType::kInt4;
  }
  return spec;
}

// A BF16 cache; MLA rows are replicated, heads are split while there are any;
// an index key takes 132 bytes.
double KvBytesPerTokenPerRank(const ModelSpec& spec, int64_t tensor) {
  double bytes = 0;
  for (const LayerSpec& layer : spec.layers) {
    for (const AttentionSpec& a : layer.attention) {
      if (a.kind == AttentionKind::kMla) {
        bytes += 2.0 * static_cast<double>(a.kv_lora_rank + a.qk_rope_head_dim);
      } else {
        bytes += 2.0 *
                 static_cast<double>(a.kv_heads * (a.head_dim + a.head_dim_v)) /
                 static_cast<double>(std::min(tensor, a.kv_heads));
      }
      if (a.indexer.kind == IndexerKind::kFull) bytes += 132;
    }
  }
  return bytes;
}

absl::StatusOr<MeasuredLoad> LoadOf(const Row& row,
                                    const ModelSpec& published) {
  const absl::StatusOr<Gpu> gpu = FindGpu(row.gpu);
  if (!gpu.ok()) return gpu.status();
  const ModelSpec spec = AtPrecision(published, row.precision);
  MeasuredLoad load;
  load.engine = row.engine;
  load.architecture = row.config;
  load.weights = row.precision;
  load.model = RooflineModelOf(spec, row.tensor,
                               KvBytesPerTokenPerRank(spec, row.tensor));
  load.gpu = RooflineGpuOf(*gpu, spec);
  const auto batch = static_cast<double>(row.batch);
  const auto in = static_cast<double>(row.in);
  const auto out = static_cast<double>(row.out);
  load.load = {.decode_tokens = batch,
               .decode_context = batch * (in + out / 2),
               .prefill_tokens = batch * in / out,
               .routed_tokens = row.batch};
  load.seconds = row.tpot_ms * 1e-3;
  return load;
}

}  // namespace

absl::StatusOr<std::vector<MeasuredLoad>> ReadMeasuredLoads(
    const std::string& shared) {
  std::ifstream in(absl::StrCat(shared, "/facts/measured_step_rates.csv"));
  std::map<std::string, ModelSpec> specs;
  std::set<std::string> seen;
  std::vector<MeasuredLoad> loads;
  std::string line;
  while (std::getline(in, line)) {
    const std::optional<Row> row = ReadRow(line);
    if (!row.has_value() || !seen.insert(line).second) continue;
    if (!specs.contains(row->config)) {
      absl::StatusOr<ModelSpec> spec =
          LoadModel(absl::StrCat(shared, "/models/", row->config, ".json"));
      if (!spec.ok()) return spec.status();
      specs.emplace(row->config, *std::move(spec));
    }
    absl::StatusOr<MeasuredLoad> load = LoadOf(*row, specs.at(row->config));
    if (!load.ok()) return load.status();
    loads.push_back(*std::move(load));
  }
  return loads;
}

}  // namespace kvsim
