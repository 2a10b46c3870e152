// The free list for devices, step by step beside the block pool of the allocator:
// equal requests get equal blocks.

#include "kernels/device_free_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/block_pool.h"
#include "base/random.h"

namespace kvsim {
namespace {

using Blocks = std::vector<BlockId>;

// The host twin, in vectors.
class FreeList {
 public:
  explicit FreeList(int64_t num_blocks)
      : ring_(static_cast<size_t>(num_blocks) - 1),
        free_bits_(static_cast<size_t>(num_blocks + 31) / 32),
        marks_(free_bits_.size()),
        list_{ring_.data(), free_bits_.data(), marks_.data(), &state_,
              num_blocks} {
    EXPECT_TRUE(ResetFreeListOnHost(list_).ok());
  }

  // All blocks of a step; nothing if it does not fit.
  Blocks Allocate(const std::vector<int32_t>& counts) {
    std::vector<int64_t> starts(counts.size() + 1);
    Blocks blocks(ring_.size());
    AllocateResult result;
    AllocateBlocksArgs args;
    args.list = list_;
    args.counts = counts.data();
    args.num_requests = static_cast<int64_t>(counts.size());
    args.starts = starts.data();
    args.blocks = blocks.data();
    args.capacity = static_cast<int64_t>(blocks.size());
    args.result = &result;
    EXPECT_TRUE(AllocateBlocksOnHost(args).ok());
    const bool taken = result.code == AllocateResult::Code::kTaken;
    blocks.resize(taken ? static_cast<size_t>(result.wanted) : 0);
    return blocks;
  }

  void Release(FreeEnd end, const std::vector<Blocks>& lists) {
    Blocks released;
    std::vector<int64_t> starts = {0};
    for (const Blocks& list : lists) {
      released.insert(released.end(), list.begin(), list.end());
      starts.push_back(static_cast<int64_t>(released.size()));
    }
    ReleaseResult result;
    ReleaseBlocksArgs args;
    args.list = list_;
    args.end = end;
    args.released = released.data();
    args.list_starts = starts.data();
    args.num_lists = static_cast<int64_t>(lists.size());
    args.result = &result;
    EXPECT_TRUE(ReleaseBlocksOnHost(args).ok());
    EXPECT_EQ(result, ReleaseResult{});
  }

  void Touch(const Blocks& hits) {
    TouchResult result;
    EXPECT_TRUE(TouchBlocksOnHost({list_, hits.data(),
                                   static_cast<int64_t>(hits.size()), &result})
                    .ok());
    EXPECT_EQ(result.code, TouchResult::Code::kTouched);
  }

  Blocks Queue() const {
    Blocks queue;
    for (int64_t i = 0; i < state_.size; ++i) {
      queue.push_back(
          ring_[static_cast<size_t>(state_.head + i) % ring_.size()]);
    }
    return queue;
  }

 private:
  Blocks ring_;
  std::vector<uint32_t> free_bits_;
  std::vector<uint32_t> marks_;
  FreeListState state_;
  DeviceFreeList list_;
};

// An engine with both: sequences come, share blocks of others that run and blocks
// that lie idle, get keys and go.
class Engine {
 public:
  Engine(int64_t num_blocks, bool prefix_caching, FreeOrder order)
      : pool_(num_blocks, prefix_caching, order),
        list_(num_blocks),
        prefix_caching_(prefix_caching),
        order_(order) {}

  Blocks PoolQueue() const { return pool_.FreeQueue(); }
  Blocks ListQueue() const { return list_.Queue(); }

  void Admit(RandomStream& random) {
    std::vector<int32_t> counts(1 + random.Below(4));
    int64_t wanted = 0;
    for (int32_t& count : counts) {
      count = static_cast<int32_t>(
          random.Below(static_cast<uint64_t>(pool_.num_free()) / 2 + 2));
      wanted += count;
    }
    const Blocks taken = list_.Allocate(counts);
    if (wanted > pool_.num_free()) {
      ASSERT_TRUE(taken.empty());
      return;
    }
    Blocks all;
    for (const int32_t count : counts) {
      Blocks table = HeadOfAnother(random);
      const size_t shared = table.size();
      pool_.Allocate(count, &table);
      all.insert(all.end(), table.begin() + static_cast<int64_t>(shared),
                 table.end());
      tables_.push_back(std::move(table));
    }
    ASSERT_EQ(taken, all);
  }

  void AssignKeys(RandomStream& random) {
    if (!prefix_caching_) return;
    for (const Blocks& table : tables_) {
      for (const BlockId block : table) {
        if (block == kNullBlock || pool_.HasKey(block)) continue;
        if (random.Chance(0.5)) pool_.AssignKey(block, BlockKey{random.Next()});
      }
    }
  }

  // A sequence finds idle blocks by their keys, and the blocks of others as well.
  void Hit(RandomStream& random) {
    Blocks table = HeadOfAnother(random);
    for (const BlockId block : pool_.FreeQueue()) {
      if (!pool_.HasKey(block) || random.Chance(0.7)) continue;
      pool_.Touch(block);
      table.push_back(block);
    }
    Blocks hits;
    for (const BlockId block : table) {
      if (block != kNullBlock) hits.push_back(block);
    }
    list_.Touch(hits);
    tables_.push_back(std::move(table));
  }

  // Some sequences end at once, tail first; some have dropped what left a window.
  void Finish(RandomStream& random) {
    std::vector<Blocks> back, front;
    for (uint64_t n = 1 + random.Below(3); n > 0 && !tables_.empty(); --n) {
      std::swap(tables_[random.Below(tables_.size())], tables_.back());
      const Blocks table = std::move(tables_.back());
      tables_.pop_back();
      back.emplace_back();
      front.emplace_back();
      for (size_t i = table.size(); i-- > 0;) {
        if (table[i] == kNullBlock || pool_.RefCount(table[i]) > 1) continue;
        (GoesToFront(table[i]) ? front : back).back().push_back(table[i]);
      }
      pool_.ReleaseReversed(table);
    }
    list_.Release(FreeEnd::kBack, back);
    list_.Release(FreeEnd::kFront, front);
  }

 private:
  bool GoesToFront(BlockId block) const {
    if (pool_.HasKey(block) || order_ == FreeOrder::kAppend) return false;
    return order_ == FreeOrder::kPrependUnkeyed || prefix_caching_;
  }

  Blocks HeadOfAnother(RandomStream& random) {
    if (tables_.empty() || random.Chance(0.5)) return {};
    Blocks head = tables_[random.Below(tables_.size())];
    head.resize(random.Below(head.size() + 1));
    for (BlockId& block : head) {
      if (random.Chance(0.2)) block = kNullBlock;
      if (block != kNullBlock) pool_.Touch(block);
    }
    return head;
  }

  BlockPool pool_;
  FreeList list_;
  bool prefix_caching_;
  FreeOrder order_;
  std::vector<Blocks> tables_;
};

class DeviceFreeListTest : public testing::TestWithParam<FreeOrder> {};

TEST_P(DeviceFreeListTest, EqualsTheBlockPoolAfterEveryStep) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, "free list and block pool");
    Engine engine(random.Between(2, seed % 3 == 0 ? 300 : 12),
                  /*prefix_caching=*/seed % 2 == 0, GetParam());
    for (int step = 0; step < 60; ++step) {
      if (random.Chance(0.5)) {
        engine.Admit(random);
        engine.AssignKeys(random);
      } else if (random.Chance(0.3)) {
        engine.Hit(random);
      } else {
        engine.Finish(random);
      }
      ASSERT_EQ(engine.ListQueue(), engine.PoolQueue())
          << "seed " << seed << " step " << step;
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, DeviceFreeListTest,
                         testing::Values(FreeOrder::kAppend,
                                         FreeOrder::kPrependWhenCaching,
                                         FreeOrder::kPrependUnkeyed));

}  // namespace
}  // namespace kvsim
