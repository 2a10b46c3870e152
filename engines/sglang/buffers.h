// The buffers that SGLang allocates for so many tokens and state slots, on one
// rank.
//
// Model:   row buffers hold a page more than requests can use, state buffers a
//          slot more. A window layer's rows lie in a pool of their own when
//          there are full layers too. The pages of compressed attention (DeepSeek
//          V4) step by 576 bytes; index keys are not padded; states of
//          compressors of 4 follow the window pool, others are per request.
// Units:   bytes; tokens of this rank.

#ifndef KVSIM_ENGINES_SGLANG_BUFFERS_H_
#define KVSIM_ENGINES_SGLANG_BUFFERS_H_

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "engines/cache_pools.h"
#include "engines/sglang/token_budget.h"

namespace kvsim::sglang {

struct BufferSizes {
  int64_t tokens = 0;         // full history
  int64_t window_tokens = 0;  // of the pool beside it, if there is one
  int64_t state_slots = 0;
};

// Pools "full", "swa", "draft", "state", and of compressed attention "c4",
// "c128", "c4_state", "c128_state"; those that would be empty are left out.
// Parts: K and V of heads, KV of latents, index, conv, ssm, state.
std::vector<CachePool> AllocateBuffers(const BudgetInput& input,
                                       const BufferSizes& sizes);

// Bytes of one page of a tensor of compressed attention, and of those what its
// entries use. `page_size` is in tokens.
struct CompressedPage {
  Bytes padded;
  Bytes used;
};
CompressedPage PageOf(const CacheTensor& tensor, int64_t page_size);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_BUFFERS_H_
