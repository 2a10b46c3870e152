#include "tools/stats_command.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "tools/stats_report.h"
#include "tools/trace_flags.h"
#include "traces/trace_limits.h"
#include "traces/trace_profile.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

struct Flags {
  TraceFlags input;
  std::string block_sizes = "16,32,64,128,256,512,1024,2048";
  std::string hot = "10";
  bool json = false;
  bool csv = false;
};

absl::StatusOr<std::vector<int64_t>> BlockSizes(const std::string& text) {
  std::vector<int64_t> sizes;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<int64_t> size = ParseCount(part);
    if (!size.ok() || *size < 1 || *size > kMaxHashBlock) {
      return UsageError(absl::StrCat(
          "--block-sizes: found '", part,
          "'; accepted: block sizes in tokens, 1 to 1073741824, with commas "
          "between them"));
    }
    sizes.push_back(*size);
  }
  return sizes;
}

absl::Status Stats(const Flags& flags, CommandContext& context) {
  const absl::StatusOr<std::vector<int64_t>> sizes =
      BlockSizes(flags.block_sizes);
  if (!sizes.ok()) return sizes.status();
  const absl::StatusOr<int64_t> hot = ParseCount(flags.hot);
  if (!hot.ok() || *hot < 0) {
    return UsageError(absl::StrCat("--hot: found '", flags.hot,
                                   "'; accepted: how many prefixes to list"));
  }
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(flags.input);
  if (!options.ok()) return options.status();
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.input.trace, *options);
  if (!reader.ok()) return reader.status();
  TraceProfiler profiler(*sizes);
  const absl::Status status = ForEachRow(
      **reader, [&profiler](const TraceRequest& row) { profiler.Add(row); });
  if (!status.ok()) return status;
  const StatsReport report{flags.input.trace, (*reader)->format(),
                           profiler.Profile(static_cast<size_t>(*hot))};
  if (flags.json) {
    PrintStatsJson(report, *context.out);
  } else if (flags.csv) {
    PrintStatsCsv(report, *context.out);
  } else {
    PrintStatsText(report, *context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddStatsCommand(CLI::App& trace, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = AddCommand(
      trace, context, "stats",
      "Lengths, arrivals, reuse distances, the prefix tree, sessions, and what "
      "other block sizes would hit.",
      ServeArguments::kRefused,
      [flags, &context] { return Stats(*flags, context); });
  AddTraceFlags(*command, flags->input);
  command->add_option("--block-sizes", flags->block_sizes,
                      "Block sizes to compute the ceiling for (16,...,2048).");
  command->add_option("--hot", flags->hot,
                      "How many hot prefixes to list (10).");
  CLI::Option* json =
      command->add_flag("--json", flags->json, "One JSON object on stdout.");
  command->add_flag("--csv", flags->csv, "Name and value, one number a line.")
      ->excludes(json);
}

}  // namespace kvsim
