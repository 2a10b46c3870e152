#include "engines/vllm/naive_pool.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim::vllm {

NaivePool::NaivePool(const Settings& settings) : settings_(settings) {
  const auto n = static_cast<size_t>(settings.num_gpu_blocks);
  blocks_.resize(n);
  for (BlockId id = 1; id < n; ++id) queue_.push_back(id);
}

// --- keys -----------------------------------------------------------------------

bool NaivePool::ShorterFirst::operator()(const Key& a, const Key& b) const {
  if (a.first != b.first) return a.first < b.first;
  if (a.second.size() != b.second.size()) {
    return a.second.size() < b.second.size();
  }
  return a.second < b.second;
}

bool NaivePool::IsFull(const Key& key) const {
  const int64_t block = settings_.groups[key.first].block_tokens;
  return static_cast<int64_t>(key.second.size()) % block == 0;
}

BlockId NaivePool::Find(size_t group, std::span<const int64_t> prefix) const {
  const auto found = keys_.find({group, {prefix.begin(), prefix.end()}});
  return found == keys_.end() ? kNullBlock : found->second.front();
}

bool NaivePool::HasFullKey(BlockId id) const {
  const std::list<Key>& keys = blocks_[id].keys;
  return std::any_of(keys.begin(), keys.end(),
                     [this](const Key& key) { return IsFull(key); });
}

bool NaivePool::HasPartialKey(BlockId id) const {
  const std::list<Key>& keys = blocks_[id].keys;
  return std::any_of(keys.begin(), keys.end(),
                     [this](const Key& key) { return !IsFull(key); });
}

bool NaivePool::AddKey(BlockId id, const Key& key) {
  std::list<Key>& keys = blocks_[id].keys;
  if (std::find(keys.begin(), keys.end(), key) != keys.end()) return false;
  keys.push_back(key);
  keys_[key].push_back(id);
  return true;
}

void NaivePool::RemoveKey(BlockId id, const Key& key) {
  const auto found = keys_.find(key);
  found->second.remove(id);
  if (found->second.empty()) keys_.erase(found);
}

void NaivePool::MoveKeys(BlockId from, BlockId to) {
  for (const Key& key : blocks_[from].keys) {
    RemoveKey(from, key);
    AddKey(to, key);
  }
  blocks_[from].keys.clear();
}

NaivePool::Ids NaivePool::Duplicates() const {
  Ids ids;
  for (const auto& [key, blocks] : keys_) {
    if (!IsFull(key)) continue;
    ids.insert(ids.end(), std::next(blocks.begin()), blocks.end());
  }
  return ids;
}

// --- owners ---------------------------------------------------------------------

BlockId NaivePool::Pop(size_t group) {
  KVSIM_CHECK(!queue_.empty());
  const BlockId id =
      settings_.EvictsByValue() ? FreeQueue().front() : queue_.front();
  queue_.remove(id);
  Block& block = blocks_[id];
  block.score = 0;
  if (!block.keys.empty()) ++evictions_;
  evicted_keys_ += static_cast<int64_t>(block.keys.size());
  for (const Key& key : block.keys) RemoveKey(id, key);
  block.keys.clear();
  block.owners = 1;
  block.group = group;
  const auto rows = static_cast<size_t>(settings_.groups[group].block_tokens);
  block.rows.assign(rows, false);
  ++allocations_;
  return id;
}

// By value those without keys go first, then the lowest score, first come first.
NaivePool::Ids NaivePool::FreeQueue() const {
  Ids ids(queue_.begin(), queue_.end());
  if (!settings_.EvictsByValue()) return ids;
  std::stable_sort(ids.begin(), ids.end(), [this](BlockId a, BlockId b) {
    if (HasAnyKey(a) != HasAnyKey(b)) return HasAnyKey(b);
    return HasAnyKey(a) && blocks_[a].score < blocks_[b].score;
  });
  return ids;
}

void NaivePool::Touch(BlockId id) {
  if (blocks_[id].owners++ == 0) queue_.remove(id);
}

int64_t NaivePool::KeyedRows(BlockId id) const {
  const int64_t size = settings_.groups[blocks_[id].group].block_tokens;
  int64_t most = 0;
  for (const auto& [group, prefix] : blocks_[id].keys) {
    const int64_t rows = static_cast<int64_t>(prefix.size()) % size;
    most = std::max(most, rows == 0 ? size : rows);
  }
  return most;
}

void NaivePool::Release(const Ids& ids) {
  Ids to_front, to_back;
  for (BlockId id : ids) {
    if (id == kNullBlock) continue;
    KVSIM_CHECK(blocks_[id].owners > 0);
    if (--blocks_[id].owners > 0) continue;
    const bool front = !HasAnyKey(id) &&
                       settings_.free_order != FreeOrder::kAppend &&
                       (settings_.enable_prefix_caching ||
                        settings_.free_order == FreeOrder::kPrependUnkeyed);
    (front ? to_front : to_back).push_back(id);
  }
  queue_.insert(queue_.begin(), to_front.begin(), to_front.end());
  queue_.insert(queue_.end(), to_back.begin(), to_back.end());
}

}  // namespace kvsim::vllm
