// The report's parts about paging: what it costs by a table, and the run that performed
// it.
#ifndef KVSIM_SIM_PAGING_REPORT_H_
#define KVSIM_SIM_PAGING_REPORT_H_

#include <cstdint>
#include <string>

#include "base/text.h"
#include "kernels/paging_backend.h"
#include "sim/page_op_stream.h"
#include "sim/paged_cost.h"
#include "sim/report.pb.h"

namespace kvsim {

// `table` is the file as given. Swaps are priced by the run's host link: REQUIRES:
// FillPreemption was called.
void FillPagingCost(const PagedCost& cost, const std::string& table,
                    Report* report);

// `modelled` are the pools as the engine has them, the backend's may be smaller.
void FillPagingRun(const PagingBackend& backend,
                   std::span<const PoolShape> modelled,
                   const PageOpStream& stream, Report* report);

// "" of a run without either.
std::string PagingText(const Report& report, ByteUnits units);

}  // namespace kvsim

#endif  // KVSIM_SIM_PAGING_REPORT_H_
