#include "tools/report_columns.h"

#include "absl/strings/str_format.h"

namespace kvsim {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

double Duration(const Report& r) { return Seconds(r.end_ns() - r.start_ns()); }

double PerSecond(int64_t count, const Report& r) {
  const double seconds = Duration(r);
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

#define COUNT(field, better)                                           \
  {                                                                    \
#field, Better::better, true,                                      \
        [](const Report& r) { return static_cast<double>(r.field()); } \
  }
#define TIMES(field)                                                 \
  {#field "_p50_s", Better::kLess, false,                            \
   [](const Report& r) { return Seconds(r.field().p50_ns()); }},     \
      {#field "_p90_s", Better::kLess, false,                        \
       [](const Report& r) { return Seconds(r.field().p90_ns()); }}, \
  {                                                                  \
#field "_p99_s", Better::kLess, false,                           \
        [](const Report& r) { return Seconds(r.field().p99_ns()); }  \
  }

constexpr ReportColumn kColumns[] = {
    COUNT(requests, kNeither),
    COUNT(finished, kMore),
    COUNT(never_fit, kLess),
    {"duration_s", Better::kLess, false, Duration},
    {"output_tokens_per_s", Better::kMore, false,
     [](const Report& r) { return PerSecond(r.output_tokens(), r); }},
    {"goodput_share", Better::kMore, false,
     [](const Report& r) { return r.goodput().share(); }},
    TIMES(ttft),
    TIMES(tpot),
    TIMES(e2e),
    TIMES(waiting),
    COUNT(peak_running, kMore),
    {"mean_running", Better::kMore, false,
     [](const Report& r) { return r.mean_running(); }},
    {"hit_rate", Better::kMore, false,
     [](const Report& r) { return r.hit_rate(); }},
    COUNT(prompt_tokens, kNeither),
    COUNT(hit_tokens, kMore),
    {"checkpoints", Better::kLess, true,
     [](const Report& r) {
       return static_cast<double>(r.checkpoints().stored());
     }},
    {"checkpoint_mean_bytes", Better::kLess, true,
     [](const Report& r) {
       return static_cast<double>(r.checkpoints().mean_bytes());
     }},
    COUNT(output_tokens, kNeither),
    COUNT(preemptions, kLess),
    COUNT(requests_preempted, kLess),
    COUNT(recomputed_tokens, kLess),
    COUNT(steps, kNeither),
    COUNT(allocations, kNeither),
    COUNT(evictions, kLess),
    COUNT(num_blocks, kNeither),
    COUNT(block_tokens, kNeither),
    COUNT(bytes_per_block, kNeither),
    COUNT(pool_bytes, kLess),
    {"step_time_median_error", Better::kNeither, false,
     [](const Report& r) { return r.step_times().median_error(); }},
    {"step_time_p90_error", Better::kNeither, false,
     [](const Report& r) { return r.step_times().p90_error(); }},
};

#undef COUNT
#undef TIMES

}  // namespace

std::string ReportColumn::Text(const Report& report) const {
  return whole ? absl::StrFormat("%.0f", get(report))
               : absl::StrFormat("%.10g", get(report));
}

std::span<const ReportColumn> ReportColumns() { return kColumns; }

const ReportColumn* FindReportColumn(absl::string_view name) {
  for (const ReportColumn& column : kColumns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

}  // namespace kvsim
