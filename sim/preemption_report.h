// The report's part about preemption, and the two modes side by side.
#ifndef KVSIM_SIM_PREEMPTION_REPORT_H_
#define KVSIM_SIM_PREEMPTION_REPORT_H_

#include <cstdint>
#include <string>

#include "base/text.h"
#include "sim/preemption_metrics.h"
#include "sim/report.pb.h"

namespace kvsim {

// `mode` is the flag's value; host_bytes what its host memory holds, in blocks.
// REQUIRES: FillRequests and FillPool were called.
void FillPreemption(const PreemptionSummary& summary, const std::string& mode,
                    int64_t host_bytes, Report* report);
// Beside the same trace in the other mode. REQUIRES: both have a preemption; one's
// mode is "swap", the other's "recompute".
void FillPreemptionComparison(const Report& other, int64_t bytes_per_second,
                              Report* report);

// "" of a run that recomputes and is compared with none.
std::string PreemptionText(const Report& report, ByteUnits units);

}  // namespace kvsim

#endif  // KVSIM_SIM_PREEMPTION_REPORT_H_
