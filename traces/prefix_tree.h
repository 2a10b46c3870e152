// The tree that the prompts of a trace make of its block ids.
//
// Model:      a node is a prefix of whole blocks; two rows share a node when
//             their scopes and first ids are equal. A prompt is a path from the
//             root. An id's node depends on all ids before it, so ids need not
//             be chained.
// Costs:      O(blocks) a row; about 60 bytes per node.
#ifndef KVSIM_TRACES_PREFIX_TREE_H_
#define KVSIM_TRACES_PREFIX_TREE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "traces/trace_request.h"

namespace kvsim {

// A run of blocks that the same rows have, from its first block on.
struct HotPrefix {
  int64_t rows = 0;           // that begin with it
  int64_t tokens = 0;         // from the prompt's start to the run's end
  int64_t shared_tokens = 0;  // of the run alone
  int64_t saved_tokens = 0;   // (rows - 1) * shared_tokens
  uint64_t scope = 0;
  uint64_t last_id = 0;  // the run's last block
};

// What a row found in the tree.
struct PrefixHit {
  int64_t blocks = 0;     // whole blocks from its start that earlier rows had
  int64_t last_row = -1;  // the latest row that had all of them; -1: no hit
};

struct PrefixTreeSummary {
  int64_t nodes = 0;
  int64_t roots = 0;            // different first blocks
  int64_t shared_nodes = 0;     // of two rows or more
  int64_t branching_nodes = 0;  // with two children or more
  int64_t max_children = 0;
  int64_t max_depth = 0;   // blocks
  int64_t hit_blocks = 0;  // whole blocks that an earlier row had
  int64_t hit_tokens = 0;  // their tokens: the ceiling of any prefix cache
  std::vector<int64_t> children;  // of every branching node
  std::vector<HotPrefix> hot;     // most saved tokens first
};

class PrefixTree {
 public:
  PrefixHit Add(const TraceRequest& row);

  // `hot` lists at most that many prefixes.
  PrefixTreeSummary Summary(size_t hot) const;

 private:
  struct Node {
    int64_t parent = -1;
    int64_t rows = 0;
    int64_t last_row = -1;
    int64_t depth = 1;   // blocks
    int64_t tokens = 0;  // of the block itself
    int64_t end = 0;     // tokens from the prompt's start to the block's end
    uint64_t scope = 0;
    uint64_t id = 0;
  };

  std::vector<int64_t> CountChildren(PrefixTreeSummary* summary) const;
  std::vector<HotPrefix> HotPrefixes(const std::vector<int64_t>& children,
                                     size_t count) const;

  std::vector<Node> nodes_;
  // By (parent, or -1 - scope at the root; id).
  absl::flat_hash_map<std::pair<int64_t, uint64_t>, int64_t> index_;
  int64_t hit_blocks_ = 0;
  int64_t hit_tokens_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_PREFIX_TREE_H_
