// The pages of one cache group, as kernels see them.
//
// Model:      every layer of the group has its own array of pages; block b is page b
//             of each of them. `layers` is an array that the kernel reads, so for a
//             device it is in device memory, as the pages are.
// Shapes:     layers [num_layers] -> bytes [num_blocks][block_stride].
// Units:      bytes, rows of this rank.
#ifndef KVSIM_KERNELS_PAGED_LAYERS_H_
#define KVSIM_KERNELS_PAGED_LAYERS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/host_device.h"

namespace kvsim {

struct PagedLayers {
  std::byte* const* layers = nullptr;
  int32_t num_layers = 0;
  int32_t num_blocks = 0;
  int32_t block_tokens = 0;  // rows per page
  int64_t block_stride = 0;  // bytes from one page of a layer to the next

  KVSIM_HOST_DEVICE std::byte* Page(int32_t layer, int64_t block) const {
    return layers[layer] + block * block_stride;
  }
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGED_LAYERS_H_
