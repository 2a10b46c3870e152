#include "engines/vllm/switch_settings.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kvsim::vllm {
namespace {

// A named value of a switch.
struct Setting {
  absl::string_view name, value;
  void (*apply)(PlannerSwitches& switches);
  absl::string_view rule, source;
};

constexpr absl::string_view kCacheUtils = "v1/core/kv_cache_utils.py";
constexpr absl::string_view kWorker = "v1/worker/gpu_worker.py";
constexpr absl::string_view kSpring = "sources of 2026-04-21 and 2026-05-24";
constexpr absl::string_view kMambaConfig = "model_executor/models/config.py";
constexpr absl::string_view kSummer = "sources of 2026-05-24 and 2026-08-06";
constexpr absl::string_view kLogs = "recorded start-up logs";

constexpr Setting kSettings[] = {
    {"engine", "v1", [](PlannerSwitches& s) { s.previous_engine = false; },
     "cache groups share one pool, block 0 is the null block", kCacheUtils},
    {"engine", "v0", [](PlannerSwitches& s) { s.previous_engine = true; },
     "one table of blocks for all layers, swap space on the host, no null "
     "block",
     kLogs},
    {"default-utilization", "0.92",
     [](PlannerSwitches& s) { s.default_utilization = 0.92; },
     "without --gpu-memory-utilization the engine may use 0.92 of the card",
     kSpring},
    {"default-utilization", "0.90",
     [](PlannerSwitches& s) { s.default_utilization = 0.90; },
     "without --gpu-memory-utilization the engine may use 0.90 of the card",
     kSpring},
    {"cuda-graphs", "counted",
     [](PlannerSwitches& s) { s.subtracts_cuda_graphs = true; },
     "the memory of CUDA graphs is estimated and taken off before the cache",
     kWorker},
    {"cuda-graphs", "left-out",
     [](PlannerSwitches& s) { s.subtracts_cuda_graphs = false; },
     "CUDA graphs come on top of the share of memory that is used", kWorker},
    {"sampler-profile", "3.70",
     [](PlannerSwitches& s) { s.sampler_factor = 3.70; },
     "the profiling run's sampler takes 3.70 fp32 logits a sequence and "
     "vocabulary entry",
     kLogs},
    {"sampler-profile", "9.65",
     [](PlannerSwitches& s) { s.sampler_factor = 9.65; },
     "the profiling run's sampler takes 9.65 fp32 logits a sequence and "
     "vocabulary entry",
     kLogs},
    {"non-torch", "late", [](PlannerSwitches& s) { s.late_non_torch = true; },
     "CUDA context and communication take what logs print from v0.18 on",
     kLogs},
    {"non-torch", "early", [](PlannerSwitches& s) { s.late_non_torch = false; },
     "CUDA context and communication take what logs before v0.18 print", kLogs},
    {"hybrid-prefix-caching", "on",
     [](PlannerSwitches& s) { s.hybrid_prefix_caching = true; },
     "models with recurrent states cache prefixes by default: a request holds "
     "two states of each group, not one",
     kMambaConfig},
    {"hybrid-prefix-caching", "off",
     [](PlannerSwitches& s) { s.hybrid_prefix_caching = false; },
     "models with recurrent states cache prefixes only when asked: a request "
     "holds one state of each group",
     kMambaConfig},
    {"compressed-pool", "packed",
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kPacked; },
     "compressed attention's pages are packed densely, the largest group "
     "decides the block",
     kCacheUtils},
    {"compressed-pool", "bucket",
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kBucket; },
     "a block of compressed attention has the slots that some group uses",
     kCacheUtils},
    {"compressed-pool", "tuple",
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kTuple; },
     "a block of compressed attention has room for whole tuples of all page "
     "sizes",
     kCacheUtils},
    {"context-parallel-hybrids", "on",
     [](PlannerSwitches& s) { s.context_parallel_hybrids = true; },
     "several cache groups may run under decode-context parallelism", kSummer},
    {"context-parallel-hybrids", "off",
     [](PlannerSwitches& s) { s.context_parallel_hybrids = false; },
     "several cache groups are refused under decode-context parallelism",
     kSummer},
    {"start-check", "blocks",
     [](PlannerSwitches& s) { s.override_in_check = true; },
     "the start-up check sees the blocks of --num-gpu-blocks-override",
     kCacheUtils},
    {"start-check", "memory",
     [](PlannerSwitches& s) { s.override_in_check = false; },
     "the start-up check sees the memory, whatever --num-gpu-blocks-override "
     "says",
     kCacheUtils},
    {"token-line", "concurrency",
     [](PlannerSwitches& s) { s.token_line = TokenLine::kConcurrency; },
     "the size line's tokens are int(concurrency x longest request)",
     kCacheUtils},
    {"token-line", "blocks",
     [](PlannerSwitches& s) { s.token_line = TokenLine::kBlocks; },
     "the size line's tokens are blocks // groups x smallest block x context "
     "ranks",
     kCacheUtils},
    {"log-lines", "one",
     [](PlannerSwitches& s) {
       s.one_log_line = true;
       s.lines_per_worker = false;
     },
     "size and concurrency stand in one line", kCacheUtils},
    {"log-lines", "two",
     [](PlannerSwitches& s) {
       s.one_log_line = false;
       s.lines_per_worker = false;
     },
     "size and concurrency have a line each", kCacheUtils},
    {"log-lines", "per-worker",
     [](PlannerSwitches& s) {
       s.one_log_line = false;
       s.lines_per_worker = true;
     },
     "every worker prints size and concurrency, by its own memory",
     kCacheUtils},
    {"v0-line", "device", [](PlannerSwitches& s) { s.says_gpu_blocks = false; },
     "V0's line names the device", kLogs},
    {"v0-line", "gpu-blocks",
     [](PlannerSwitches& s) { s.says_gpu_blocks = true; },
     "V0's line says \"# GPU blocks\"", kLogs},
};

constexpr absl::string_view kBatchesSwitch = "batches-in-flight";
constexpr absl::string_view kBatchesRule =
    "a window's or chunk's worst case counts this many batches of "
    "--max-num-batched-tokens in flight when scheduling is asynchronous";
constexpr absl::string_view kBatchesSource = "config/vllm.py";
constexpr int64_t kMostBatches = 16;

// The setting of `name` that holds in `switches`; nullptr when none does.
const Setting* SettingIn(const PlannerSwitches& switches,
                         absl::string_view name) {
  for (const Setting& setting : kSettings) {
    if (setting.name != name) continue;
    PlannerSwitches applied = switches;
    setting.apply(applied);
    if (applied == switches) return &setting;
  }
  return nullptr;
}

std::string ValueIn(const PlannerSwitches& switches, absl::string_view name) {
  if (name == kBatchesSwitch) return absl::StrCat(switches.async_batches);
  const Setting* setting = SettingIn(switches, name);
  return setting == nullptr ? "" : std::string(setting->value);
}

// "blocks last seen in 0.19.2, what came next in 0.20.1".
std::string SeenText(absl::string_view name, const std::string& from,
                     const std::string& to) {
  const std::string newest = ValueIn(PlannerSwitches(), name);
  std::vector<std::string> texts;
  for (const RuleChange& change : RuleChanges()) {
    const std::string old = ValueIn(change.old_rules, name);
    if (old == newest || (old != from && old != to)) continue;
    texts.push_back(absl::StrCat(old, " last seen in ", change.last_old,
                                 ", what came next in ", change.first_new));
  }
  return absl::StrJoin(texts, "; ");
}

void AddDifference(absl::string_view name, absl::string_view rule,
                   absl::string_view source, const PlannerSwitches& from,
                   const PlannerSwitches& to,
                   std::vector<SwitchDifference>& differences) {
  SwitchDifference difference;
  difference.name = std::string(name);
  difference.from = ValueIn(from, name);
  difference.to = ValueIn(to, name);
  difference.rule = std::string(rule);
  difference.source = absl::StrCat("vLLM, ", source);
  difference.seen = SeenText(name, difference.from, difference.to);
  differences.push_back(std::move(difference));
}

}  // namespace

std::string SwitchDifference::Setting() const {
  return absl::StrCat(name, "=", to);
}

absl::Status SetSwitch(absl::string_view setting, PlannerSwitches* switches) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(setting, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  std::vector<std::string> accepted;
  for (const Setting& known : kSettings) {
    if (known.name == name && known.value == value) {
      known.apply(*switches);
      return absl::OkStatus();
    }
    accepted.push_back(absl::StrCat(known.name, "=", known.value));
  }
  int64_t batches = 0;
  if (name == kBatchesSwitch && absl::SimpleAtoi(value, &batches) &&
      batches >= 1 && batches <= kMostBatches) {
    switches->async_batches = batches;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--engine-switch '", setting,
                   "': accepted: ", absl::StrJoin(accepted, ", "), ", ",
                   kBatchesSwitch, "=1 to ", kMostBatches));
}

std::vector<SwitchDifference> DifferentSwitches(const PlannerSwitches& from,
                                                const PlannerSwitches& to) {
  std::vector<SwitchDifference> differences;
  for (const Setting& setting : kSettings) {
    // The value that holds at the end, where another held before.
    if (SettingIn(to, setting.name) != &setting ||
        SettingIn(from, setting.name) == &setting) {
      continue;
    }
    AddDifference(setting.name, setting.rule, setting.source, from, to,
                  differences);
  }
  if (from.async_batches != to.async_batches) {
    AddDifference(kBatchesSwitch, kBatchesRule, kBatchesSource, from, to,
                  differences);
  }
  return differences;
}

}  // namespace kvsim::vllm
