// Everything `kvsim trace stats` says about a trace.
//
// Model:      feed every row in order, then ask once. What it is built of:
//             value_summary.h (lengths, times), reuse_distance.h (use order:
//             rows in order, blocks from the prompt's start), prefix_tree.h,
//             block_size_ceiling.h. Only whole blocks count.
// Units:      tokens, blocks of the trace's own size, nanoseconds.
// Costs:      the sum of its parts: about 200 bytes per distinct block and, per
//             block size asked for, 9 bytes per block of that size.
#ifndef KVSIM_TRACES_TRACE_PROFILE_H_
#define KVSIM_TRACES_TRACE_PROFILE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "traces/block_size_ceiling.h"
#include "traces/prefix_tree.h"
#include "traces/reuse_distance.h"
#include "traces/trace_request.h"
#include "traces/value_summary.h"

namespace kvsim {

struct ArrivalProfile {
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t distinct = 0;        // different times
  int64_t most_at_once = 0;    // rows of one time
  int64_t busiest_minute = 0;  // rows; minutes count from time 0
  ValueSummary gaps_ns;        // between rows
  // Variance of the gaps over their mean squared: 1 for a Poisson process, more
  // for bursts. 0 without two rows or without time between them.
  double gap_variation = 0;
};

struct SessionProfile {
  int64_t sessions = 0;
  int64_t rows = 0;       // that belong to one
  ValueSummary turns;     // per session
  ValueSummary think_ns;  // of rows that follow another
};

struct BlockSizePoint {
  int64_t block_tokens = 0;
  int64_t hit_tokens = 0;
  int64_t tail_tokens = 0;
};

struct TraceProfile {
  int64_t rows = 0;
  ValueSummary input;
  ValueSummary output;
  ArrivalProfile arrivals;
  ValueSummary reuse_blocks;  // stack distances of blocks used again
  ValueSummary reuse_ns;      // times since their last use
  PrefixTreeSummary tree;
  SessionProfile sessions;
  std::vector<BlockSizePoint> block_sizes;
};

class TraceProfiler {
 public:
  // The block sizes to compute ceilings for. REQUIRES: each is > 0.
  explicit TraceProfiler(const std::vector<int64_t>& block_sizes);

  void Add(const TraceRequest& row);
  // With at most `hot` hot prefixes.
  TraceProfile Profile(size_t hot) const;

 private:
  void AddArrival(int64_t arrival_ns);
  void AddBlocks(const TraceRequest& row);

  std::vector<int64_t> inputs_;
  std::vector<int64_t> outputs_;
  std::vector<int64_t> gaps_ns_;
  std::vector<int64_t> reuse_blocks_;
  std::vector<int64_t> reuse_ns_;
  std::vector<int64_t> think_ns_;
  ArrivalProfile arrivals_;
  int64_t rows_at_once_ = 0;
  int64_t minute_ = 0;
  int64_t rows_in_minute_ = 0;
  ReuseDistance distances_;
  absl::flat_hash_map<ReuseDistance::Key, int64_t> last_use_ns_;
  PrefixTree tree_;
  std::vector<BlockSizeCeiling> ceilings_;
  int64_t session_rows_ = 0;
  absl::flat_hash_map<int64_t, int64_t> turns_;  // by session
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_PROFILE_H_
