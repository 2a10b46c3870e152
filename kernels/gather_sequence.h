// Brings the rows of sequences from their pages into contiguous memory.
//
// Model:      of sequence s the positions [first_positions[s], end_positions[s])
//             are gathered, as far as they are this rank's: its row k, counted over
//             the sequence, is row k mod block_tokens of page
//             block_tables[s][k / block_tokens] (rank_share.h). They fill the
//             output from row out_starts[s] on, in the order of their positions;
//             out_starts[s + 1] - out_starts[s] is at least their number, and rows
//             beyond it are left alone. A row stores several parts (K and V, or
//             a scale) at places of their own: each part is one launch.
// Shapes:     block_tables [num_sequences][table_stride], first_positions and
//             end_positions [num_sequences], out_starts [num_sequences + 1],
//             which do not fall; output [num_layers][out_rows][row_bytes].
// Units:      positions as all ranks count them; rows of this rank; bytes.
// Costs:      each byte read and written once. The host copies what lies together
//             in a page as one range; a device gives each warp rows of about
//             kCopyPiece bytes of the output, or such a piece of a longer row, and
//             finds their sequence by bisection.
// Errors:     BadArgument naming the argument; what tables and positions hold is
//             not checked (page_op_check.h).
#ifndef KVSIM_KERNELS_GATHER_SEQUENCE_H_
#define KVSIM_KERNELS_GATHER_SEQUENCE_H_

#include <cstddef>
#include <cstdint>

#include "base/block_id.h"
#include "kernels/byte_copy.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/paged_layers.h"
#include "kernels/ragged_starts.h"
#include "kernels/rank_share.h"

namespace kvsim {

struct GatherSequenceArgs {
  PagedLayers pages;
  RankShare share;         // of the same block_tokens as pages
  int64_t row_offset = 0;  // of row 0's part in its page
  int64_t row_stride = 0;  // from one row's part to the next one's
  int64_t row_bytes = 0;   // of a row's part
  const BlockId* block_tables = nullptr;
  int32_t num_sequences = 0;
  int64_t table_stride = 0;
  const int64_t* first_positions = nullptr;
  const int64_t* end_positions = nullptr;
  const int64_t* out_starts = nullptr;
  std::byte* output = nullptr;
  int64_t out_rows = 0;  // at least out_starts[num_sequences]

  KVSIM_HOST_DEVICE int64_t RowsOf(int32_t sequence) const {
    return share.OwnedBefore(end_positions[sequence]) -
           share.OwnedBefore(first_positions[sequence]);
  }

  // The range that starts with the index-th gathered row of a sequence: at most
  // max_rows rows, as far as they lie together in a page and in the output.
  KVSIM_HOST_DEVICE ByteRange RangeAt(int32_t layer, int32_t sequence,
                                      int64_t index, int64_t max_rows) const {
    const int64_t row = share.OwnedBefore(first_positions[sequence]) + index;
    const int64_t block =
        block_tables[sequence * table_stride + row / share.block_tokens];
    const int64_t inside = row % share.block_tokens;
    int64_t rows = RowsOf(sequence) - index;
    if (rows > max_rows) rows = max_rows;
    if (rows > share.block_tokens - inside) rows = share.block_tokens - inside;
    if (row_stride != row_bytes) rows = 1;
    const int64_t out = layer * out_rows + out_starts[sequence] + index;
    return {output + out * row_bytes,
            pages.Page(layer, block) + row_offset + inside * row_stride,
            rows * row_bytes};
  }

  // The work of a device, cut for its warps: so many rows of the output each, or
  // one of so many pieces of a row.
  KVSIM_HOST_DEVICE int64_t UnitRows() const {
    return row_bytes < kCopyPiece ? kCopyPiece / row_bytes : 1;
  }
  KVSIM_HOST_DEVICE int64_t RowPieces() const { return CopyPieces(row_bytes); }
  KVSIM_HOST_DEVICE int64_t LayerUnits() const {
    return (out_rows + UnitRows() - 1) / UnitRows() * RowPieces();
  }

  // The last sequence whose rows start at or before a row of the output.
  KVSIM_HOST_DEVICE int32_t SequenceOf(int64_t out_row) const {
    return ListOf(out_starts, num_sequences, out_row);
  }

  // Calls copy(range) for what one warp has to copy: at most kCopyPiece bytes.
  template <typename Copy>
  KVSIM_HOST_DEVICE void CopyUnit(int64_t unit, Copy copy) const {
    const auto layer = static_cast<int32_t>(unit / LayerUnits());
    const int64_t in_layer = unit % LayerUnits();
    const int64_t piece = in_layer % RowPieces();
    int64_t out_row = in_layer / RowPieces() * UnitRows();
    int64_t end = out_row + UnitRows();
    if (end > out_starts[num_sequences]) end = out_starts[num_sequences];
    if (out_row < out_starts[0]) out_row = out_starts[0];
    if (out_row >= end) return;
    int32_t sequence = SequenceOf(out_row);
    while (out_row < end) {
      const int64_t index = out_row - out_starts[sequence];
      if (index < RowsOf(sequence)) {
        const ByteRange range = RangeAt(layer, sequence, index, end - out_row);
        copy(range.Piece(piece));
        out_row += range.bytes / row_bytes;
      } else {
        ++sequence;
        if (sequence == num_sequences) return;
        if (out_row < out_starts[sequence]) out_row = out_starts[sequence];
      }
    }
  }
};

// What both check.
LaunchStatus CheckGatherSequence(const GatherSequenceArgs& args);

LaunchStatus GatherSequenceOnHost(const GatherSequenceArgs& args);
LaunchStatus LaunchGatherSequence(const GatherSequenceArgs& args,
                                  DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_GATHER_SEQUENCE_H_
