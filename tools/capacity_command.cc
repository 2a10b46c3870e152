#include "tools/capacity_command.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engines/capacity.h"
#include "engines/deployment_search.h"
#include "tools/calibration.h"
#include "tools/capacity_flags.h"
#include "tools/capacity_json.h"
#include "tools/capacity_report.h"
#include "tools/capacity_serve.h"
#include "tools/from_log.h"

namespace kvsim {
namespace {

absl::Status PrintSearch(const CapacityQuestion& question, int64_t concurrency,
                         bool json, std::ostream& out) {
  const absl::StatusOr<std::vector<Deployment>> deployments =
      FindDeployments(question, concurrency);
  if (!deployments.ok()) return deployments.status();
  if (json) {
    out << DeploymentsJson(question, concurrency, *deployments).dump(2) << "\n";
  } else {
    PrintDeployments(question, concurrency, *deployments, out);
  }
  return absl::OkStatus();
}

absl::Status PrintAnswer(const CapacityQuestion& question,
                         const CapacityFlags& flags,
                         const CommandContext& context) {
  absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
  if (!answer.ok()) return answer.status();
  if (!flags.calibration.empty()) {
    absl::Status status = CheckCalibrated(flags.calibration, &*answer);
    if (!status.ok()) return status;
  }
  if (flags.json) {
    *context.out << CapacityJson(question, *answer).dump(2) << "\n";
  } else {
    PrintCapacity(question, *answer, context.units, *context.out);
  }
  return absl::OkStatus();
}

// A log's figures beside kvsim's own.
absl::Status PrintLog(const CapacityFlags& flags,
                      const CommandContext& context) {
  const absl::StatusOr<LogComparison> comparison =
      CompareWithLog(flags.from_log, flags, context.serve_arguments);
  if (!comparison.ok()) return comparison.status();
  if (!flags.calibration.empty()) {
    absl::Status status = SaveCalibration(*comparison, flags.calibration);
    if (!status.ok()) return status;
  }
  if (flags.json) {
    // A damaged log may hold bytes that are no text.
    using Json = nlohmann::ordered_json;
    *context.out << ComparisonJson(*comparison)
                        .dump(2, ' ', false, Json::error_handler_t::replace)
                 << "\n";
  } else {
    PrintComparison(*comparison, *context.out);
  }
  return absl::OkStatus();
}

absl::Status Run(const CapacityFlags& flags, const CommandContext& context) {
  if (!flags.from_log.empty()) return PrintLog(flags, context);
  LoadedQuestion loaded;
  absl::Status status = LoadQuestion(flags, context.serve_arguments, &loaded);
  if (!status.ok()) return status;
  const absl::StatusOr<std::optional<int64_t>> wanted =
      WantedConcurrency(flags);
  if (!wanted.ok()) return wanted.status();
  if (!flags.calibration.empty()) {
    if (wanted->has_value()) {
      return UsageError(
          "--calibration is of one split of GPUs, and --concurrency tries "
          "several");
    }
    status = ApplyCalibration(flags.calibration, &loaded.question);
    if (!status.ok()) return status;
  }
  if (wanted->has_value()) {
    return PrintSearch(loaded.question, **wanted, flags.json, *context.out);
  }
  return PrintAnswer(loaded.question, flags, context);
}

}  // namespace

void AddCapacityCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CapacityFlags>();
  CLI::App* command =
      AddCommand(app, context, "capacity",
                 "How many requests of a length fit, and where every byte goes",
                 ServeArguments::kAccepted,
                 [flags, &context] { return Run(*flags, context); });
  DeclareFlags(*command, *flags);
}

}  // namespace kvsim
