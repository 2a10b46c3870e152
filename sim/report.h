// Fills the report's messages from what was measured.
#ifndef KVSIM_SIM_REPORT_H_
#define KVSIM_SIM_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sim/contiguous_baseline.h"
#include "sim/hits.h"
#include "sim/pool_metrics.h"
#include "sim/report.pb.h"
#include "sim/request_metrics.h"
#include "sim/roofline_fits.h"
#include "sim/sequences.h"

namespace kvsim {

void FillRequests(const RequestSummary& summary, Report* report);
void FillPool(const PoolSummary& summary, Report* report);
// What the report says of a cache group beside its bytes.
struct GroupFacts {
  std::string kind;
  int64_t layers = 0;  // 0: not known
  int64_t block_tokens = 0;
  int64_t tokens = 0;      // window, chunk or encoder's length
  std::string state_mode;  // of recurrent groups
};
// The ledgers of several groups, and the largest waste.
// REQUIRES: FillPool was called; facts of every group of the summary, or more.
void FillGroups(const PoolSummary& summary,
                const std::vector<GroupFacts>& facts, Report* report);
// REQUIRES: FillPool was called; bytes_per_block is that of the ledger's unit.
void FillSequences(const PoolSummary& summary, const Sequences& sequences,
                   int64_t bytes_per_block, Report* report);
// The states that one prefix of all recurrent groups has.
struct StateFacts {
  std::string policy;      // "": the engine's
  int64_t groups = 0;      // recurrent ones
  int64_t bytes_each = 0;  // of all of them
};
// REQUIRES: facts.groups > 0.
void FillCheckpoints(const PoolSummary& summary, const StateFacts& facts,
                     Report* report);
// REQUIRES: FillPool was called: rates need the duration.
void FillGoodput(const RequestSummary& summary, const std::string& slo,
                 Report* report);
void AddContiguous(const ContiguousSummary& summary, Report* report);
// REQUIRES: FillPool and FillRequests were called.
void FillCost(int64_t gpus, double price_per_gpu_hour, Report* report);
// What the run without prefix caching would have been.
void FillWithoutPrefixCaching(const Report& without, Report* report);
void FillStepTimes(const RooflineFit& fit, Report* report);
void FillHits(const HitResult& result, HitReport* report);

void AddSwitch(const std::string& name, const std::string& value,
               Manifest* manifest);

}  // namespace kvsim

#endif  // KVSIM_SIM_REPORT_H_
