#include "tools/timed_trace_flags.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/decimal.h"
#include "base/text.h"
#include "tools/command.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

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

}  // namespace

void AddTimedTraceFlags(CLI::App& command, TimedTraceFlags& flags) {
  const std::pair<const char*, std::string*> names[] = {
      {"--timed-trace-label-timestamp", &flags.timestamp},
      {"--timed-trace-label-input-length", &flags.input_length},
      {"--timed-trace-label-output-length", &flags.output_length},
      {"--timed-trace-label-hash-ids", &flags.hash_ids}};
  for (const auto& [flag, target] : names) {
    command.add_option(flag, *target, "What a timed trace calls this field.")
        ->group("Timed traces");
  }
  command
      .add_option("--timed-trace-chunk-hash-size", flags.hash_size,
                  "Tokens per hash id of a timed trace (16).")
      ->group("Timed traces");
  command
      .add_option("--timed-trace-sec-multiplier", flags.multiplier,
                  "Seconds per unit of a timed trace's timestamp (1).")
      ->group("Timed traces");
}

absl::Status ApplyTimedTrace(const TimedTraceFlags& flags,
                             TraceOptions* options) {
  TimedTraceOptions& timed = options->timed_trace;
  bool is_given = false;
  absl::Status status;
  const auto number = [&](const char* flag, const std::string& text,
                          absl::StatusOr<int64_t> (*parse)(absl::string_view),
                          int64_t* target) {
    if (text.empty() || !status.ok()) return;
    is_given = true;
    const absl::StatusOr<int64_t> value = parse(text);
    if (value.ok()) *target = *value;
    status =
        value.ok()
            ? absl::OkStatus()
            : UsageError(absl::StrCat(flag, ": ", value.status().message()));
  };
  const auto name = [&](const std::string& text, std::string* target) {
    if (text.empty()) return;
    is_given = true;
    *target = text;
  };
  number("--timed-trace-chunk-hash-size", flags.hash_size, ParseHashSize,
         &timed.hash_block);
  number("--timed-trace-sec-multiplier", flags.multiplier, ParseMultiplier,
         &timed.unit_ns);
  name(flags.timestamp, &timed.timestamp);
  name(flags.input_length, &timed.input_length);
  name(flags.output_length, &timed.output_length);
  name(flags.hash_ids, &timed.hash_ids);
  if (!status.ok() || !is_given) return status;
  if (options->format == TraceFormat::kAuto) {
    options->format = TraceFormat::kTimedTrace;
  }
  if (options->format == TraceFormat::kTimedTrace) return absl::OkStatus();
  return UsageError(absl::StrCat("--timed-trace-...: found --trace-format ",
                                 TraceFormatName(options->format),
                                 "; accepted: timed-trace or auto"));
}

}  // namespace kvsim
