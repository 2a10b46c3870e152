#include "engines/deployment_search.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engines/concurrency.h"
#include "engines/vllm/model_planner.h"

namespace kvsim {
namespace {

constexpr int64_t kMostGpus = 1024;

absl::Status Validate(const CapacityQuestion& question, int64_t concurrency) {
  if (concurrency < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--concurrency ", concurrency, ": must be positive"));
  }
  if (question.kv_memory.has_value() || question.num_gpu_blocks.has_value()) {
    return absl::InvalidArgumentError(
        "--concurrency asks for a number of GPUs: --kv-memory and "
        "--num-gpu-blocks hold for one only; give --gpu or --gpu-memory");
  }
  return absl::OkStatus();
}

// The engine must accept requests of the longest context.
CapacityQuestion LongEnough(CapacityQuestion question) {
  if (question.max_model_len.has_value() || question.contexts.empty()) {
    return question;
  }
  question.max_model_len =
      *std::max_element(question.contexts.begin(), question.contexts.end());
  return question;
}

// The deployment when it starts and holds enough; else nothing.
std::optional<Deployment> Try(const CapacityQuestion& question,
                              const vllm::Resolved& resolved,
                              const ParallelPlan& parallel,
                              int64_t concurrency) {
  const absl::StatusOr<vllm::PlannedModel> planned =
      vllm::PlanModel(question, resolved, parallel);
  if (!planned.ok() || planned->pool.refused.has_value()) return std::nullopt;
  Deployment deployment;
  deployment.parallel = parallel;
  deployment.num_gpus = parallel.NumGpus();
  deployment.num_blocks = planned->pool.num_blocks;
  for (Tokens context : question.contexts) {
    const Concurrency count = CountRequests(
        planned->pool, context, question.shared_prefix, resolved.max_num_seqs);
    if (count.resident < concurrency) return std::nullopt;
    deployment.resident.push_back(count.resident);
  }
  return deployment;
}

// Every split of `gpus` that reaches the concurrency, simplest first.
std::vector<Deployment> TryAllSplits(const CapacityQuestion& question,
                                     const vllm::Resolved& resolved,
                                     int64_t gpus, int64_t concurrency) {
  std::vector<Deployment> found;
  for (int64_t pipeline = 1; pipeline <= gpus; pipeline *= 2) {
    const int64_t tensor = gpus / pipeline;
    for (int64_t context = 1; context <= tensor; context *= 2) {
      const ParallelPlan parallel = {
          .tensor = tensor, .pipeline = pipeline, .decode_context = context};
      std::optional<Deployment> deployment =
          Try(question, resolved, parallel, concurrency);
      if (deployment.has_value()) found.push_back(*std::move(deployment));
    }
  }
  return found;
}

}  // namespace

absl::StatusOr<std::vector<Deployment>> FindDeployments(
    const CapacityQuestion& question, int64_t concurrency) {
  if (absl::Status status = Validate(question, concurrency); !status.ok()) {
    return status;
  }
  CapacityQuestion asked = LongEnough(question);
  absl::StatusOr<vllm::Resolved> resolved = vllm::ResolveFlags(asked);
  if (!resolved.ok()) return resolved.status();
  if (asked.contexts.empty()) asked.contexts = {resolved->max_model_len};
  // A single GPU shows what is wrong with the question itself.
  const absl::StatusOr<vllm::PlannedModel> one =
      vllm::PlanModel(asked, *resolved, ParallelPlan{});
  if (!one.ok()) return one.status();
  for (int64_t gpus = 1; gpus <= kMostGpus; gpus *= 2) {
    std::vector<Deployment> found =
        TryAllSplits(asked, *resolved, gpus, concurrency);
    if (!found.empty()) return found;
  }
  return std::vector<Deployment>();
}

}  // namespace kvsim
