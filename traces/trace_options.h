// How a trace is read and replayed: the flags that `kvsim trace` and
// `kvsim replay` share.
//
// Who applies what: OpenTrace applies format, limit, allow_disorder and
// rate_scale. TokenStream
// applies partial_tail and continue_sessions. The simulator applies arrivals.
#ifndef KVSIM_TRACES_TRACE_OPTIONS_H_
#define KVSIM_TRACES_TRACE_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/partial_tail.h"
#include "traces/timed_trace_options.h"
#include "traces/trace_format.h"

namespace kvsim {

// When a request arrives. For traces without sessions both are the same.
enum class Arrivals : uint8_t {
  kTimestamps,     // open loop: at arrival_ns, whatever the server does
  kAfterPrevious,  // closed loop: think_time_ns after `previous` has finished;
                   // rows without `previous` at arrival_ns
};

// Multiplies the arrival rate by numerator / denominator.
// Invariant: both are > 0 and <= kMax.
struct RateScale {
  static constexpr int64_t kMax = 1'000'000'000;
  int64_t numerator = 1;
  int64_t denominator = 1;

  // arrival_ns * denominator / numerator, rounded down: exact integers, so
  // equal arrivals stay equal and order is kept. Saturates at
  // kMaxTraceTimeNs. REQUIRES: arrival_ns >= 0.
  int64_t Apply(int64_t arrival_ns) const;
};

struct TraceOptions {
  TraceFormat format = TraceFormat::kAuto;
  TimedTraceOptions timed_trace;  // for TraceFormat::kTimedTrace
  std::optional<int64_t> limit;   // only the first rows; >= 0
  bool allow_disorder = false;    // rows may arrive before their predecessors;
                                  // for sorting only
  RateScale rate_scale;
  Arrivals arrivals = Arrivals::kAfterPrevious;
  bool continue_sessions = false;
  PartialTail partial_tail = PartialTail::kUnique;
};

// Flag values. "timestamps" "after-previous"; "unique" "shared"; "2", "0.25",
// "3/2". An error names the value found and what would be accepted.
absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text);
absl::StatusOr<PartialTail> ParsePartialTail(absl::string_view text);
absl::StatusOr<RateScale> ParseRateScale(absl::string_view text);

const char* ArrivalsName(Arrivals arrivals);
const char* PartialTailName(PartialTail partial_tail);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_OPTIONS_H_
