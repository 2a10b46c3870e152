// Copies pages to other pages of the same pool, in all its layers.
//
// Model:      copy on write, forks and compaction. Of each pair's page the first
//             `bytes` are copied: all of it, or the rows that a partial block holds.
//             Pairs run in no particular order; CheckCopyPairs (block_pairs.h), on
//             the caller's own copy of the list, refuses the lists for which the
//             order would matter. Whole pages of neighbouring pairs are one range
//             for the host; a device gives pieces of kCopyPiece to its warps, and
//             those of neighbours are neighbours by themselves.
// Shapes:     pairs [num_pairs].
// Units:      bytes.
// Costs:      O(layers · pairs · bytes), each byte read and written once.
// Errors:     BadArgument naming the argument; the host twin also checks the pairs.
#ifndef KVSIM_KERNELS_COPY_BLOCKS_H_
#define KVSIM_KERNELS_COPY_BLOCKS_H_

#include <cstdint>

#include "kernels/block_pairs.h"
#include "kernels/byte_copy.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/paged_layers.h"

namespace kvsim {

struct CopyBlocksArgs {
  PagedLayers pages;
  const BlockPair* pairs = nullptr;
  int64_t num_pairs = 0;
  int64_t bytes = 0;  // of a page, at most pages.block_stride

  KVSIM_HOST_DEVICE ByteRange RangeOf(int32_t layer, int64_t pair) const {
    return {pages.Page(layer, pairs[pair].to),
            pages.Page(layer, pairs[pair].from), bytes};
  }

  // The work of a device, cut for its warps.
  KVSIM_HOST_DEVICE int64_t NumPieces() const {
    return pages.num_layers * num_pairs * CopyPieces(bytes);
  }
  KVSIM_HOST_DEVICE ByteRange PieceOf(int64_t piece) const {
    const int64_t page_pieces = CopyPieces(bytes);
    const int64_t page = piece / page_pieces;
    return RangeOf(static_cast<int32_t>(page / num_pairs), page % num_pairs)
        .Piece(piece % page_pieces);
  }
};

// What both check.
LaunchStatus CheckCopyBlocks(const CopyBlocksArgs& args);

LaunchStatus CopyBlocksOnHost(const CopyBlocksArgs& args);
LaunchStatus LaunchCopyBlocks(const CopyBlocksArgs& args, DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_COPY_BLOCKS_H_
