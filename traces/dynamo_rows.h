// The requests in Dynamo's request trace.
//
// Format:     JSON lines, one event each, alone or as {"timestamp", "event"}.
//             Events of `event_type` "request_end" are requests; others are
//             passed over. `event_time_unix_ms`; `agent_context`: `session_id`,
//             `parent_session_id` (whose latest turn started the session);
//             `request`: `input_tokens`, `output_tokens`,
//             `request_received_ms` (else the event's time less
//             `total_time_ms`), `total_time_ms`, `replay`: `trace_block_size`,
//             `input_length`, `input_sequence_hashes` (64 bits, cumulative, one
//             per whole block).
// Order:      events are written when requests end, so they are sorted by the
//             time they were received; the first one arrives at 0.
// Source:     schema dynamo.request.trace.v1.
#ifndef KVSIM_TRACES_DYNAMO_ROWS_H_
#define KVSIM_TRACES_DYNAMO_ROWS_H_

#include <vector>

#include "traces/json_rows.h"

namespace kvsim {

class DynamoRows final : public JsonRows {
 public:
  RowTraits traits() const override { return kLogTraits; }

 private:
  Outcome DecodeFields(JsonFields* fields, const TraceProblem& place,
                       DecodedRow* row,
                       std::vector<TraceProblem>* problems) override;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_DYNAMO_ROWS_H_
