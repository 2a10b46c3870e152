#include "tools/tune_checkpoints_command.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engines/vllm/checkpoint_policy.h"
#include "tools/checkpoint_report.h"
#include "tools/checkpoint_study.h"
#include "tools/jobs_flag.h"
#include "tools/replay_flags.h"
#include "tools/replay_setup.h"

namespace kvsim {
namespace {

struct TuneFlags {
  ReplayFlags replay;
  std::string policies, dtypes, jobs;
};

// One of each kind, at spacings that fit the model's blocks.
absl::StatusOr<std::vector<std::string>> UsualPolicies(
    const ReplayFlags& flags) {
  const absl::StatusOr<ReplaySetup> setup = SetUpReplay(flags);
  if (!setup.ok()) return setup.status();
  const int64_t block = setup->settings.Units().scheduler_tokens;
  std::vector<std::string> policies = {"engine",
                                       "none",
                                       "prompt-end",
                                       "branch-points",
                                       "prompt-end+branch-points",
                                       "dense"};
  for (int64_t every = 4 * block;
       every <= std::min(16 * block, setup->settings.max_model_len);
       every *= 4) {
    policies.push_back(absl::StrCat("every:", every));
  }
  policies.push_back(absl::StrCat("geometric:", block));
  for (const char* weight : {"0.1", "1", "10"}) {
    policies.push_back(absl::StrCat("value:", weight));
  }
  return policies;
}

absl::StatusOr<std::vector<std::string>> ReadPolicies(const TuneFlags& flags) {
  if (flags.policies.empty()) return UsualPolicies(flags.replay);
  std::vector<std::string> policies = absl::StrSplit(flags.policies, ',');
  for (const std::string& policy : policies) {
    if (policy == "engine") continue;
    const auto parsed = vllm::ParseCheckpointPolicy(policy);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--policies '", policy, "': ", parsed.status().message(),
                       ", or engine"));
    }
  }
  return policies;
}

absl::Status Tune(const TuneFlags& flags, const CommandContext& context) {
  const absl::StatusOr<int> jobs = ReadJobs(flags.jobs);
  if (!jobs.ok()) return jobs.status();
  absl::Status status = CheckModes(flags.replay);
  if (!status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> policies = ReadPolicies(flags);
  if (!policies.ok()) return policies.status();
  std::vector<std::string> dtypes;
  if (!flags.dtypes.empty()) dtypes = absl::StrSplit(flags.dtypes, ',');
  absl::StatusOr<CheckpointStudy> study =
      StudyCheckpoints(flags.replay, *policies, dtypes, *jobs);
  if (!study.ok()) return study.status();
  const CheckpointReport report = {flags.replay.model, flags.replay.trace,
                                   *std::move(study)};
  if (flags.replay.json) {
    *context.out << CheckpointsJson(report).dump(2) << "\n";
  } else {
    PrintCheckpoints(report, context.units, *context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddTuneCheckpointsCommand(CLI::App& tune, CommandContext& context) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = AddCommand(tune, context, "checkpoints",
                                 "Where to keep states of recurrent layers: "
                                 "hits, bytes, the knee, and what "
                                 "no policy can beat",
                                 ServeArguments::kRefused, [flags, &context] {
                                   return Tune(*flags, context);
                                 });
  DeclareRunFlags(*command, flags->replay);
  for (const char* name : {"--checkpoint-policy", "--retention-interval",
                           "--mamba-ssm-cache-dtype"}) {
    command->remove_option(command->get_option(name));
  }
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help)->group("Question");
  };
  add("--policies", flags->policies,
      "Comma between them: engine, or as kvsim replay --checkpoint-policy has "
      "them (one of each kind)");
  add("--state-dtypes", flags->dtypes,
      "Of the states, every policy with each: float32,bfloat16,int8 (the "
      "model's)");
  add("--jobs", flags->jobs, "Replays at once (all cores)");
  command->add_flag("--json", flags->replay.json, "One JSON object")
      ->group("Question");
}

}  // namespace kvsim
