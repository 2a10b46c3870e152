#include "tools/trace_flags.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/decimal.h"
#include "base/text.h"
#include "tools/command.h"
#include "traces/trace_limits.h"

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

// How many nanoseconds a unit of a timed trace's timestamp has: "1" for
// seconds, "0.001" for milliseconds.
absl::StatusOr<int64_t> ParseMultiplier(absl::string_view text) {
  absl::string_view rest = text;
  const std::optional<Decimal> number = ConsumeDecimal(&rest);
  const std::optional<int64_t> ns = number.has_value() && rest.empty()
                                        ? Scale(*number, 1'000'000'000)
                                        : std::nullopt;
  if (!ns.has_value() || *ns < 1 || *ns > 1'000'000'000'000) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found '", text,
        "'; accepted: seconds per unit of time, 0.000000001 to 1000"));
  }
  return *ns;
}

absl::StatusOr<int64_t> ParseHashSize(absl::string_view text) {
  const absl::StatusOr<int64_t> size = ParseCount(text);
  if (size.ok() && *size >= 1 && *size <= kMaxHashBlock) return size;
  return absl::InvalidArgumentError(
      absl::StrCat("found '", text, "'; accepted: ", kAcceptedHashBlock));
}

// The flags of a timed trace.
absl::Status ApplyTimedTrace(const TraceFlags& flags, TraceOptions* options) {
  TimedTraceOptions& timed = options->timed_trace;
  bool is_given = false;
  absl::Status status;
  const auto number = [&](const char* flag, const std::string& text,
                          absl::StatusOr<int64_t> (*parse)(absl::string_view),
                          int64_t* target) {
    if (text.empty() || !status.ok()) return;
    is_given = true;
    status = Assign(flag, parse(text), target);
  };
  const auto name = [&](const std::string& text, std::string* target) {
    if (text.empty()) return;
    is_given = true;
    *target = text;
  };
  number("--timed-trace-chunk-hash-size", flags.timed_hash_size, ParseHashSize,
         &timed.hash_block);
  number("--timed-trace-sec-multiplier", flags.timed_multiplier,
         ParseMultiplier, &timed.unit_ns);
  name(flags.timed_timestamp, &timed.timestamp);
  name(flags.timed_input_length, &timed.input_length);
  name(flags.timed_output_length, &timed.output_length);
  name(flags.timed_hash_ids, &timed.hash_ids);
  if (!status.ok() || !is_given) return status;
  if (options->format == TraceFormat::kAuto) {
    options->format = TraceFormat::kTimedTrace;
  }
  if (options->format == TraceFormat::kTimedTrace) return absl::OkStatus();
  return UsageError(absl::StrCat("--timed-trace-...: found --trace-format ",
                                 TraceFormatName(options->format),
                                 "; accepted: timed-trace or auto"));
}

void AddTimedTraceFlags(CLI::App& command, TraceFlags& flags) {
  const std::pair<const char*, std::string*> names[] = {
      {"--timed-trace-label-timestamp", &flags.timed_timestamp},
      {"--timed-trace-label-input-length", &flags.timed_input_length},
      {"--timed-trace-label-output-length", &flags.timed_output_length},
      {"--timed-trace-label-hash-ids", &flags.timed_hash_ids}};
  for (const auto& [flag, target] : names) {
    command.add_option(flag, *target, "What a timed trace calls this field.")
        ->group("Timed traces");
  }
  command
      .add_option("--timed-trace-chunk-hash-size", flags.timed_hash_size,
                  "Tokens per hash id of a timed trace (16).")
      ->group("Timed traces");
  command
      .add_option("--timed-trace-sec-multiplier", flags.timed_multiplier,
                  "Seconds per unit of a timed trace's timestamp (1).")
      ->group("Timed traces");
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
  AddTimedTraceFlags(command, flags);
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
  if (status.ok()) status = ApplyTimedTrace(flags, &options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace kvsim
