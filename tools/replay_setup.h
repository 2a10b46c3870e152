// From the flags of `kvsim replay` to an engine's settings and its pool.

#ifndef KVSIM_TOOLS_REPLAY_SETUP_H_
#define KVSIM_TOOLS_REPLAY_SETUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/vllm/settings.h"
#include "models/gpu_catalogue.h"
#include "models/model_spec.h"
#include "sim/host_link.h"
#include "tools/replay_flags.h"

namespace kvsim {

struct ReplaySetup {
  vllm::Settings settings;
  bool bytes_known = false;  // false: a row counts 1, so bytes are tokens
  std::vector<std::string> warnings;
  // To and from host memory, with swaps here or in the baseline.
  HostLink host_link;

  // With --model only.
  std::optional<ModelSpec> model;
  std::vector<int64_t> group_layers;  // of each cache group on this rank
  int64_t tensor_parallel = 1;
  int64_t num_gpus = 1;
  double kv_bytes_per_token_per_rank = 0;  // of layers that keep all history
  std::optional<Gpu> gpu;
};

// The pool comes from the capacity planner when --model is given, else from
// --num-gpu-blocks, else from --kv-memory and --kv-bytes-per-token. So do the cache
// groups: the planner's, --groups, or one of full attention. What the version
// decides is the version's unless a flag says otherwise. The settings are
// normalized.
// Errors: InvalidArgument naming the flag; a start that the engine refuses is
// one too, in the engine's words.
absl::StatusOr<ReplaySetup> SetUpReplay(const ReplayFlags& flags);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_SETUP_H_
