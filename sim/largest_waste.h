// The most bytes of the pool that serve nobody, and the flag that would change it.
//
// Model:      padding, the rest of last blocks, rows behind every window, states kept
//             for a step and the pool's remainder are waste; free and idle blocks are
//             room, checkpoints and duplicates are cache. Groups of one kind count
//             together, averaged over time.
#ifndef KVSIM_SIM_LARGEST_WASTE_H_
#define KVSIM_SIM_LARGEST_WASTE_H_

#include <string>

#include "sim/report.pb.h"

namespace kvsim {

// Sets report->largest_waste. `kind` is that of a pool without groups of its own.
// REQUIRES: the ledger's mean and the groups are filled.
void FillLargestWaste(const std::string& kind, Report* report);

}  // namespace kvsim

#endif  // KVSIM_SIM_LARGEST_WASTE_H_
