// The figures of a replay's report as columns of a table, one list for all who
// print, store or compare many reports.

#ifndef KVSIM_TOOLS_REPORT_COLUMNS_H_
#define KVSIM_TOOLS_REPORT_COLUMNS_H_

#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/report.pb.h"

namespace kvsim {

enum class Better { kNeither, kMore, kLess };

struct ReportColumn {
  const char* name;  // ends in its unit: ttft_p99_s; counts have none
  Better better;
  bool whole;  // a count: printed without decimals
  double (*get)(const Report& report);

  // "12" or "0.4375": ten significant digits at most.
  std::string Text(const Report& report) const;
};

// In a fixed order; additions go to the end.
std::span<const ReportColumn> ReportColumns();

// Null when there is none of this name.
const ReportColumn* FindReportColumn(absl::string_view name);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPORT_COLUMNS_H_
