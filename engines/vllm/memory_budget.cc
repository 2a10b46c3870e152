#include "engines/vllm/memory_budget.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/vllm/rank_weights.h"
#include "models/dtype.h"

namespace kvsim::vllm {
namespace {

constexpr double kGiB = 1073741824.0;

// The largest sizes accepted: 2^50 bytes a card, 2^60 of weights.
constexpr Bytes kMaxGpuMemory{int64_t{1} << 50};
constexpr Bytes kMaxWeights{int64_t{1} << 60};

Bytes ToBytes(double bytes) { return Bytes(static_cast<int64_t>(bytes)); }

absl::Status CheckSize(absl::string_view flag, Bytes size, Bytes most) {
  if (size >= Bytes(0) && size <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      flag, " ", size.value(), " bytes: must be from 0 to ", most.value()));
}

absl::Status Validate(const BudgetInput& input) {
  if (!(input.utilization > 0.0 && input.utilization <= 1.0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gpu-memory-utilization ", input.utilization,
                     ": must be above 0 and at most 1"));
  }
  if (input.gpu_total == Bytes(0)) {
    return absl::InvalidArgumentError("--gpu-memory 0: must be positive");
  }
  absl::Status status =
      CheckSize("--gpu-memory", input.gpu_total, kMaxGpuMemory);
  if (status.ok() && input.weight_bytes.has_value()) {
    status = CheckSize("--weight-bytes", *input.weight_bytes, kMaxWeights);
  }
  if (status.ok() && input.non_kv_memory.has_value()) {
    status = CheckSize("--non-kv-memory", *input.non_kv_memory, kMaxGpuMemory);
  }
  return status;
}

// The widest feed-forward part: what its activations take per token.
struct WidestFfn {
  double dense = 0;    // intermediate width
  double experts = 0;  // experts a token visits
  double expert_width = 0;
};

WidestFfn FindWidestFfn(const ModelSpec& model) {
  WidestFfn widest;
  for (const LayerSpec& layer : model.layers) {
    const FfnSpec& ffn = layer.ffn;
    widest.dense =
        std::max(widest.dense, static_cast<double>(ffn.intermediate));
    widest.experts =
        std::max(widest.experts, static_cast<double>(ffn.experts_per_token));
    widest.expert_width = std::max(
        widest.expert_width, static_cast<double>(ffn.expert_intermediate));
  }
  return widest;
}

// Experts in 16 bits run in kernels that keep their inputs and outputs.
double ExpertBuffers(const ModelSpec& model, const BudgetInput& input,
                     const WidestFfn& ffn) {
  if (ffn.experts == 0 ||
      BitsPerElement(model.quantization.expert_dtype) <= 8) {
    return 0;
  }
  const auto tokens = static_cast<double>(input.max_num_batched_tokens);
  const auto hidden = static_cast<double>(model.hidden_size);
  const double width =
      ffn.expert_width / static_cast<double>(input.parallel.tensor);
  return tokens * ffn.experts *
         (std::max(2 * width, hidden) + std::max(width, hidden));
}

// Peak of the profiling run: the sampler (last stage only) or the widest layer.
Bytes Activations(const ModelSpec& model, const BudgetInput& input,
                  bool last_stage) {
  const auto tokens = static_cast<double>(input.max_num_batched_tokens);
  const auto hidden = static_cast<double>(model.hidden_size);
  const auto ranks = static_cast<double>(input.parallel.tensor);
  const double element = BitsPerElement(model.dtype) / 8.0;
  const WidestFfn ffn = FindWidestFfn(model);
  double sampler = 0;
  if (last_stage) {
    sampler = input.switches.sampler_factor *
                  static_cast<double>(input.max_num_seqs) *
                  static_cast<double>(model.vocab_size) * 4 +
              1.18 * tokens * hidden * element +
              ExpertBuffers(model, input, ffn) * element;
  }
  double width = 3 * ffn.dense / ranks;
  if (ffn.experts > 0) {
    const double per_expert = 3 * ffn.expert_width / ranks + hidden;
    width = std::max(width, ffn.experts * per_expert);
  }
  const double layer = tokens * (width + 4.26 * hidden) * element;
  const double tower = model.tower_weights > 0 ? 0.13 * kGiB : 0;
  return ToBytes(std::max(sampler, layer) + tower);
}

// The communication library's share, by link and ranks.
double CommunicationGib(const BudgetInput& input) {
  const int64_t ranks = input.parallel.tensor;
  const bool late = input.switches.late_non_torch;
  if (!late) return input.fast_link ? 0.55 : 0.20;
  if (!input.fast_link) return ranks == 2 ? 0.74 : 1.70;
  if (ranks > 4) return 1.74;
  return ranks == 2 ? 2.07 : 2.17;
}

// CUDA context and communication buffers, as servers print them.
Bytes NonTorch(const BudgetInput& input) {
  double gib = 0.25;
  if (!input.switches.late_non_torch) gib = input.sm == 90 ? 0.13 : 0.06;
  if (input.parallel.pipeline > 1) gib = 0.07;
  if (input.parallel.tensor > 1) gib = CommunicationGib(input);
  return ToBytes(gib * kGiB);
}

// Batch sizes with a graph of their own: 1, 2, 4, every 8 to 256, then every
// 16 to 512.
double NumGraphs(double most) {
  const double cap = std::min(most, 512.0);
  const double small = std::min(cap, 256.0);
  return 3 + std::floor(small / 8) + std::floor((cap - small) / 16);
}

// Printed estimates of v0.21 on: 0.23 GiB of 32 layers, 0.76 of 60 and of 64;
// 1.2 of 45 sparse ones is the worst miss.
Bytes CudaGraphs(const BudgetInput& input, int64_t stage_layers) {
  if (!input.switches.subtracts_cuda_graphs) return Bytes(0);
  constexpr double kGibPerLayer = 0.0125;
  const double graphs =
      NumGraphs(2.0 * static_cast<double>(input.max_num_seqs)) / NumGraphs(512);
  return ToBytes(kGibPerLayer * graphs * static_cast<double>(stage_layers) *
                 kGiB);
}

// How far from the printed cache the modelled one was in recorded starts: the
// distance that holds for at least nine of ten, rounded up. What is measured,
// row by row, is tests/memory_after_profiling_test, which fails where a row of
// this table no longer covers nine of ten of its starts.
struct MeasuredBand {
  const char* basis;
  double given_gib;    // weights as printed
  double counted_gib;  // weights counted from the config
};
constexpr MeasuredBand kHopperBand = {"a Hopper card, v0.10 to v0.20", 0.15,
                                      0.3};
constexpr MeasuredBand kOtherCardBand = {"cards but Hopper, up to v0.20", 0.5,
                                         0.65};
constexpr MeasuredBand kNewRulesBand = {"v0.21 on, of which few logs are known",
                                        2.2, 3.0};
// Projectors beside a tower and what the engine keeps twice are not counted.
constexpr double kTowerGib = 0.4;
// Weights alone, where nothing else is modelled.
constexpr double kWeightsGib = 0.3;

const MeasuredBand& BandOf(const BudgetInput& input) {
  if (input.switches.subtracts_cuda_graphs) return kNewRulesBand;
  const bool hopper = input.sm == 90 && !input.switches.previous_engine;
  return hopper ? kHopperBand : kOtherCardBand;
}

void SetBand(const ModelSpec& model, const BudgetInput& input,
             MemoryBudget& budget) {
  const bool given = input.non_kv_memory.has_value();
  const bool counted = !input.weight_bytes.has_value();
  if (given && !counted) {
    budget.band_basis = "weights and non-KV memory are given";
    return;
  }
  const MeasuredBand& band = BandOf(input);
  double gib = counted ? band.counted_gib : band.given_gib;
  if (given) gib = kWeightsGib;
  budget.band_basis =
      given ? "weights counted from the config"
            : absl::StrCat("9 of 10 recorded starts: ", band.basis);
  if (counted && model.tower_weights > 0) {
    gib += kTowerGib;
    absl::StrAppend(&budget.band_basis, ", a vision tower");
  }
  budget.band = ToBytes(gib * kGiB);
}

}  // namespace

BatchDefaults DefaultBatch(Bytes total, int sm) {
  if (total == Bytes(0)) return {8192, 1024};
  if (total >= GiB(160)) return {16384, 1024};
  if (total >= GiB(70) && sm != 80) return {8192, 1024};
  return {2048, 256};
}

BatchDefaults PreviousDefaultBatch(int64_t max_model_len) {
  constexpr int64_t kChunk = 2048;
  constexpr int64_t kLongestWhole = 32768;
  const bool chunks = max_model_len > kLongestWhole;
  return {chunks ? kChunk : std::max(max_model_len, kChunk), 256};
}

bool HasFastLink(const Gpu& gpu) {
  constexpr double kFasterThanPcie = 100e9;
  return !gpu.link_bandwidth.has_value() ||
         *gpu.link_bandwidth >= kFasterThanPcie;
}

absl::StatusOr<std::vector<MemoryBudget>> BudgetStages(
    const ModelSpec& model, const BudgetInput& input) {
  if (absl::Status status = Validate(input); !status.ok()) return status;
  absl::StatusOr<std::vector<int64_t>> stages = StageSizes(
      static_cast<int64_t>(model.layers.size()), input.parallel.pipeline);
  if (!stages.ok()) return stages.status();
  const std::vector<Bytes> weights = RankWeights(
      model, input.parallel, *stages, input.weight_bytes, input.mtp_layers);
  std::vector<MemoryBudget> budgets;
  for (size_t i = 0; i < stages->size(); ++i) {
    MemoryBudget budget;
    budget.stage = static_cast<int64_t>(i);
    budget.gpu_total = input.gpu_total;
    budget.requested = ToBytes(std::ceil(
        static_cast<double>(input.gpu_total.value()) * input.utilization));
    budget.weights = weights[i];
    if (input.non_kv_memory.has_value()) {
      budget.other_non_kv = *input.non_kv_memory;
    } else {
      budget.activations = Activations(model, input, i + 1 == stages->size());
      budget.non_torch = NonTorch(input);
      budget.cuda_graphs = CudaGraphs(input, (*stages)[i]);
    }
    budget.kv = budget.requested - budget.weights - budget.NonKv();
    SetBand(model, input, budget);
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

}  // namespace kvsim::vllm
