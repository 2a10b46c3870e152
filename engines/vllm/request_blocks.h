// What one request holds in every cache group.
//
// Ownership:  the scheduler owns it; the cache manager changes it, nobody else.
#ifndef KVSIM_ENGINES_VLLM_REQUEST_BLOCKS_H_
#define KVSIM_ENGINES_VLLM_REQUEST_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/block_id.h"
#include "base/key_chain.h"

namespace kvsim::vllm {

inline constexpr BlockId kNotInHost = UINT32_MAX;

struct GroupBlocks {
  std::vector<BlockId> table;  // position-indexed; null where nothing is kept
  int64_t num_keyed = 0;       // leading entries whose keys are settled
  int64_t slots_end = 0;       // tokens that slots were asked for
  bool partial_keyed = false;  // the prompt's last unit has its key
  // Recurrent groups in align mode.
  bool started = false;        // holds a running state of its own
  std::vector<int64_t> older;  // entries of states before the running one
  // While the request is swapped out the table is null, and this says where its
  // entries are; else empty.
  std::vector<BlockId> host;
};

struct RequestBlocks {
  int64_t id = 0;     // names the request; never reused
  int32_t owner = 0;  // the RequestId, which says on whose behalf keys change
  KeyChain* keys = nullptr;  // chain at the hash unit of all groups
  int64_t num_prompt = 0;    // tokens; decides which blocks get keys
  int64_t junction = 0;      // a prefix that some groups have and others lack
  int64_t rows_done = 0;     // leading tokens whose rows are computed
  static constexpr size_t kHoldsNothing = SIZE_MAX;
  size_t holder = kHoldsNothing;  // the manager's place for it
  std::vector<GroupBlocks> groups;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_REQUEST_BLOCKS_H_
