// The planner's switches by name: what --engine-switch NAME=VALUE sets, and the
// rule that a value stands for.
//
// Model:   every field of PlannerSwitches has a name, and each of its values a
//          setting NAME=VALUE with a line about what the engine then does.
//            token-line=blocks|concurrency, batches-in-flight=1..16,
//            compressed-pool=tuple|bucket|packed, log-lines=one|two|per-worker,
//            hybrid-prefix-caching=on|off, engine=v0|v1,
//            context-parallel-hybrids=on|off, cuda-graphs=counted|left-out,
//            default-utilization=0.90|0.92, sampler-profile=3.70|9.65,
//            non-torch=late|early, start-check=blocks|memory,
//            v0-line=gpu-blocks|device
// Source:  vLLM at five commits from 2026-02-27 to 2026-08-17; each rule names
//          its file.

#ifndef KVSIM_ENGINES_VLLM_SWITCH_SETTINGS_H_
#define KVSIM_ENGINES_VLLM_SWITCH_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engines/vllm/planner_switches.h"

namespace kvsim::vllm {

// Errors: InvalidArgument quoting the text, with what would be accepted.
absl::Status SetSwitch(absl::string_view setting, PlannerSwitches* switches);

// A switch that two sets of rules have at different values.
struct SwitchDifference {
  std::string name;      // "token-line"
  std::string from, to;  // "blocks", "concurrency"
  std::string rule;      // what the engine does at `to`, in a line
  std::string source;    // the engine's file
  std::string seen;      // which versions; "": no version changes it

  // "token-line=concurrency", for SetSwitch.
  std::string Setting() const;
};

// In a fixed order. Setting all of them turns `from` into `to`.
std::vector<SwitchDifference> DifferentSwitches(const PlannerSwitches& from,
                                                const PlannerSwitches& to);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SWITCH_SETTINGS_H_
