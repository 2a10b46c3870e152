// A report for people: aligned tables with units, shares and causes in words.
//
// Every number comes from the message, so text and JSON cannot disagree. The
// text is the same on every compiler.
#ifndef KVSIM_SIM_REPORT_TEXT_H_
#define KVSIM_SIM_REPORT_TEXT_H_

#include <string>

#include "base/text.h"
#include "sim/report.pb.h"

namespace kvsim {

// Bytes in `units`; JSON always has bytes.
std::string ReportText(const Report& report,
                       ByteUnits units = ByteUnits::kBinary);
std::string HitReportText(const HitReport& report);

}  // namespace kvsim

#endif  // KVSIM_SIM_REPORT_TEXT_H_
