// What vLLM's planner knows about the cache of one layer: the kind, the block
// it is cut into, and the bytes of one page.
//
// Model:      page = ceil_to(rows per block x bytes per row, alignment), unless
//             the planner pads it further. A row is what one token leaves
//             behind, or one entry per `tokens_per_row` tokens when the layer
//             compresses. A recurrent state is one page per sequence slot.
// Per rank:   everything here is one tensor-parallel rank's share.
// Merging:    two layers may share a group when their specs are equal.
// Ownership:  plain values.

#ifndef KVSIM_ENGINES_VLLM_KV_SPEC_H_
#define KVSIM_ENGINES_VLLM_KV_SPEC_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/units.h"
#include "engines/block_demand.h"
#include "engines/state_mode.h"

namespace kvsim::vllm {

enum class SpecKind {
  kFullAttention,
  kMla,  // latents, index keys: one row per token for all heads
  kSlidingWindow,
  kSlidingWindowMla,
  kChunkedLocal,
  kState,           // recurrent: Mamba, linear attention, short convolutions
  kCrossAttention,  // the encoder's tokens; `window` is how many at most
};

struct KvSpec {
  SpecKind kind = SpecKind::kFullAttention;
  Tokens block_tokens{16};
  Bytes row_bytes{0};          // attention: one stored row
  int64_t tokens_per_row = 1;  // attention: 4, 128 for compressed entries
  // Index keys folded into the rows of their layer: one for so many tokens.
  Bytes index_row_bytes{0};
  int64_t tokens_per_index_row = 1;
  Bytes state_bytes{0};       // kState: one sequence slot
  Tokens window{0};           // sliding kinds: the window; kChunkedLocal: chunk
  Bytes alignment{1};         // the page is a multiple of this
  Bytes padded_page{0};       // 0: the natural page
  int64_t heads = 1;          // of one row, on one rank
  int64_t head_elements = 0;  // of one head's row: what else must be equal

  friend bool operator==(const KvSpec&, const KvSpec&) = default;
};

// Bytes of the page that hold rows or state.
Bytes UsedPage(const KvSpec& spec);

// Bytes of the page: UsedPage, aligned and padded.
Bytes Page(const KvSpec& spec);

bool IsSliding(SpecKind kind);
// Kinds that keep every token: their layers may share one block table even when
// their pages differ.
bool KeepsAllHistory(SpecKind kind);

// The engine's own word: "full_attention", "mla_attention", "sliding_window",
// "sliding_window_mla", "chunked_local_attention", "mamba", "cross_attention".
absl::string_view SpecKindName(SpecKind kind);

// What the whole deployment adds to a spec's demand for blocks.
struct DemandRules {
  int64_t decode_context = 1;
  StateMode state_mode = StateMode::kAlign;
  int64_t speculative_tokens = 0;
  Tokens window_extra{0};  // of multi-module MTP: speculative tokens - 1
};

// Blocks that one request holds in a group with this spec.
BlockDemand DemandOf(const KvSpec& spec, const DemandRules& rules);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_KV_SPEC_H_
