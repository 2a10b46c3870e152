#include "base/page_op.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kvsim {
namespace {

TEST(PageOpTest, KindFollowsTheType) {
  EXPECT_EQ(KindOf(AssignBlocks{}), PageOpKind::kAssignBlocks);
  EXPECT_EQ(KindOf(ReleaseBlocks{}), PageOpKind::kReleaseBlocks);
  EXPECT_EQ(KindOf(WriteTokens{}), PageOpKind::kWriteTokens);
  EXPECT_EQ(KindOf(GatherSequence{}), PageOpKind::kGatherSequence);
  EXPECT_EQ(KindOf(CopyBlock{}), PageOpKind::kCopyBlock);
  EXPECT_EQ(KindOf(MoveBlocks{}), PageOpKind::kMoveBlocks);
  EXPECT_EQ(KindOf(SwapBlocks{}), PageOpKind::kSwapBlocks);
  EXPECT_EQ(KindOf(UpdateState{}), PageOpKind::kUpdateState);
  EXPECT_EQ(KindOf(SaveState{}), PageOpKind::kSaveState);
  EXPECT_EQ(KindOf(RestoreState{}), PageOpKind::kRestoreState);
  EXPECT_EQ(KindOf(HashPrefix{}), PageOpKind::kHashPrefix);
}

TEST(PageOpTest, EveryKindHasItsOwnName) {
  std::set<std::string> names;
  for (int kind = 0; kind < kNumPageOpKinds; ++kind) {
    names.insert(PageOpKindName(static_cast<PageOpKind>(kind)));
  }
  EXPECT_EQ(names.size(), kNumPageOpKinds);
}

TEST(PageOpTest, OpsCompareByValue) {
  const PageOp write = WriteTokens{.sequence = 1, .slots = {16, kNoSlot}};
  const PageOp same = WriteTokens{.sequence = 1, .slots = {16, kNoSlot}};
  const PageOp other = WriteTokens{.sequence = 1, .slots = {16, 17}};
  EXPECT_EQ(write, same);
  EXPECT_NE(write, other);
}

}  // namespace
}  // namespace kvsim
