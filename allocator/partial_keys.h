// Keys of prefixes that end inside a block.
//
// Model:      a block may carry several such keys, and several blocks the same
//             one; a look-up returns the block that got it first and still has it.
//             Full blocks have their own index (allocator/prefix_index.h): a key
//             names a length, so the two never hold the same key.
// Costs:      O(log keys); such keys are few (one or two a prompt).
// Errors:     none; adding a key a block has already changes nothing.
#ifndef KVSIM_ALLOCATOR_PARTIAL_KEYS_H_
#define KVSIM_ALLOCATOR_PARTIAL_KEYS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocator/prefix_index.h"
#include "base/block_id.h"

namespace kvsim {

class PartialKeys {
 public:
  // The first block that still carries `key`, or kNullBlock.
  BlockId Find(BlockKey key) const;
  // False when the block carries the key already.
  bool Add(BlockKey key, BlockId id);
  // Takes all keys of a block away; how many there were.
  int64_t DropAll(BlockId id);
  // All keys of `from` become keys of `to`, behind others that carry them.
  void MoveAll(BlockId from, BlockId to);

  // The keys of a block, in order of Add. Valid until the next change.
  std::span<const BlockKey> KeysOf(BlockId id) const;

  bool Contains(BlockId id) const { return keys_of_.contains(id); }
  int64_t num_keys() const { return static_cast<int64_t>(blocks_.size()); }
  // Empty when both maps say the same. O(keys).
  std::string CheckInvariants() const;

 private:
  std::map<BlockKey, std::vector<BlockId>> blocks_;  // in order of Add
  std::map<BlockId, std::vector<BlockKey>> keys_of_;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_PARTIAL_KEYS_H_
