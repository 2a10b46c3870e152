// The text form of `kvsim capacity`: tables with units, for people.

#ifndef KVSIM_TOOLS_CAPACITY_REPORT_H_
#define KVSIM_TOOLS_CAPACITY_REPORT_H_

#include <cstdint>
#include <ostream>
#include <vector>

#include "base/text.h"
#include "engines/capacity.h"
#include "engines/deployment_search.h"

namespace kvsim {

void PrintCapacity(const CapacityQuestion& question,
                   const CapacityAnswer& answer, ByteUnits units,
                   std::ostream& out);

void PrintDeployments(const CapacityQuestion& question, int64_t concurrency,
                      const std::vector<Deployment>& deployments,
                      std::ostream& out);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CAPACITY_REPORT_H_
