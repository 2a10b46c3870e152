#include "engines/vllm/memory_budget.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/dtype.h"
#include "models/parameter_count.h"

namespace kvsim::vllm {
namespace {

constexpr double kMiB = 1048576.0;
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

// Peak of the profiling run: the sampler (last stage only) or the widest layer.
Bytes Activations(const ModelSpec& model, const BudgetInput& input,
                  bool last_stage) {
  const auto tokens = static_cast<double>(input.max_num_batched_tokens);
  const auto hidden = static_cast<double>(model.hidden_size);
  const auto ranks = static_cast<double>(input.parallel.tensor);
  const WidestFfn ffn = FindWidestFfn(model);
  double sampler = 0;
  if (last_stage) {
    sampler = input.switches.sampler_factor *
                  static_cast<double>(input.max_num_seqs) *
                  static_cast<double>(model.vocab_size) * 4 +
              1.18 * tokens * hidden * 2;
  }
  double width = 3 * ffn.dense / ranks;
  if (ffn.experts > 0) {
    const double per_expert = 3 * ffn.expert_width / ranks + hidden;
    width = std::max(width, ffn.experts * per_expert);
    const bool unquantized =
        BitsPerElement(model.quantization.expert_dtype) > 8;
    if (unquantized && last_stage) {
      sampler += tokens * ffn.experts * 2 *
                 (std::max(2 * ffn.expert_width / ranks, hidden) +
                  std::max(ffn.expert_width / ranks, hidden));
    }
  }
  const double layer = tokens * width * 2 + 4.26 * tokens * hidden * 2;
  return ToBytes(std::max(sampler, layer));
}

// CUDA context and communication buffers, as NVLink servers print them.
Bytes NonTorch(const BudgetInput& input) {
  const bool late = input.switches.late_non_torch;
  double gib = late ? 0.25 : 0.13;
  if (input.parallel.tensor > 1) gib = late ? 2.07 : 0.55;
  if (input.parallel.tensor > 2 && late) gib = 2.17;
  if (input.parallel.tensor > 4 && late) gib = 1.74;
  if (input.parallel.tensor == 1 && input.parallel.pipeline > 1) gib = 0.07;
  return ToBytes(gib * kGiB);
}

// Batch sizes with a graph of their own: 1, 2, 4, every 8 to 256, then every 16.
double NumGraphs(double cap) {
  const double small = std::min(cap, 256.0);
  return 3 + std::floor(small / 8) + std::floor((cap - small) / 16);
}

Bytes CudaGraphs(const ModelSpec& model, const BudgetInput& input,
                 int64_t stage_layers) {
  if (!input.switches.subtracts_cuda_graphs) return Bytes(0);
  const double most = input.sm == 100 || input.sm == 103 ? 1024 : 512;
  const double cap =
      std::min(2.0 * static_cast<double>(input.max_num_seqs), most);
  double width = 0;
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      width = std::max(width, static_cast<double>(attention.query_heads *
                                                  attention.head_dim));
    }
  }
  width /= static_cast<double>(input.parallel.tensor);
  const double pool = std::max(0.13 * kGiB, 65536 * width * cap / 512);
  return ToBytes(pool + 0.05 * kGiB +
                 (NumGraphs(cap) - 1) * 0.35 * kMiB *
                     static_cast<double>(stage_layers));
}

// Weights of one rank of every stage. Layers split evenly; the embedding is on
// the first stage, the head on the last.
std::vector<Bytes> StageWeights(const ModelSpec& model,
                                const BudgetInput& input,
                                const std::vector<int64_t>& stages) {
  const ParameterCount count = CountParameters(model, input.mtp_layers);
  const auto bytes = [&](int64_t weights) {
    return static_cast<double>(weights) * BitsPerElement(model.dtype) / 8;
  };
  double embedding = bytes(count.embedding);
  double head = bytes(count.head);
  double body = static_cast<double>(WeightBytes(model, input.mtp_layers)) -
                embedding - head;
  // A given size goes before the checkpoint's own, that before the count.
  const int64_t known = input.weight_bytes.has_value()
                            ? input.weight_bytes->value()
                            : model.checkpoint_bytes;
  if (known > 0) {
    const double scale =
        static_cast<double>(known) / std::max(body + embedding + head, 1.0);
    embedding *= scale;
    head *= scale;
    body *= scale;
  }
  // A tied head on a stage of its own is a second copy of the embedding.
  if (head == 0 && stages.size() > 1) head = embedding;
  std::vector<Bytes> weights;
  for (size_t i = 0; i < stages.size(); ++i) {
    double stage = body * static_cast<double>(stages[i]) /
                   static_cast<double>(model.layers.size());
    if (i == 0) stage += embedding;
    if (i + 1 == stages.size()) stage += head;
    weights.push_back(
        ToBytes(stage / static_cast<double>(input.parallel.tensor)));
  }
  return weights;
}

bool HasExperts(const ModelSpec& model) {
  return std::any_of(
      model.layers.begin(), model.layers.end(),
      [](const LayerSpec& layer) { return layer.ffn.kind == FfnKind::kMoe; });
}

// How far off the modelled parts were in recorded runs.
void SetBand(const ModelSpec& model, const BudgetInput& input,
             MemoryBudget& budget) {
  const bool given = input.non_kv_memory.has_value();
  const bool counted = !input.weight_bytes.has_value();
  const bool fitted = input.sm == 90 && input.switches.late_non_torch &&
                      !input.switches.subtracts_cuda_graphs;
  double gib = 0;
  if (given && !counted) {
    budget.band_basis = "weights and non-KV memory are given";
  } else if (HasExperts(model) && counted && (fitted || given)) {
    gib = 0.6;
    budget.band_basis = "weights counted from a mixture-of-experts config";
  } else if (fitted || given) {
    gib = 0.1;
    budget.band_basis = given ? "weights counted from the config"
                              : "non-KV memory modelled, Hopper card, v0.18 to "
                                "v0.20";
  } else {
    gib = 1.4;
    budget.band_basis =
        "non-KV memory modelled beyond the runs it was fitted to";
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

absl::StatusOr<std::vector<MemoryBudget>> BudgetStages(
    const ModelSpec& model, const BudgetInput& input) {
  if (absl::Status status = Validate(input); !status.ok()) return status;
  absl::StatusOr<std::vector<int64_t>> stages = StageSizes(
      static_cast<int64_t>(model.layers.size()), input.parallel.pipeline);
  if (!stages.ok()) return stages.status();
  const std::vector<Bytes> weights = StageWeights(model, input, *stages);
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
      budget.cuda_graphs = CudaGraphs(model, input, (*stages)[i]);
    }
    budget.kv = budget.requested - budget.weights - budget.NonKv();
    SetBand(model, input, budget);
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

}  // namespace kvsim::vllm
