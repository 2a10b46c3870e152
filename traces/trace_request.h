// One row of a trace, whatever file format it came from.
//
// Model:      a request with a prompt of input_length tokens that the recorded
//             server answered with output_length tokens. hash_ids name the
//             prompt's blocks of hash_block tokens: equal (scope, id) means
//             equal tokens. The ids cover either whole blocks only (WEKA:
//             floor(input_length / hash_block) ids) or the last partial block
//             too (Mooncake: ceil); full_hash_blocks() tells them apart.
// Invariants: (1) lengths, times and turn are >= 0;
//             (2) hash_block == 0 exactly when the trace has no ids; then
//                 hash_ids is empty; else the number of ids is floor or ceil;
//             (3) previous is -1 or an earlier row's id: previous < id.
// Units:      tokens and nanoseconds.
#ifndef KVSIM_TRACES_TRACE_REQUEST_H_
#define KVSIM_TRACES_TRACE_REQUEST_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kvsim {

struct TraceRequest {
  int64_t id = 0;          // row number in reading order, from 0; over a folder
                           // a running number
  int64_t arrival_ns = 0;  // from the trace's time zero; never decreases
  int64_t input_length = 0;
  int64_t output_length = 0;  // 0 is possible: a request that gave nothing
  int64_t priority = 0;       // smaller is served first
  int64_t hash_block = 0;     // tokens per hash id; 0: the trace has no ids
  std::vector<uint64_t> hash_ids;
  uint64_t scope = 0;  // where ids are comparable: 0 the whole trace, else
                       // one number per conversation

  // Sessions (conversations of turns). -1, 0, -1, 0 in traces without.
  int64_t session = -1;
  int64_t turn = 0;           // from 0 within the session
  int64_t previous = -1;      // the row whose end lets this one start: the turn
                              // before, or for a subagent's first turn the turn
                              // that started it (another session); -1: none
  int64_t think_time_ns = 0;  // from the end of `previous` to this arrival

  // Blocks of the prompt that an id names completely.
  int64_t full_hash_blocks() const {
    if (hash_block == 0) return 0;
    return std::min(static_cast<int64_t>(hash_ids.size()),
                    input_length / hash_block);
  }
  // True when the last id names a block that the prompt only begins.
  bool last_id_is_partial() const {
    return static_cast<int64_t>(hash_ids.size()) > full_hash_blocks();
  }

  friend bool operator==(const TraceRequest&, const TraceRequest&) = default;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_REQUEST_H_
