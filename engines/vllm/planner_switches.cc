#include "engines/vllm/planner_switches.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engines/vllm/engine_version.h"

namespace kvsim::vllm {
namespace {

// A rule that changed between two points of time or two releases.
struct Change {
  absl::string_view what;
  VersionBracket when;
  void (*make_old)(PlannerSwitches& switches);
};

constexpr Change kChanges[] = {
    {"token count of the size line",
     {{0, 19, 2}, {0, 20, 1}, {2026, 4, 21}, {2026, 5, 24}},
     [](PlannerSwitches& s) { s.token_line = TokenLine::kBlocks; }},
    {"batches in flight",
     {{0, 23, 0}, {0, 27, 1}, {2026, 5, 24}, {2026, 8, 6}},
     [](PlannerSwitches& s) { s.async_batches = 1; }},
    {"packed pool of compressed attention",
     {{0, 23, 0}, {0, 28, 0}, {2026, 5, 24}, {2026, 8, 17}},
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kBucket; }},
    {"bucket pool of compressed attention",
     {{0, 22, 1}, {0, 23, 0}, {2026, 4, 21}, {2026, 5, 24}},
     [](PlannerSwitches& s) { s.compressed_pool = CompressedPool::kTuple; }},
    {"one combined log line",
     {{0, 26, 0}, {0, 28, 0}, {2026, 5, 24}, {2026, 8, 6}},
     [](PlannerSwitches& s) { s.one_log_line = false; }},
    {"CUDA-graph estimate subtracted",
     {{0, 20, 99}, {0, 21, 0}, {2026, 4, 21}, {2026, 5, 24}},
     [](PlannerSwitches& s) { s.subtracts_cuda_graphs = false; }},
    {"default GPU memory utilization",
     {{0, 19, 99}, {0, 20, 1}, {2026, 4, 21}, {2026, 5, 24}},
     [](PlannerSwitches& s) { s.default_utilization = 0.90; }},
    {"several groups under DCP",
     {{0, 23, 0}, {0, 27, 1}, {2026, 5, 24}, {2026, 8, 6}},
     [](PlannerSwitches& s) { s.context_parallel_hybrids = false; }},
    {"prefix caching of hybrid models",
     {{0, 27, 1}, {0, 29, 0}, {2026, 8, 3}, {2026, 8, 17}},
     [](PlannerSwitches& s) { s.hybrid_prefix_caching = false; }},
    {"check of overridden blocks",
     {{0, 19, 2}, {0, 28, 0}, {2026, 4, 21}, {2026, 8, 17}},
     [](PlannerSwitches& s) { s.override_in_check = false; }},
    {"log lines per worker",
     {{0, 11, 0}, {0, 12, 0}, {2025, 10, 31}, {2026, 1, 1}},
     [](PlannerSwitches& s) {
       s.one_log_line = false;
       s.lines_per_worker = true;
     }},
    {"V0 engine by default",
     {{0, 7, 99}, {0, 8, 0}, {2025, 3, 1}, {2025, 3, 18}},
     [](PlannerSwitches& s) { s.previous_engine = true; }},
    {"V0's block line",
     {{0, 6, 99}, {0, 7, 0}, {2025, 1, 1}, {2025, 1, 27}},
     [](PlannerSwitches& s) { s.says_gpu_blocks = true; }},
    {"sampler's profile",
     {{0, 16, 99}, {0, 17, 0}, {2026, 1, 1}, {2026, 2, 27}},
     [](PlannerSwitches& s) { s.sampler_factor = 9.65; }},
    {"non-torch memory",
     {{0, 17, 99}, {0, 18, 0}, {2026, 1, 1}, {2026, 2, 27}},
     [](PlannerSwitches& s) { s.late_non_torch = false; }},
};

// Where no release is known to be the last, the last number is 99.
std::string ReleaseText(const VersionNumbers& release) {
  const std::string minor = absl::StrCat(release[0], ".", release[1]);
  return release[2] == 99 ? absl::StrCat(minor, ".x")
                          : absl::StrCat(minor, ".", release[2]);
}

void Apply(const Change& change, const EngineVersion& version,
           VersionedSwitches& result) {
  const RuleAge age = AgeOf(change.when, version);
  if (age == RuleAge::kNew) return;
  change.make_old(result.switches);
  if (age == RuleAge::kOld) return;
  result.notes.push_back(
      absl::StrCat("vLLM ", version.text, ": the change of '", change.what,
                   "' lies between two versions seen; the older rule is used"));
}

}  // namespace

absl::StatusOr<VersionedSwitches> SwitchesFor(absl::string_view text) {
  const absl::StatusOr<EngineVersion> version = ParseEngineVersion(text);
  if (!version.ok()) return version.status();
  VersionedSwitches result;
  result.version = text.empty() ? "newest known rules" : version->text;
  if (!version->note.empty()) result.notes.push_back(version->note);
  for (const Change& change : kChanges) Apply(change, *version, result);
  return result;
}

std::vector<RuleChange> RuleChanges() {
  std::vector<RuleChange> changes;
  for (const Change& change : kChanges) {
    RuleChange told;
    told.last_old = ReleaseText(change.when.last_old);
    told.first_new = ReleaseText(change.when.first_new);
    change.make_old(told.old_rules);
    changes.push_back(std::move(told));
  }
  return changes;
}

}  // namespace kvsim::vllm
