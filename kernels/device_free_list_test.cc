#include "kernels/device_free_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "base/random.h"
#include "kernels/host_free_list.h"

namespace kvsim {
namespace {

using Blocks = HostFreeList::Blocks;
using Lists = std::vector<Blocks>;
using AllocateCode = AllocateResult::Code;
using ReleaseCode = ReleaseResult::Code;

TEST(DeviceFreeListTest, StartsInOrderOfIds) {
  for (const int64_t n : {2, 3, 31, 32, 33, 64, 65, 100}) {
    HostFreeList list(n);
    list.ExpectSound();
    Blocks expected;
    for (BlockId b = 1; b < n; ++b) expected.push_back(b);
    EXPECT_EQ(list.Queue(), expected);
  }
}

TEST(DeviceFreeListTest, TakesInRequestOrder) {
  HostFreeList list(8);
  Lists taken;
  EXPECT_EQ(list.Allocate({2, 0, 3}, &taken),
            (AllocateResult{AllocateCode::kTaken, 5}));
  EXPECT_EQ(taken, (Lists{{1, 2}, {}, {3, 4, 5}}));
  EXPECT_EQ(list.Queue(), (Blocks{6, 7}));
}

TEST(DeviceFreeListTest, AppendsInOrderAndWraps) {
  HostFreeList list(6);
  Lists taken;
  list.Allocate({4}, &taken);
  EXPECT_EQ(list.Release(FreeEnd::kBack, {{3, 1}, {}, {4}}).code,
            ReleaseCode::kReleased);
  EXPECT_EQ(list.Queue(), (Blocks{5, 3, 1, 4}));
  list.Allocate({3}, &taken);
  EXPECT_EQ(taken, (Lists{{5, 3, 1}}));
  EXPECT_EQ(list.Queue(), (Blocks{4}));
}

TEST(DeviceFreeListTest, PrependsListAfterList) {
  HostFreeList list(8);
  Lists taken;
  list.Allocate({5}, &taken);
  EXPECT_EQ(list.Release(FreeEnd::kFront, {{3, 1}, {}, {4, 2, 5}}).code,
            ReleaseCode::kReleased);
  EXPECT_EQ(list.Queue(), (Blocks{4, 2, 5, 3, 1, 6, 7}));
}

TEST(DeviceFreeListTest, AStepThatDoesNotFitTakesNothing) {
  HostFreeList list(6);
  Lists taken;
  EXPECT_EQ(list.Allocate({3, 3}, &taken),
            (AllocateResult{AllocateCode::kNoRoom, 6}));
  EXPECT_EQ(list.Allocate({2, 2}, &taken, /*capacity=*/3),
            (AllocateResult{AllocateCode::kNoOutput, 4}));
  EXPECT_EQ(list.Allocate({2, -1, 2}, &taken),
            (AllocateResult{AllocateCode::kBadCount, 3}));
  EXPECT_EQ(list.Queue(), (Blocks{1, 2, 3, 4, 5}));
  EXPECT_EQ(list.Allocate({2, 3}, &taken, /*capacity=*/5).code,
            AllocateCode::kTaken);
  EXPECT_EQ(list.Allocate({1}, &taken).code, AllocateCode::kNoRoom);
  EXPECT_EQ(list.Allocate({}, &taken),
            (AllocateResult{AllocateCode::kTaken, 0}));
  list.ExpectSound();
}

TEST(DeviceFreeListTest, FindsADoubleRelease) {
  HostFreeList list(40);
  Lists taken;
  list.Allocate({37}, &taken);
  const Blocks queue = list.Queue();
  for (const FreeEnd end : {FreeEnd::kBack, FreeEnd::kFront}) {
    // 38 and 39 are free; 5 and 9 stand twice.
    EXPECT_EQ(list.Release(end, {{1, 39, 38}}),
              (ReleaseResult{ReleaseCode::kDoubleRelease, 38}));
    EXPECT_EQ(list.Release(end, {{9, 5}, {5, 9}}),
              (ReleaseResult{ReleaseCode::kDoubleRelease, 5}));
    EXPECT_EQ(list.Release(end, {{5, 5, 41}, {40}}),
              (ReleaseResult{ReleaseCode::kUnknownBlock, 40}));
    EXPECT_EQ(list.Release(end, {{1, ~BlockId{0}}}),
              (ReleaseResult{ReleaseCode::kUnknownBlock, ~BlockId{0}}));
    EXPECT_EQ(list.Release(end, {{1, kNullBlock}}),
              (ReleaseResult{ReleaseCode::kUnknownBlock, kNullBlock}));
    EXPECT_EQ(list.Queue(), queue);
    list.ExpectSound();
  }
  EXPECT_EQ(list.Release(FreeEnd::kBack, {{9, 5}}),
            (ReleaseResult{ReleaseCode::kReleased, kNullBlock}));
  EXPECT_EQ(list.Release(FreeEnd::kBack, {{5}}),
            (ReleaseResult{ReleaseCode::kDoubleRelease, 5}));
}

TEST(DeviceFreeListTest, TouchedBlocksLeaveFromAnywhere) {
  HostFreeList list(9);
  Lists taken;
  list.Allocate({3}, &taken);
  EXPECT_EQ(list.Touch({8, 5, 2, 5}),
            (TouchResult{TouchResult::Code::kTouched, kNullBlock, 2}));
  EXPECT_EQ(list.Queue(), (Blocks{4, 6, 7}));
  list.ExpectSound();
  EXPECT_EQ(list.Touch({4, 9, kNullBlock}),
            (TouchResult{TouchResult::Code::kUnknownBlock, kNullBlock, 0}));
  EXPECT_EQ(list.Touch({~BlockId{0}, 9}),
            (TouchResult{TouchResult::Code::kUnknownBlock, 9, 0}));
  EXPECT_EQ(list.Queue(), (Blocks{4, 6, 7}));
  list.Release(FreeEnd::kBack, {{5, 3, 1, 2, 8}});
  EXPECT_EQ(list.Queue(), (Blocks{4, 6, 7, 5, 3, 1, 2, 8}));
  EXPECT_EQ(list.Touch({8, 7, 6, 5, 4, 3, 2, 1}).taken, 8);
  EXPECT_EQ(list.Queue(), Blocks{});
  list.ExpectSound();
}

// A deque and the blocks that are held, driven by random steps.
class NaiveProgram {
 public:
  explicit NaiveProgram(int64_t num_blocks) {
    for (BlockId b = 1; b < num_blocks; ++b) queue_.push_back(b);
  }

  std::vector<int32_t> SomeCounts(RandomStream& random) const {
    std::vector<int32_t> counts(random.Below(5));
    for (int32_t& count : counts) {
      count = static_cast<int32_t>(random.Below(queue_.size() / 2 + 2));
    }
    return counts;
  }
  bool Allocate(const std::vector<int32_t>& counts, Lists* taken) {
    int64_t wanted = 0;
    for (const int32_t count : counts) wanted += count;
    taken->clear();
    if (wanted > static_cast<int64_t>(queue_.size())) return false;
    for (const int32_t count : counts) {
      const auto end = queue_.begin() + count;
      taken->emplace_back(queue_.begin(), end);
      held_.insert(held_.end(), queue_.begin(), end);
      queue_.erase(queue_.begin(), end);
    }
    return true;
  }
  Lists SomeHeld(RandomStream& random) {
    random.Shuffle(std::span<BlockId>(held_));
    Lists lists(random.Below(4));
    size_t used = 0;
    for (Blocks& list : lists) {
      const size_t count = random.Below(held_.size() - used + 1);
      const auto begin = held_.begin() + static_cast<int64_t>(used);
      list.assign(begin, begin + static_cast<int64_t>(count));
      used += count;
    }
    return lists;
  }
  void Release(FreeEnd end, const Lists& lists) {
    for (const Blocks& list : lists) {
      queue_.insert(end == FreeEnd::kBack ? queue_.end() : queue_.begin(),
                    list.begin(), list.end());
      for (const BlockId block : list) {
        held_.erase(std::find(held_.begin(), held_.end(), block));
      }
    }
  }
  // Blocks of any kind, some of them twice.
  Blocks SomeHits(RandomStream& random) const {
    Blocks hits;
    for (const BlockId block : queue_) {
      if (random.Chance(0.2)) hits.push_back(block);
    }
    for (const BlockId block : held_) {
      if (random.Chance(0.2)) hits.push_back(block);
    }
    const size_t distinct = hits.size();
    for (size_t i = 0; i < distinct; i += 3) hits.push_back(hits[i]);
    random.Shuffle(std::span<BlockId>(hits));
    return hits;
  }
  void Touch(const Blocks& hits) {
    for (const BlockId block : hits) {
      const auto found = std::find(queue_.begin(), queue_.end(), block);
      if (found == queue_.end()) continue;
      queue_.erase(found);
      held_.push_back(block);
    }
  }
  Blocks Queue() const { return {queue_.begin(), queue_.end()}; }

 private:
  std::deque<BlockId> queue_;
  Blocks held_;
};

// Small pools wrap every few steps.
TEST(DeviceFreeListTest, RandomStepsEqualADeque) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "free list");
    const int64_t num_blocks = random.Between(2, seed % 2 == 0 ? 8 : 90);
    HostFreeList list(num_blocks);
    NaiveProgram naive(num_blocks);
    for (int step = 0; step < 100; ++step) {
      if (random.Chance(0.5)) {
        const std::vector<int32_t> counts = naive.SomeCounts(random);
        Lists taken, expected;
        const bool fits = naive.Allocate(counts, &expected);
        ASSERT_EQ(list.Allocate(counts, &taken, 500).code,
                  fits ? AllocateCode::kTaken : AllocateCode::kNoRoom);
        ASSERT_EQ(taken, expected) << "seed " << seed << " step " << step;
      } else if (random.Chance(0.2)) {
        const Blocks hits = naive.SomeHits(random);
        naive.Touch(hits);
        ASSERT_EQ(list.Touch(hits).code, TouchResult::Code::kTouched);
      } else {
        const FreeEnd end =
            random.Chance(0.5) ? FreeEnd::kBack : FreeEnd::kFront;
        const Lists lists = naive.SomeHeld(random);
        naive.Release(end, lists);
        ASSERT_EQ(list.Release(end, lists).code, ReleaseCode::kReleased);
      }
      ASSERT_EQ(list.Queue(), naive.Queue())
          << "seed " << seed << " step " << step;
      list.ExpectSound();
    }
  }
}

// Places in the ring of the largest pool there can be, without its memory.
TEST(DeviceFreeListTest, PlacesOfTheLargestPool) {
  DeviceFreeList list;
  list.num_blocks = 0x7FFFFFFF;
  const int64_t ring = 0x7FFFFFFE;
  EXPECT_EQ(list.NumWords(), int64_t{1} << 26);
  EXPECT_EQ(list.FirstFreeBits((int64_t{1} << 26) - 1), 0x7FFFFFFF);
  EXPECT_EQ(list.Wrap(2 * ring - 1), ring - 1);
  EXPECT_EQ(list.Wrap(-ring), 0);
  EXPECT_TRUE(list.Knows(0x7FFFFFFE));
  EXPECT_FALSE(list.Knows(0x7FFFFFFF));
  ReleaseBlocksArgs args;
  args.list = list;
  const int64_t starts[] = {0, ring};
  args.list_starts = starts;
  args.num_lists = 1;
  const FreeListState before = {ring - 1, 0};
  EXPECT_EQ(args.RingIndexOf(before, ring - 1), ring - 2);
  EXPECT_EQ(args.After(before), (FreeListState{ring - 1, ring}));
  args.end = FreeEnd::kFront;
  EXPECT_EQ(args.RingIndexOf(before, ring - 1), ring - 2);
  EXPECT_EQ(args.After(before), (FreeListState{ring - 1, ring}));
}

TEST(DeviceFreeListTest, RefusesWhatItCanSee) {
  AllocateBlocksArgs args;
  EXPECT_STREQ(AllocateBlocksOnHost(args).message,
               "list.num_blocks must be in [2, 2147483647]");
  args.num_requests = -1;
  EXPECT_STREQ(AllocateBlocksOnHost(args).message, "num_requests is negative");
  args.num_requests = 0;
  args.capacity = -1;
  EXPECT_STREQ(AllocateBlocksOnHost(args).message, "capacity is negative");
  ReleaseBlocksArgs release;
  release.num_lists = -1;
  EXPECT_STREQ(ReleaseBlocksOnHost(release).message, "num_lists is negative");
  TouchBlocksArgs touch;
  touch.num_hits = -1;
  EXPECT_STREQ(TouchBlocksOnHost(touch).message, "num_hits is negative");
  DeviceFreeList list;
  list.num_blocks = int64_t{1} << 31;
  EXPECT_STREQ(ResetFreeListOnHost(list).message,
               "list.num_blocks must be in [2, 2147483647]");
}

}  // namespace
}  // namespace kvsim
