#include "tools/trace_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "tools/command.h"

namespace kvsim {
namespace {

// Puts the flag in front of what its parser said; wrong usage.
absl::Status FlagError(absl::string_view flag, const absl::Status& status) {
  return UsageError(absl::StrCat(flag, ": ", status.message()));
}

template <typename T>
absl::Status Assign(absl::string_view flag, absl::StatusOr<T> value,
                    T* target) {
  if (!value.ok()) return FlagError(flag, value.status());
  *target = *std::move(value);
  return absl::OkStatus();
}

}  // namespace

void AddTraceFlags(CLI::App& command, TraceFlags& flags) {
  command
      .add_option("--trace,trace", flags.trace,
                  "A trace file in any format of docs/traces.md, "
                  "zstd-compressed or not, or a folder of WEKA's.")
      ->required();
  command.add_option("--trace-format", flags.format,
                     "auto (by content), or: " + TraceFormatNames() + ".");
  command.add_option("--limit", flags.limit, "Only the first N requests.");
  command.add_option("--rate-scale", flags.rate_scale,
                     "Multiply the arrival rate: 2, 0.25, 3/2. Think times "
                     "stay as they are.");
  AddTimedTraceFlags(command, flags.timed);
}

absl::StatusOr<TraceOptions> ToTraceOptions(const TraceFlags& flags) {
  TraceOptions options;
  absl::Status status =
      Assign("--trace-format", ParseTraceFormat(flags.format), &options.format);
  if (status.ok()) {
    status = Assign("--rate-scale", ParseRateScale(flags.rate_scale),
                    &options.rate_scale);
  }
  if (status.ok() && !flags.limit.empty()) {
    options.limit = 0;
    status = Assign("--limit", ParseCount(flags.limit), &*options.limit);
  }
  if (status.ok()) status = ApplyTimedTrace(flags.timed, &options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace kvsim
