#include "allocator/value_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvsim {
namespace {

using Ids = std::vector<BlockId>;

TEST(ValueQueue, LeastValuedFirstAndFirstComeAmongEquals) {
  ValueQueue queue(10);
  queue.Raise(1, 5);
  queue.Raise(2, 3);
  queue.Raise(3, 5);
  for (BlockId id : {3, 1, 2}) queue.Push(id);
  EXPECT_EQ(queue.InOrder(), (Ids{2, 3, 1}));
  queue.Remove(3);
  EXPECT_EQ(queue.Pop(), 2u);
  EXPECT_EQ(queue.Pop(), 1u);
  EXPECT_EQ(queue.size(), 0);
}

TEST(ValueQueue, AScoreOnlyRisesUntilItIsForgotten) {
  ValueQueue queue(10);
  queue.Raise(1, 5);
  queue.Raise(1, 2);
  queue.Raise(2, 4);
  queue.Push(1);
  queue.Push(2);
  EXPECT_EQ(queue.Pop(), 2u);
  EXPECT_EQ(queue.Pop(), 1u);
  queue.Forget(1);
  queue.Push(2);
  queue.Push(1);
  EXPECT_EQ(queue.Pop(), 1u);
}

}  // namespace
}  // namespace kvsim
