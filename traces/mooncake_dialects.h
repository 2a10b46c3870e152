// Rows in Mooncake's shape whose names, units or optional fields differ.
//
// Model:      a dialect is data: what its fields are called, which may be
//             missing, how long a unit of time and how large a block is. One
//             decoder reads them all.
// Sessions:   `session_id`. A row without a time that continues a session
//             arrives, in the open loop, with the row before it; in the closed
//             loop its delay counts from the end of the session's last turn.
// Source:     kvcache.ai's simulator, Dynamo's and AISimulate's replay, AIPerf,
//             vLLM's timed_trace benchmark.
#ifndef KVSIM_TRACES_MOONCAKE_DIALECTS_H_
#define KVSIM_TRACES_MOONCAKE_DIALECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "traces/id_count.h"
#include "traces/json_rows.h"
#include "traces/timed_trace_options.h"

namespace kvsim {

struct MooncakeDialect {
  // Of several names the first that a row has counts.
  std::vector<std::string> timestamp = {"timestamp"};
  std::vector<std::string> input_length = {"input_length"};
  std::vector<std::string> output_length = {"output_length"};
  std::vector<std::string> hash_ids = {"hash_ids"};
  std::vector<std::string> delay = {"delay"};
  int64_t unit_ns = 1'000'000;
  int64_t hash_block = 512;  // where the row has no `block_size`
  IdCount id_count = IdCount::kAllBlocks;
  bool needs_timestamp = true;  // but for later turns of a session
  bool needs_output = true;     // otherwise 0
  bool needs_ids = true;        // otherwise the row shares nothing
  bool needs_block_size = false;
};

MooncakeDialect KvcacheAiDialect();
MooncakeDialect DynamoMooncakeDialect();
MooncakeDialect AiperfDialect();
MooncakeDialect TimedTraceDialect(const TimedTraceOptions& options);

class MooncakeDialectRows final : public JsonRows {
 public:
  explicit MooncakeDialectRows(MooncakeDialect dialect);

  RowTraits traits() const override { return RowTraits(); }
  bool MayHaveSessions(absl::string_view first) const override;

 private:
  Outcome DecodeFields(JsonFields* fields, const TraceProblem& place,
                       DecodedRow* row,
                       std::vector<TraceProblem>* problems) override;
  void ReadTimes(JsonFields* fields, DecodedRow* row);
  void ReadLengths(JsonFields* fields, TraceRequest* row);
  void ReadIds(JsonFields* fields, TraceRequest* row);

  MooncakeDialect dialect_;
  absl::flat_hash_set<std::string> sessions_;  // seen so far
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_MOONCAKE_DIALECTS_H_
