// A free list of the host twin for tests, in guarded memory that is poison until it is
// reset; its calls take and give vectors.
#ifndef KVSIM_KERNELS_HOST_FREE_LIST_H_
#define KVSIM_KERNELS_HOST_FREE_LIST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "base/block_id.h"
#include "kernels/device_free_list.h"
#include "kernels/guarded_buffer.h"

namespace kvsim {

class HostFreeList {
 public:
  using Blocks = std::vector<BlockId>;

  explicit HostFreeList(int64_t num_blocks)
      : ring_(4 * (num_blocks - 1)),
        free_bits_((num_blocks + 31) / 32 * 4),
        marks_((num_blocks + 31) / 32 * 4),
        list_{ring_.as<BlockId>(), free_bits_.as<uint32_t>(),
              marks_.as<uint32_t>(), &state_, num_blocks} {
    EXPECT_TRUE(ResetFreeListOnHost(list_).ok());
  }

  const DeviceFreeList& list() const { return list_; }

  AllocateResult Allocate(const std::vector<int32_t>& counts,
                          std::vector<Blocks>* taken, int64_t capacity = 99) {
    std::vector<int64_t> starts(counts.size() + 1, -7);
    GuardedBuffer blocks(capacity * 4);
    AllocateResult result;
    AllocateBlocksArgs args;
    args.list = list_;
    args.counts = counts.data();
    args.num_requests = static_cast<int64_t>(counts.size());
    args.starts = starts.data();
    args.blocks = blocks.as<BlockId>();
    args.capacity = capacity;
    args.result = &result;
    EXPECT_TRUE(AllocateBlocksOnHost(args).ok());
    taken->clear();
    if (result.code != AllocateResult::Code::kTaken) {
      EXPECT_TRUE(blocks.Untouched(0, capacity * 4));
      return result;
    }
    EXPECT_TRUE(
        blocks.Untouched(4 * result.wanted, 4 * (capacity - result.wanted)));
    for (size_t r = 0; r < counts.size(); ++r) {
      EXPECT_EQ(starts[r + 1] - starts[r], counts[r]);
      taken->emplace_back(args.blocks + starts[r], args.blocks + starts[r + 1]);
    }
    return result;
  }

  ReleaseResult Release(FreeEnd end, const std::vector<Blocks>& lists) {
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
    return result;
  }

  TouchResult Touch(const Blocks& hits) {
    TouchResult result;
    EXPECT_TRUE(TouchBlocksOnHost({list_, hits.data(),
                                   static_cast<int64_t>(hits.size()), &result})
                    .ok());
    return result;
  }

  Blocks Queue() const {
    Blocks queue;
    for (int64_t i = 0; i < state_.size; ++i) {
      queue.push_back(list_.ring[(state_.head + i) % (list_.num_blocks - 1)]);
    }
    return queue;
  }

  // The header's invariants.
  void ExpectSound() const {
    const Blocks queue = Queue();
    const std::set<BlockId> free(queue.begin(), queue.end());
    ASSERT_EQ(free.size(), queue.size()) << "(1)";
    ASSERT_FALSE(free.contains(kNullBlock)) << "(4)";
    for (BlockId b = 0; b < list_.NumWords() * 32; ++b) {
      ASSERT_EQ(list_.free_bits[b / 32] >> (b % 32) & 1, free.count(b))
          << "(2) block " << b;
      ASSERT_EQ(list_.marks[b / 32], 0) << "(3) block " << b;
    }
  }

 private:
  GuardedBuffer ring_;
  GuardedBuffer free_bits_;
  GuardedBuffer marks_;
  FreeListState state_ = {-1, -1};
  DeviceFreeList list_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_HOST_FREE_LIST_H_
