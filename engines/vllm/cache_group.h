// One cache group of a model: layers that share one block table per request.
//
// Model:      what a group keeps decides its rules: full attention keeps every
//             token (MHA, GQA, MLA, compressed latents); a sliding window the last
//             `window` tokens; chunked local attention the current chunk; recurrent
//             layers a state per sequence, checkpointed by `state_mode`; cross
//             attention the encoder's tokens. Groups of one rule and block size are
//             equal and are looked up together.
// Units:      tokens and bytes of one rank.
// Source:     vllm/v1/kv_cache_interface.py, kv_cache_coordinator.py (2026-08-17).
#ifndef KVSIM_ENGINES_VLLM_CACHE_GROUP_H_
#define KVSIM_ENGINES_VLLM_CACHE_GROUP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engines/state_mode.h"

namespace kvsim::vllm {

enum class GroupKind : uint8_t {
  kFull,
  kSlidingWindow,
  kChunkedLocal,
  kRecurrent,
  kCross,
};
// "full", "sliding_window", …
const char* GroupKindName(GroupKind kind);

// How the bytes of a block divide. The defaults count rows instead of bytes.
struct BlockGeometry {
  int64_t row_bytes = 1;     // one token in all layers of the group
  int64_t state_bytes = 0;   // one state of all layers of the group
  int64_t page_padding = 0;  // bytes per block beyond rows or state
  int64_t slot_padding = 0;  // bytes per block that no layer uses
};

struct CacheGroup {
  GroupKind kind = GroupKind::kFull;
  int64_t block_tokens = 16;   // times the context-parallel ranks
  int64_t window = 0;          // kSlidingWindow
  int64_t extra_window = 0;    // … tokens kept besides, for drafts
  int64_t chunk = 0;           // kChunkedLocal
  int64_t encoder_tokens = 0;  // kCross: per request
  StateMode state_mode = StateMode::kAlign;  // kRecurrent
  BlockGeometry geometry;

  // Whether a look-up may treat the two as one.
  bool SameRule(const CacheGroup& other) const;
  // Bytes of one block.
  int64_t BlockBytes() const;
  // Blocks in front of a boundary that make a hit possible there. REQUIRES: a
  // window, chunk or state.
  int64_t TailBlocks() const;
};

// What the groups have in common.
struct CacheUnits {
  int64_t hash_tokens = 0;       // tokens per key of a request's chain
  int64_t scheduler_tokens = 0;  // hits and keys come in multiples of this …
  bool fine_hits = false;        // … or, when true, of hash_tokens
};

// The units of `groups`. With a match unit, or when block sizes differ, keys are
// finer than blocks; hits are finer too when every recurrent group is in align mode
// and every window group's blocks are as small as the keys. InvalidArgument names
// the value that does not divide.
absl::Status ComputeUnits(const std::vector<CacheGroup>& groups,
                          std::optional<int64_t> prefix_match_unit,
                          CacheUnits* units);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_CACHE_GROUP_H_
