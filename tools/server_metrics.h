// What a running server says of its cache, read from what it prints anyway.
//
//   Prometheus text   GET /metrics of vLLM or SGLang. Counters are totals since
//                     the server started, gauges are of that moment.
//   vLLM's log        "Engine 000: Avg prompt throughput: ..., Running: 3 reqs,
//                     Waiting: 0 reqs, GPU KV cache usage: 12.3%, Prefix cache
//                     hit rate: 45.6%", once per interval; `Preemptions: n` only
//                     when there were any.
//   SGLang's log      "Prefill batch, #new-token: ..., #cached-token: ..., token
//                     usage: 0.12, #running-req: ..." and "Decode batch, ...".
//
// Of a log, levels are means and maxima over its lines. vLLM's printed hit rate is
// of the latest requests only, so the last line counts.
// Several engines of one server (data parallel): counts add up, usage is averaged.
// Errors:     no line of these kinds; metrics of several models; a value that is
//             no number: with line and value.
// Source:     vllm/v1/metrics/loggers.py and prometheus names; sglang
//             srt/metrics/collector.py and scheduler_metrics_mixin.py.

#ifndef KVSIM_TOOLS_SERVER_METRICS_H_
#define KVSIM_TOOLS_SERVER_METRICS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct ServerMetrics {
  std::string source;     // "vLLM /metrics", "vLLM log", ...
  bool averaged = false;  // levels are means over lines, not of one moment
  int64_t lines = 0;      // of a log, that said anything

  // Shares in [0, 1]; counts. Missing: the server did not say.
  std::optional<double> usage, usage_max, hit_rate;
  std::optional<double> running, running_max, waiting;
  std::optional<int64_t> preemptions;
};

absl::StatusOr<ServerMetrics> ReadServerMetrics(absl::string_view text);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_SERVER_METRICS_H_
