// What a trace holds, counted in one pass.
//
// Model:      feed it every row; ask for the summary. The prefix figures
//             imagine a cache without end, one entry per (scope, id), partial
//             last blocks included: a row hits the longest run of its first ids
//             that earlier rows had.
// Units:      tokens, blocks (of the trace's own hash block) and nanoseconds.
//             Sums stay at the int64 maximum instead of overflowing.
// Costs:      16 bytes per row and about 50 per distinct id.
#ifndef KVSIM_TRACES_TRACE_STATS_H_
#define KVSIM_TRACES_TRACE_STATS_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "traces/trace_request.h"
#include "traces/value_summary.h"

namespace kvsim {

struct TraceSummary {
  int64_t rows = 0;
  int64_t first_arrival_ns = 0;
  int64_t last_arrival_ns = 0;
  int64_t distinct_arrivals = 0;
  ValueSummary input;
  ValueSummary output;
  int64_t rows_without_output = 0;
  std::vector<int64_t> hash_blocks;  // every size that occurs, ascending

  int64_t block_references = 0;
  int64_t distinct_blocks = 0;
  int64_t hit_blocks = 0;  // of block_references, by an endless cache
  int64_t hit_full_block_tokens = 0;  // tokens of the full blocks among them:
                                      // the most an engine could hit
  int64_t partial_tail_reuses =
      0;                         // rows whose partial last id was seen before
  int64_t parent_conflicts = 0;  // references whose id had another id before
                                 // it when it was first seen: not chained
  int64_t repeated_ids = 0;      // references to an id earlier in its own row

  int64_t sessions = 0;
  int64_t longest_session_turns = 0;
  int64_t scopes = 0;
};

class TraceStats {
 public:
  void Add(const TraceRequest& row);
  TraceSummary Summary() const;

 private:
  // What is known of one (scope, id).
  struct Block {
    uint64_t parent = 0;    // the id before it when it was first seen
    bool is_first = false;  // no id was before it
    int64_t first_row = 0;  // the rows that have it
    int64_t last_row = -1;
  };
  void AddBlocks(const TraceRequest& row);

  TraceSummary summary_;
  std::vector<int64_t> inputs_;
  std::vector<int64_t> outputs_;
  std::set<int64_t> hash_blocks_;
  absl::flat_hash_set<uint64_t> scopes_;
  absl::flat_hash_map<int64_t, int64_t> turns_;  // by session
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, Block> blocks_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_STATS_H_
