#include "allocator/partial_keys.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

TEST(PartialKeys, ALookUpFindsTheFirstBlockThatStillHasTheKey) {
  PartialKeys keys;
  keys.Add(70, 5);
  keys.Add(70, 3);
  keys.Add(71, 5);
  keys.Add(71, 5);  // has it already
  EXPECT_EQ(keys.Find(70), 5u);
  EXPECT_EQ(keys.Find(72), kNullBlock);
  EXPECT_EQ(keys.num_keys(), 2);
  EXPECT_EQ(keys.DropAll(5), 2);
  EXPECT_EQ(keys.Find(70), 3u);
  EXPECT_EQ(keys.Find(71), kNullBlock);
  EXPECT_EQ(keys.DropAll(5), 0);
  EXPECT_EQ(keys.num_keys(), 1);
  EXPECT_EQ(keys.CheckInvariants(), "");
}

TEST(PartialKeys, MovedKeysStandBehindEarlierOnes) {
  PartialKeys keys;
  keys.Add(70, 1);
  keys.Add(70, 2);
  keys.MoveAll(1, 9);
  EXPECT_FALSE(keys.Contains(1));
  EXPECT_TRUE(keys.Contains(9));
  EXPECT_EQ(keys.Find(70), 2u);
  keys.DropAll(2);
  EXPECT_EQ(keys.Find(70), 9u);
  EXPECT_EQ(keys.CheckInvariants(), "");
}

}  // namespace
}  // namespace kvsim
