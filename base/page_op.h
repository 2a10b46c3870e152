// What an engine does to KV memory, as plain data.
//
// Model:     an engine's decisions are a stream of PageOps; a PagingBackend
//            (kernels/) executes or counts it. Memory is a number of pools. A
//            pool is an array of equal blocks; a block holds `block_tokens`
//            rows; a row is what one token stores in that pool. Slot s is row
//            s % block_tokens of block s / block_tokens. A pool of recurrent
//            states holds one state per block instead.
// Stamps:    ops carry indices, never contents. In place of contents stands a
//            stamp: 64 bits that name what a row or state is, such as a hash of
//            all tokens up to it. A backend fills a row with bytes made from
//            its stamp and checks them on read; whoever shares a prefix shares
//            its stamps. A backend that only counts ignores stamps, and an op
//            without any is counted but neither stamped nor checked.
// Order:     ops of one stream take effect one after another. Inside one op all
//            reads happen before all writes, so a permutation of blocks is one
//            MoveBlocks.
// Units:     tokens, blocks and slots as the names say; block ids are 32-bit.
// Ownership: ops own their vectors.

#ifndef KVSIM_BASE_PAGE_OP_H_
#define KVSIM_BASE_PAGE_OP_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/block_id.h"

namespace kvsim {

using PoolIndex = int32_t;
// The caller's number of a sequence, for messages.
using SequenceId = int64_t;
// What a row or a state is. Any value.
using Stamp = uint64_t;

// A slot that stores nothing: padding of a batch, tokens outside the window.
inline constexpr int64_t kNoSlot = -1;

// Gives blocks to a sequence. Those not shared were nobody's and hold nothing of worth
// to it; shared ones keep their contents and their other owners (prefix hits, forks).
// A sequence that was given blocks writes only where it is the one owner and reads only
// what it owns.
struct AssignBlocks {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  bool shared = false;
  std::vector<BlockId> blocks;

  bool operator==(const AssignBlocks&) const = default;
};

// Takes blocks back from a sequence; their contents stay until they are written.
struct ReleaseBlocks {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  std::vector<BlockId> blocks;

  bool operator==(const ReleaseBlocks&) const = default;
};

// Writes the rows of tokens first_position, first_position + 1, … of a
// sequence; token i goes to slots[i], or nowhere for kNoSlot. Slots that store
// are distinct. `stamps` is empty or as long as `slots`.
struct WriteTokens {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  int64_t first_position = 0;
  std::vector<int64_t> slots;
  std::vector<Stamp> stamps;

  bool operator==(const WriteTokens&) const = default;
};

// Reads rows [first_position, end_position) of a sequence through its block
// table: the row of position p is row p % block_tokens of block
// block_table[p / block_tokens]. `stamps` is empty or has one entry per row read:
// what the reader expects to find.
struct GatherSequence {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  int64_t first_position = 0;
  int64_t end_position = 0;
  std::vector<BlockId> block_table;
  std::vector<Stamp> stamps;

  bool operator==(const GatherSequence&) const = default;
};

// Copies the first `rows` rows of a block, or its state: copy on write, a fork, a
// partial tail.
struct CopyBlock {
  PoolIndex pool = 0;
  BlockId source = 0;
  BlockId target = 0;
  int32_t rows = 0;

  bool operator==(const CopyBlock&) const = default;
};

// Moves whole blocks to other places of the same pool; the sources hold nothing
// afterwards unless they are targets too. Targets are distinct, and so are
// sources.
struct MoveBlocks {
  PoolIndex pool = 0;
  std::vector<std::pair<BlockId, BlockId>> moves;  // source, target

  bool operator==(const MoveBlocks&) const = default;
};

enum class SwapDirection : uint8_t { kToHost, kToDevice };

// Copies whole blocks between a pool and its host pool. The source keeps its
// contents. Targets are distinct.
struct SwapBlocks {
  PoolIndex pool = 0;
  SwapDirection direction = SwapDirection::kToHost;
  std::vector<std::pair<BlockId, BlockId>> blocks;  // device, host

  bool operator==(const SwapBlocks&) const = default;
};

// Advances a sequence's recurrent state: reads it from `source` (nothing: the state of
// no tokens) and writes it to `running`, which may be the same block; afterwards that
// one stands after `position` tokens. `before` is what the reader expects in the source,
// `after` what the state is then.
struct UpdateState {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  int64_t position = 0;
  std::optional<BlockId> source;
  BlockId running = 0;
  std::optional<Stamp> before;
  std::optional<Stamp> after;

  bool operator==(const UpdateState&) const = default;
};

// Copies a sequence's recurrent state, which stands after `position` tokens,
// from its running block into a checkpoint block.
struct SaveState {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  int64_t position = 0;
  BlockId running = 0;
  BlockId checkpoint = 0;

  bool operator==(const SaveState&) const = default;
};

// The reverse: `sequence` continues from a checkpoint, which another sequence
// may have written. `stamp` is what the reader expects to find.
struct RestoreState {
  PoolIndex pool = 0;
  SequenceId sequence = 0;
  int64_t position = 0;
  BlockId checkpoint = 0;
  BlockId running = 0;
  std::optional<Stamp> stamp;

  bool operator==(const RestoreState&) const = default;
};

// Computes the chain keys of a prompt's full blocks: key i covers tokens
// [0, (i + 1) * block_tokens). The part behind the last full block has no key.
struct HashPrefix {
  SequenceId sequence = 0;
  int32_t block_tokens = 0;
  uint64_t salt = 0;
  std::vector<int32_t> token_ids;

  bool operator==(const HashPrefix&) const = default;
};

using PageOp = std::variant<AssignBlocks, ReleaseBlocks, WriteTokens,
                            GatherSequence, CopyBlock, MoveBlocks, SwapBlocks,
                            UpdateState, SaveState, RestoreState, HashPrefix>;

// The index of an op's type in PageOp, for counters by kind.
enum class PageOpKind : uint8_t {
  kAssignBlocks,
  kReleaseBlocks,
  kWriteTokens,
  kGatherSequence,
  kCopyBlock,
  kMoveBlocks,
  kSwapBlocks,
  kUpdateState,
  kSaveState,
  kRestoreState,
  kHashPrefix,
};
inline constexpr int kNumPageOpKinds = std::variant_size_v<PageOp>;

inline PageOpKind KindOf(const PageOp& op) {
  return static_cast<PageOpKind>(op.index());
}

// "assign_blocks", "write_tokens", … as reports name them.
constexpr const char* PageOpKindName(PageOpKind kind) {
  constexpr const char* kNames[kNumPageOpKinds] = {
      "assign_blocks", "release_blocks", "write_tokens", "gather_sequence",
      "copy_block",    "move_blocks",    "swap_blocks",  "update_state",
      "save_state",    "restore_state",  "hash_prefix"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace kvsim

#endif  // KVSIM_BASE_PAGE_OP_H_
