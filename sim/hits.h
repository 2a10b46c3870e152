// How much of a trace's prompts a prefix cache of N blocks would serve.
//
// Model:      rows pass one cache in file order; times and outputs are unused,
//             nothing is pinned, nothing is preempted. A row hits its longest
//             prefix of cached blocks, then all its blocks pass the cache. All
//             rows warm it; only the last rows are counted.
//             What a block of a prompt is depends on the partial tail:
//             kShared  every block is an entry, the partial last one too, named
//                      by the trace's last id; k hit blocks give
//                      min(k · block_tokens, input_length) tokens.
//             kUnique  as an engine does it: whole blocks only, the tail's
//                      blocks occupy entries and never hit, and at least one
//                      token of every prompt is computed, so at most
//                      floor((input_length - 1) / block_tokens) blocks hit.
// Units:      tokens and blocks.
// Costs:      memory 8 B per block reference (optimal: about 20 B more).
// Source:     "Hits only" in docs/replay.md.
#ifndef KVSIM_SIM_HITS_H_
#define KVSIM_SIM_HITS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "allocator/hit_cache.h"
#include "allocator/key_rows.h"
#include "traces/token_stream.h"
#include "traces/trace_reader.h"
#include "traces/trace_request.h"

namespace kvsim {

enum class HitPolicy : uint8_t { kLru, kFifo, kOptimal };

// "lru", "fifo", "optimal".
absl::StatusOr<HitPolicy> ParseHitPolicy(absl::string_view text);
const char* HitPolicyName(HitPolicy policy);

struct HitOptions {
  HitPolicy policy = HitPolicy::kLru;
  int64_t num_blocks = 0;
  // Counted are the rows from floor(rows · (1 - share)) on. In [0, 1], taken to
  // a millionth.
  double measured_share = 1.0;
};

struct HitResult {
  int64_t rows = 0;
  int64_t references = 0;  // blocks of all rows
  int64_t evictions = 0;   // by all rows
  int64_t measured_rows = 0;
  int64_t measured_tokens = 0;  // prompt tokens of the measured rows
  int64_t measured_references = 0;
  int64_t hit_blocks = 0;  // of the measured rows, as all below
  int64_t hit_tokens = 0;
  int64_t hit_rows = 0;  // rows with at least one hit

  friend bool operator==(const HitResult&, const HitResult&) = default;
};

// The block references of a trace, ready to be replayed against any cache.
class HitTrace {
 public:
  // Reads the whole trace. REQUIRES: block_tokens > 0. InvalidArgument for what
  // the reader refuses and for a trace of 0 rows.
  static absl::StatusOr<HitTrace> Read(TraceReader* reader,
                                       const TokenStreamOptions& options,
                                       int64_t block_tokens);

  int64_t rows() const { return rows_.size(); }
  const KeyRows& keys() const { return rows_; }
  int64_t block_tokens() const { return block_tokens_; }
  int64_t input_length(int64_t row) const {
    return input_lengths_[static_cast<size_t>(row)];
  }
  // How many leading blocks of a prompt can hit at most.
  int64_t HitLimit(int64_t input_length) const;
  // What does not depend on a cache: rows and references, measured and in all.
  HitResult Counted(double measured_share) const;

  // InvalidArgument unless 0 < num_blocks < 2^31.
  absl::StatusOr<HitResult> Replay(const HitOptions& options) const;
  // The same against a cache of the caller's.
  HitResult Replay(HitCache& cache, double measured_share) const;

 private:
  HitTrace(const TokenStreamOptions& options, int64_t block_tokens)
      : stream_(options), options_(options), block_tokens_(block_tokens) {}

  void Add(const TraceRequest& row);
  int64_t NumBlocks(int64_t input_length) const;

  TokenStream stream_;
  TokenStreamOptions options_;
  int64_t block_tokens_;
  KeyRows rows_;
  std::vector<int64_t> input_lengths_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_HITS_H_
