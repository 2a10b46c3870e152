#include "tools/replay_command.h"

#include <memory>
#include <ostream>
#include <string>

#include "sim/report_text.h"
#include "tools/replay_flags.h"
#include "tools/replay_hits.h"
#include "tools/replay_report.h"
#include "tools/replay_run.h"
#include "tools/run_watch.h"

namespace kvsim {
namespace {

absl::Status ReplayEngine(const ReplayFlags& flags,
                          const CommandContext& context) {
  absl::StatusOr<Report> report = absl::InternalError("");
  if (context.listener != nullptr) {
    report = RunReplay(flags, context.listener, context.observer);
  } else {
    RunWatch watch(context.err);
    report = RunReplay(flags, &watch, context.observer);
  }
  if (!report.ok()) return report.status();
  const absl::Status status =
      FillManifest(flags, context, report->mutable_manifest());
  if (!status.ok()) return status;
  if (flags.json) {
    for (const std::string& warning : report->warnings()) {
      *context.err << "warning: " << warning << "\n";
    }
  }
  PrintReport(flags, context, *report, ReportText(*report, context.units));
  return absl::OkStatus();
}

absl::Status Replay(const ReplayFlags& flags, const CommandContext& context) {
  const absl::Status status = CheckModes(flags);
  if (!status.ok()) return status;
  if (flags.mode != "hits") return ReplayEngine(flags, context);
  if (context.observer != nullptr) {
    return UsageError("a timeline has a meaning with --mode engine only");
  }
  return ReplayHits(flags, context);
}

}  // namespace

void AddReplayCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = AddCommand(
      app, context, "replay",
      "Replay a trace: concurrency, hits, preemptions, where the bytes are",
      ServeArguments::kRefused,
      [flags, &context] { return Replay(*flags, context); });
  DeclareReplayFlags(*command, *flags);
}

}  // namespace kvsim
