#include "allocator/partial_keys.h"

#include <algorithm>

namespace kvsim {

BlockId PartialKeys::Find(BlockKey key) const {
  const auto at = blocks_.find(key);
  return at == blocks_.end() ? kNullBlock : at->second.front();
}

bool PartialKeys::Add(BlockKey key, BlockId id) {
  std::vector<BlockId>& blocks = blocks_[key];
  if (std::find(blocks.begin(), blocks.end(), id) != blocks.end()) return false;
  blocks.push_back(id);
  keys_of_[id].push_back(key);
  return true;
}

std::span<const BlockKey> PartialKeys::KeysOf(BlockId id) const {
  const auto keys = keys_of_.find(id);
  if (keys == keys_of_.end()) return {};
  return keys->second;
}

int64_t PartialKeys::DropAll(BlockId id) {
  const auto keys = keys_of_.find(id);
  if (keys == keys_of_.end()) return 0;
  for (BlockKey key : keys->second) {
    const auto blocks = blocks_.find(key);
    std::erase(blocks->second, id);
    if (blocks->second.empty()) blocks_.erase(blocks);
  }
  const auto dropped = static_cast<int64_t>(keys->second.size());
  keys_of_.erase(keys);
  return dropped;
}

void PartialKeys::MoveAll(BlockId from, BlockId to) {
  const auto keys = keys_of_.find(from);
  if (keys == keys_of_.end()) return;
  const std::vector<BlockKey> moved = keys->second;
  DropAll(from);
  for (BlockKey key : moved) Add(key, to);
}

std::string PartialKeys::CheckInvariants() const {
  size_t pairs = 0;
  for (const auto& [key, blocks] : blocks_) {
    pairs += blocks.size();
    for (BlockId id : blocks) {
      const auto keys = keys_of_.find(id);
      if (keys == keys_of_.end() ||
          std::count(keys->second.begin(), keys->second.end(), key) != 1) {
        return "a partial key and its block disagree";
      }
    }
  }
  for (const auto& [id, keys] : keys_of_) pairs -= keys.size();
  return pairs == 0 ? "" : "partial keys and blocks do not pair up";
}

}  // namespace kvsim
