#include "tools/trace_command.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "tools/anonymise_command.h"
#include "tools/fit_command.h"
#include "tools/stats_command.h"
#include "tools/synth_command.h"
#include "tools/trace_flags.h"
#include "tools/trace_output.h"
#include "tools/trace_report.h"
#include "traces/trace_convert.h"
#include "traces/trace_reader.h"
#include "traces/trace_stats.h"

namespace kvsim {
namespace {

struct Flags {
  TraceFlags input;
  TraceOutputFlags output;
  bool json = false;
  bool sort = false;
  std::string rows = "10";
};

absl::StatusOr<std::unique_ptr<TraceReader>> Open(const Flags& flags) {
  absl::StatusOr<TraceOptions> options = ToTraceOptions(flags.input);
  if (!options.ok()) return options.status();
  options->allow_disorder = flags.sort;
  return OpenTrace(flags.input.trace, *options);
}

absl::Status Info(const Flags& flags, CommandContext& context) {
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader = Open(flags);
  if (!reader.ok()) return reader.status();
  TraceStats stats;
  const absl::Status status = ForEachRow(
      **reader, [&stats](const TraceRequest& row) { stats.Add(row); });
  if (!status.ok()) return status;
  const TraceReport report{flags.input.trace, (*reader)->format(),
                           stats.Summary()};
  flags.json ? PrintTraceJson(report, *context.out)
             : PrintTraceText(report, *context.out);
  return absl::OkStatus();
}

nlohmann::ordered_json ProblemJson(const TraceProblem& problem) {
  return {{"file", problem.file},
          {"line", problem.line},
          {"field", problem.field},
          {"found", problem.found},
          {"accepted", problem.accepted}};
}

absl::Status Validate(const Flags& flags, CommandContext& context) {
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader = Open(flags);
  if (!reader.ok()) return reader.status();
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  const absl::StatusOr<ValidationCounts> counts =
      ValidateTrace(**reader, [&](const TraceProblem& problem) {
        if (flags.json) {
          problems.push_back(ProblemJson(problem));
        } else {
          *context.out << problem.ToString() << "\n";
        }
      });
  if (!counts.ok()) return counts.status();
  if (flags.json) {
    const nlohmann::ordered_json json = {
        {"trace", flags.input.trace},
        {"format", TraceFormatName((*reader)->format())},
        {"good_rows", counts->good_rows},
        {"bad_rows", counts->bad_rows},
        {"problems", problems}};
    *context.out << json.dump(2, ' ', false,
                              nlohmann::json::error_handler_t::replace)
                 << "\n";
  } else {
    *context.out << FormatCount(counts->good_rows) << " good rows, "
                 << FormatCount(counts->bad_rows) << " bad rows, "
                 << FormatCount(counts->problems) << " problems\n";
  }
  if (counts->problems == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flags.input.trace, ": found ",
                                                 counts->bad_rows,
                                                 " bad rows; accepted: none"));
}

absl::Status Convert(const Flags& flags, CommandContext& context) {
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader = Open(flags);
  if (!reader.ok()) return reader.status();
  TraceReader& from = **reader;
  const absl::StatusOr<int64_t> rows = WriteTrace(
      flags.output, flags.input.trace, from.has_sessions(),
      /*keep_ids=*/from.format() == TraceFormat::kMooncake, context,
      [&](TraceWriter& to) {
        return flags.sort ? SortTrace(from, to) : CopyTrace(from, to);
      });
  if (!rows.ok()) return rows.status();
  *context.err << "Wrote " << FormatCount(*rows) << " requests to "
               << flags.output.output << ".\n";
  return absl::OkStatus();
}

nlohmann::ordered_json RowJson(const TraceRequest& row) {
  return {{"id", row.id},
          {"arrival_ns", row.arrival_ns},
          {"input_length", row.input_length},
          {"output_length", row.output_length},
          {"priority", row.priority},
          {"hash_block", row.hash_block},
          {"hash_ids", row.hash_ids},
          {"scope", row.scope},
          {"session", row.session},
          {"turn", row.turn},
          {"previous", row.previous},
          {"think_time_ns", row.think_time_ns}};
}

// The first ids, and how many there are.
std::string IdsText(const TraceRequest& row) {
  constexpr size_t kShown = 6;
  const size_t shown = std::min(kShown, row.hash_ids.size());
  std::string text =
      absl::StrJoin(row.hash_ids.begin(), row.hash_ids.begin() + shown, " ");
  if (shown < row.hash_ids.size()) absl::StrAppend(&text, " ...");
  return absl::StrCat(row.hash_ids.size(), " x ", row.hash_block, ": ", text);
}

std::string SessionText(const TraceRequest& row) {
  return row.session < 0 ? "-" : absl::StrCat(row.session, ":", row.turn);
}

absl::Status Head(const Flags& flags, CommandContext& context) {
  const absl::StatusOr<int64_t> count = ParseCount(flags.rows);
  if (!count.ok()) {
    return UsageError(absl::StrCat("--rows: ", count.status().message()));
  }
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader = Open(flags);
  if (!reader.ok()) return reader.status();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!flags.json) {
    *context.out << absl::StrFormat("%8s %16s %10s %8s %8s %12s  %s\n", "row",
                                    "arrival ms", "input", "output", "session",
                                    "think ms", "ids");
  }
  TraceRequest row;
  for (int64_t i = 0; i < *count; ++i) {
    const absl::StatusOr<bool> found = (*reader)->Next(&row);
    if (!found.ok()) return found.status();
    if (!*found) break;
    if (flags.json) {
      rows.push_back(RowJson(row));
      continue;
    }
    *context.out << absl::StrFormat(
        "%8d %16s %10d %8d %8s %12s  %s\n", row.id,
        FormatRatio(row.arrival_ns, 1'000'000, 3), row.input_length,
        row.output_length, SessionText(row),
        FormatRatio(row.think_time_ns, 1'000'000, 3), IdsText(row));
  }
  if (flags.json) {
    *context.out << nlohmann::ordered_json({{"rows", rows}}).dump() << "\n";
  }
  return absl::OkStatus();
}

// Adds one subcommand that reads a trace.
CLI::App* AddReadingCommand(CLI::App& trace, CommandContext& context,
                            const std::shared_ptr<Flags>& flags,
                            const std::string& name,
                            const std::string& description,
                            absl::Status (*run)(const Flags&,
                                                CommandContext&)) {
  CLI::App* command =
      AddCommand(trace, context, name, description, ServeArguments::kRefused,
                 [flags, run, &context] { return run(*flags, context); });
  AddTraceFlags(*command, flags->input);
  return command;
}

}  // namespace

void AddTraceCommand(CLI::App& app, CommandContext& context) {
  CLI::App* trace = app.add_subcommand(
      "trace", "Look at request traces, check, convert and make them.");
  trace->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* info = AddReadingCommand(
      *trace, context, flags, "info",
      "What a trace holds: lengths, times, sharing, sessions.", Info);
  CLI::App* validate = AddReadingCommand(
      *trace, context, flags, "validate",
      "Report everything wrong with a trace; exit 1 if anything is.", Validate);
  CLI::App* convert =
      AddReadingCommand(*trace, context, flags, "convert",
                        "Write a trace in another format.", Convert);
  CLI::App* head = AddReadingCommand(*trace, context, flags, "head",
                                     "Print the first requests.", Head);
  for (CLI::App* command : {info, validate, head}) {
    command->add_flag("--json", flags->json, "One JSON object on stdout.");
  }
  AddTraceOutputFlags(*convert, flags->output);
  convert->add_flag("--sort", flags->sort,
                    "Sort by arrival, stably; for files that are refused "
                    "because they are not in order.");
  head->add_option("-n,--rows", flags->rows, "How many (default 10).");
  AddStatsCommand(*trace, context);
  AddAnonymiseCommand(*trace, context);
  AddFitCommand(*trace, context);
  AddSynthCommand(*trace, context);
}

}  // namespace kvsim
