#include "sim/miss_ratio_curve.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/hit_traces_for_test.h"
#include "sim/hits.h"

namespace kvsim {
namespace {

// Prompts over a small tree of ids, some with a partial tail.
std::vector<TraceRequest> RandomRows(uint64_t seed) {
  RandomStream random(seed, "prompts");
  std::vector<TraceRequest> rows;
  for (int i = 0; i < 40; ++i) {
    const int64_t length = random.Between(1, 60);
    std::vector<uint64_t> ids;
    uint64_t id = 1;
    for (int64_t at = 0; at < length; at += 8) {
      id = id * 3 + random.Below(2);
      ids.push_back(id);
    }
    rows.push_back(Prompt(length, std::move(ids)));
  }
  return rows;
}

// Every size from 0 to more than there is, against a run of its own.
void ExpectEqualsRuns(const HitTrace& trace, double share) {
  const MissRatioCurve curve(trace, share);
  for (int64_t blocks = 1; blocks <= curve.saturating_blocks() + 2; ++blocks) {
    auto run = trace.Replay({.num_blocks = blocks, .measured_share = share});
    ASSERT_TRUE(run.ok()) << run.status();
    run->evictions = 0;
    ASSERT_EQ(curve.At(blocks), *run) << blocks << " blocks";
  }
  EXPECT_EQ(curve.At(0).hit_tokens, 0);
  const int64_t most = curve.saturating_blocks();
  EXPECT_EQ(curve.Knots().back(), most);
  EXPECT_EQ(curve.At(most).hit_tokens, curve.At(int64_t{1} << 40).hit_tokens);
  if (most > 1) {
    EXPECT_LT(curve.At(most - 1).hit_blocks, curve.At(most).hit_blocks);
  }
}

TEST(MissRatioCurveTest, EqualsOneRunPerSize) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    for (const PartialTail tail :
         {PartialTail::kUnique, PartialTail::kShared}) {
      for (const int64_t block : {3, 8, 16}) {
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << ", block " << block << ", "
                     << PartialTailName(tail));
        const HitTrace trace = ReadHitRows(RandomRows(seed), tail, block);
        ExpectEqualsRuns(trace, seed % 3 == 0 ? 0.5 : 1.0);
      }
    }
  }
}

// Two prompts of 20 tokens in blocks of 8, the tail shared: 3 entries, used
// tail first. The head alone is kept by one entry, all of it by three.
TEST(MissRatioCurveTest, TwinsByHand) {
  const HitTrace trace = ReadHitRows(
      {Prompt(20, {1, 2, 3}), Prompt(20, {1, 2, 3})}, PartialTail::kShared, 8);
  const MissRatioCurve curve(trace, 1.0);
  EXPECT_EQ(curve.At(0).hit_tokens, 0);
  EXPECT_EQ(curve.At(1).hit_tokens, 8);
  EXPECT_EQ(curve.At(2).hit_tokens, 16);
  EXPECT_EQ(curve.At(3).hit_tokens, 20);
  EXPECT_EQ(curve.At(1'000'000).hit_tokens, 20);
  EXPECT_EQ(curve.Knots(), (std::vector<int64_t>{1, 2, 3}));
}

TEST(MissRatioCurveTest, PromptsWithoutAWholeBlock) {
  const HitTrace trace =
      ReadHitRows({Prompt(3, {1}), Prompt(3, {1})}, PartialTail::kUnique, 8);
  const MissRatioCurve curve(trace, 1.0);
  EXPECT_EQ(curve.At(10).hit_tokens, 0);
  EXPECT_EQ(curve.At(10).measured_tokens, 6);
  EXPECT_EQ(curve.Knots(), (std::vector<int64_t>{1}));
}

}  // namespace
}  // namespace kvsim
