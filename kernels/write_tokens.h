// Writes the rows of new tokens into the pages of all layers of a group.
//
// Model:      token i's row goes to slot slots[i]: row slots[i] % block_tokens of page
//             slots[i] / block_tokens, in every layer, encoded as the page's format
//             says. A negative slot (kNoSlot: padding, a token of another rank) is
//             skipped and its source row is not read. Bytes that belong to no row
//             written, and a page's unused ones, stay as they are.
// Shapes:     sources[p].layers [num_layers] -> rows [num_tokens], token_stride apart,
//             of parts[p].groups · group_elements bf16 (bytes in a raw part), without
//             gaps; sources[p].scales [num_layers] for a part with a scale per layer:
//             codes stand for x / scale. slots [num_tokens].
// Units:      bytes; slots are rows of this rank.
// Costs:      reads and writes each row once (a quantised group is read twice, the
//             second time from the cache). All layers in one launch. Rows that are
//             copied move 16 bytes an access where both addresses are multiples of
//             16; any address is allowed, but for sources of quantised parts,
//             which lie on even ones.
// Errors:     BadArgument naming the argument. Slots must be distinct and below
//             num_blocks · block_tokens, which is not checked.
// Source:     vLLM, csrc/cache_kernels.cu: reshape_and_cache_flash,
//             concat_and_cache_mla, indexer_k_quant_and_cache.
#ifndef KVSIM_KERNELS_WRITE_TOKENS_H_
#define KVSIM_KERNELS_WRITE_TOKENS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/page_format.h"
#include "kernels/paged_layers.h"
#include "kernels/row_encoding.h"

namespace kvsim {

// Where the rows of a part come from.
struct RowSource {
  const std::byte* const* layers = nullptr;
  int64_t token_stride = 0;
  const float* scales = nullptr;

  KVSIM_HOST_DEVICE const std::byte* Row(int32_t layer, int64_t token) const {
    return layers[layer] + token * token_stride;
  }
};

struct WriteTokensArgs {
  PagedLayers pages;
  PageFormat format;
  RowSource sources[kMaxPageParts];
  const int64_t* slots = nullptr;
  int64_t num_tokens = 0;
};

// A slot, as a page and a row of it.
struct PageRow {
  int64_t page = 0;
  int64_t row = 0;
};

KVSIM_HOST_DEVICE inline PageRow RowOfSlot(int64_t slot, int32_t block_tokens) {
  return {slot / block_tokens, slot % block_tokens};
}

// The code of an element of a quantised part, divided by its scale.
KVSIM_HOST_DEVICE inline uint8_t EncodeElement(ElementCode code, float scaled) {
  return code == ElementCode::kInt8 ? EncodeInt8(scaled) : EncodeFp8(scaled);
}

// What both check.
LaunchStatus CheckWriteTokens(const WriteTokensArgs& args);

LaunchStatus WriteTokensOnHost(const WriteTokensArgs& args);
LaunchStatus LaunchWriteTokens(const WriteTokensArgs& args,
                               DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_WRITE_TOKENS_H_
