// The free list for devices, step by step beside the block pool of the allocator:
// equal requests get equal blocks.

#include "kernels/device_free_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/block_pool.h"
#include "base/random.h"
#include "kernels/host_free_list.h"

namespace kvsim {
namespace {

using Blocks = std::vector<BlockId>;

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
    std::vector<Blocks> lists;
    const AllocateResult result =
        list_.Allocate(counts, &lists, list_.list().RingSize());
    if (wanted > pool_.num_free()) {
      ASSERT_NE(result.code, AllocateResult::Code::kTaken);
      ASSERT_TRUE(lists.empty());
      return;
    }
    Blocks taken;
    for (const Blocks& blocks : lists) {
      taken.insert(taken.end(), blocks.begin(), blocks.end());
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
    EXPECT_EQ(list_.Touch(hits).code, TouchResult::Code::kTouched);
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
    EXPECT_EQ(list_.Release(FreeEnd::kBack, back), ReleaseResult{});
    EXPECT_EQ(list_.Release(FreeEnd::kFront, front), ReleaseResult{});
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
  HostFreeList list_;
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
