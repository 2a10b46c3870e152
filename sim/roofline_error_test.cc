// How far the roofline is from measured decode steps of vLLM.
//
// The measurements (time per output token of fixed-length loads at a given
// concurrency) are not part of the project: the environment variable
// KVSIM_SHARED names the folder that holds them. docs/cost_models.md states the
// errors that this test prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/model_loader.h"
#include "sim/model_roofline.h"

namespace kvsim {
namespace {

struct Measurement {
  std::string model, precision, gpu;
  int64_t in = 0, out = 0, batch = 0, tensor = 0;
  double tpot_ms = 0;
};

// Measured model names and where their shapes are.
const std::map<std::string, std::string>& Configs() {
  static const auto* const configs = new std::map<std::string, std::string>{
      {"MiniMaxAI/MiniMax-M2.5", "MiniMax-M2.5.json"},
      {"Qwen/Qwen3-235B-A22B-FP8", "Qwen3-235B-A22B.json"},
      {"Qwen/Qwen3-32B", "Qwen3-32B.json"},
      {"meta-llama/Llama-3.1-70B", "Llama-3.1-70B.json"},
      {"moonshotai/Kimi-K2.5", "Kimi-K2.5.json"},
      {"nvidia/Llama-3.1-8B-Instruct-FP8", "Llama-3.1-8B.json"},
      {"openai/gpt-oss-120b", "gpt-oss-120b.json"},
  };
  return *configs;
}

// Columns: backend, version, model, system, precision, isl, osl, batch, tp, pp,
// attention dp, moe tp, moe ep, ttft_ms, tpot_ms. Kept are vLLM rows with plain
// tensor parallelism, each once.
std::optional<Measurement> ReadRow(const std::string& line) {
  const std::vector<std::string> f = absl::StrSplit(line, ',');
  if (f.size() != 15 || f[0] != "vllm" || Configs().count(f[2]) == 0) {
    return std::nullopt;
  }
  const bool plain = (f[10].empty() || f[10] == "1") &&
                     (f[11] == f[8] || f[11] == "0" || f[12] == f[8] ||
                      (f[11] == "1" && f[12] == "1"));
  Measurement row;
  row.model = f[2];
  row.gpu = absl::StrCat(f[3].substr(0, f[3].find('_')));
  row.precision = f[4];
  if (!plain || !absl::SimpleAtoi(f[5], &row.in) ||
      !absl::SimpleAtoi(f[6], &row.out) ||
      !absl::SimpleAtoi(f[7], &row.batch) ||
      !absl::SimpleAtoi(f[8], &row.tensor) ||
      !absl::SimpleAtod(f[14], &row.tpot_ms) || row.tpot_ms <= 0) {
    return std::nullopt;
  }
  return row;
}

std::vector<Measurement> ReadMeasurements(const std::string& path) {
  std::vector<Measurement> rows;
  std::set<std::string> seen;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    const auto row = ReadRow(line);
    if (row.has_value() && seen.insert(line).second) rows.push_back(*row);
  }
  return rows;
}

// The config's weights in the precision that was measured; "" is BF16.
ModelSpec AtPrecision(ModelSpec spec, const std::string& precision) {
  QuantizationSpec& q = spec.quantization;
  if (spec.model_type == "gpt_oss") return spec;  // MXFP4 as published
  if (precision.empty()) q.weight_dtype = q.expert_dtype = DType::kBf16;
  if (precision == "fp8") q.weight_dtype = q.expert_dtype = DType::kFp8;
  if (precision == "fp4") q.weight_dtype = q.expert_dtype = DType::kNvfp4;
  if (precision == "int4") {
    q.weight_dtype = DType::kBf16;
    q.expert_dtype = DType::kInt4;
  }
  return spec;
}

// A BF16 cache; MLA rows are replicated, heads are split while there are any.
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
    }
  }
  return bytes;
}

double PredictedMs(const ModelSpec& spec, const Measurement& row) {
  const auto gpu = FindGpu(row.gpu);
  EXPECT_TRUE(gpu.ok()) << gpu.status();
  const RooflineCost cost(
      RooflineModelOf(spec, row.tensor,
                      KvBytesPerTokenPerRank(spec, row.tensor)),
      RooflineGpuOf(*gpu, spec));
  const auto batch = static_cast<double>(row.batch);
  const auto in = static_cast<double>(row.in);
  const auto out = static_cast<double>(row.out);
  return 1e3 * cost.Seconds({.decode_tokens = batch,
                             .decode_context = batch * (in + out / 2),
                             .prefill_tokens = batch * in / out,
                             .routed_tokens = row.batch});
}

// The smallest error that `share` of the rows do not exceed.
double Quantile(std::vector<double> errors, double share) {
  std::sort(errors.begin(), errors.end());
  const auto rank =
      static_cast<size_t>(share * static_cast<double>(errors.size()));
  return errors[std::min(rank, errors.size() - 1)];
}

void PrintErrors(const std::string& name, const std::vector<double>& errors) {
  std::printf("%-44s %5zu rows  median %5.1f %%  p90 %5.1f %%\n", name.c_str(),
              errors.size(), 100 * Quantile(errors, 0.5),
              100 * Quantile(errors, 0.9));
}

TEST(RooflineErrorTest, IsThatOfThePublishedFit) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const std::vector<Measurement> rows =
      ReadMeasurements(absl::StrCat(shared, "/facts/measured_step_rates.csv"));
  ASSERT_GT(rows.size(), 900u);
  std::map<std::string, ModelSpec> specs;
  for (const auto& [name, config] : Configs()) {
    const auto spec = LoadModel(absl::StrCat(shared, "/models/", config));
    ASSERT_TRUE(spec.ok()) << spec.status();
    specs.emplace(name, *spec);
  }
  std::vector<double> errors;
  std::map<std::string, std::vector<double>> by_model;
  for (const Measurement& row : rows) {
    const ModelSpec spec = AtPrecision(specs.at(row.model), row.precision);
    const double error = std::abs(PredictedMs(spec, row) / row.tpot_ms - 1.0);
    errors.push_back(error);
    by_model[absl::StrCat(row.model, " ",
                          row.precision.empty() ? "bf16" : row.precision)]
        .push_back(error);
  }
  for (const auto& [name, some] : by_model) PrintErrors(name, some);
  PrintErrors("all", errors);
  // The fit's authors state 11 % and 33 % over their rows.
  EXPECT_LT(Quantile(errors, 0.5), 0.12);
  EXPECT_LT(Quantile(errors, 0.9), 0.36);
}

}  // namespace
}  // namespace kvsim
