// The rules of vLLM's planner that changed with its version, as named switches.
//
// Model:   a version (or the date of a main commit) selects every switch; a
//          caller may then set any of them. Versions compare number by number.
// Unknown: no version means the newest known rules. So do versions beyond the
//          newest known one and fork or development numbers that say nothing
//          ("0.1.dev20051"); both leave a note that reports show. A version
//          between the last one seen with the old rule and the first one seen
//          with the new rule takes the old rule, with a note as well.
// Source:  vLLM at five commits from 2026-02-27 to 2026-08-17, and the versions
//          that start-up logs print.

#ifndef KVSIM_ENGINES_VLLM_PLANNER_SWITCHES_H_
#define KVSIM_ENGINES_VLLM_PLANNER_SWITCHES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim::vllm {

// How the "GPU KV cache size" line counts tokens.
enum class TokenLine {
  kBlocks,       // blocks // groups x smallest block x context ranks
  kConcurrency,  // int(concurrency x maximum length)
};

// How the pool of compressed attention (DeepSeek V4) is cut.
enum class CompressedPool {
  kTuple,   // every block has room for whole tuples of all page sizes
  kBucket,  // only the slots that some group uses
  kPacked,  // pages packed densely, the largest group decides
};

struct PlannerSwitches {
  TokenLine token_line = TokenLine::kConcurrency;
  // Batches that may be in flight at once when scheduling is asynchronous; each
  // adds max_num_batched_tokens to what a window holds.
  int64_t async_batches = 2;
  bool one_log_line = true;           // size and concurrency in one line
  bool subtracts_cuda_graphs = true;  // from the memory left for the cache
  double default_utilization = 0.92;
  CompressedPool compressed_pool = CompressedPool::kPacked;
  // Several cache groups under decode-context parallelism.
  bool context_parallel_hybrids = true;
  // Profile of the sampler: bytes per sequence and vocabulary entry / 4.
  double sampler_factor = 3.70;
  bool late_non_torch = true;  // CUDA contexts and NCCL as from v0.18 on
  // Prefix caching of models with recurrent states when no flag says so; where
  // it is off, caching that is asked for keeps the states of every block if the
  // model can.
  bool hybrid_prefix_caching = true;
  // One pair of log lines for every worker, not one for the engine.
  bool lines_per_worker = false;
  // The start-up check sees the blocks of --num-gpu-blocks-override, not the
  // memory.
  bool override_in_check = true;
  bool previous_engine = false;  // V0: its planner and its log lines
  // V0's line says "# GPU blocks", not the device's name.
  bool says_gpu_blocks = false;

  bool operator==(const PlannerSwitches& other) const = default;
};

struct VersionedSwitches {
  PlannerSwitches switches;
  std::string version;             // as asked, or "newest known rules"
  std::vector<std::string> notes;  // for people: what was assumed and why
};

// `version` is "0.19.2rc1.dev43", "v0.21.0", "2026-08-17", or "" for the
// newest. Errors: InvalidArgument quoting a text that is neither.
absl::StatusOr<VersionedSwitches> SwitchesFor(absl::string_view version);

// A rule that changed with a version.
struct RuleChange {
  std::string last_old, first_new;  // releases: "0.19.2", "0.20.1"; "0.20.x"
  PlannerSwitches old_rules;        // the newest rules but for this one
};
// In no order of time.
std::vector<RuleChange> RuleChanges();

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_PLANNER_SWITCHES_H_
