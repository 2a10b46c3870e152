#include "sim/hits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "allocator/naive_hit_caches.h"
#include "sim/hit_traces_for_test.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

// Two prompts of 20 tokens with the same ids: 8 + 8 + 4 tokens.
std::vector<TraceRequest> Twins() {
  return {Prompt(20, {1, 2, 3}), Prompt(20, {1, 2, 3})};
}

TEST(HitsTest, ASharedTailIsAnEntryAndMayServeTheWholePrompt) {
  const HitTrace trace = ReadHitRows(Twins(), PartialTail::kShared, 8);
  const auto result = trace.Replay({.num_blocks = 100});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->references, 6);  // ceil(20 / 8) each
  EXPECT_EQ(result->hit_blocks, 3);
  EXPECT_EQ(result->hit_tokens, 20);  // min(8 · 3, 20)
  EXPECT_EQ(result->measured_tokens, 40);
}

TEST(HitsTest, AUniqueTailNeverHits) {
  const HitTrace trace = ReadHitRows(Twins(), PartialTail::kUnique, 8);
  const auto result = trace.Replay({.num_blocks = 100});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->references, 4);  // floor(20 / 8) each
  EXPECT_EQ(result->hit_tokens, 16);
}

TEST(HitsTest, AnEngineComputesAtLeastOneToken) {
  // 16 tokens are two whole blocks; only floor(15 / 8) = 1 of them may hit.
  const HitTrace trace = ReadHitRows({Prompt(16, {1, 2}), Prompt(16, {1, 2})},
                                     PartialTail::kUnique, 8);
  EXPECT_EQ(trace.Replay({.num_blocks = 100})->hit_blocks, 1);
  const HitTrace shared = ReadHitRows({Prompt(16, {1, 2}), Prompt(16, {1, 2})},
                                      PartialTail::kShared, 8);
  EXPECT_EQ(shared.Replay({.num_blocks = 100})->hit_blocks, 2);
}

TEST(HitsTest, APartialIdMatchesWhateverTheLengths) {
  // Both tails name id 3, with 4 and with 6 of its 8 tokens.
  const HitTrace trace = ReadHitRows(
      {Prompt(20, {1, 2, 3}), Prompt(22, {1, 2, 3})}, PartialTail::kShared, 8);
  EXPECT_EQ(trace.Replay({.num_blocks = 100})->hit_tokens, 22);
}

// Block sizes that divide the hash block, equal it, are a multiple of it, or
// neither: equal prompts hit all their entries, others their common prefix.
TEST(HitsTest, AnyBlockSizeCutsTheSamePrompts) {
  for (const int64_t block : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20, 32}) {
    SCOPED_TRACE(block);
    const HitTrace shared = ReadHitRows(
        {Prompt(20, {1, 2, 3}), Prompt(20, {1, 2, 3}), Prompt(20, {1, 9, 10})},
        PartialTail::kShared, block);
    // The third prompt shares its first 8 tokens: 8 / block whole blocks.
    EXPECT_EQ(shared.Replay({.num_blocks = 100})->hit_tokens,
              20 + 8 / block * block);
    const HitTrace unique = ReadHitRows(
        {Prompt(20, {1, 2, 3}), Prompt(20, {1, 2, 3}), Prompt(20, {1, 9, 10})},
        PartialTail::kUnique, block);
    EXPECT_EQ(unique.Replay({.num_blocks = 100})->hit_tokens,
              16 / block * block + 8 / block * block);
  }
}

TEST(HitsTest, OnlyTheLastRowsAreCountedButAllWarm) {
  const HitTrace trace =
      ReadHitRows({Prompt(8, {1}), Prompt(8, {2}), Prompt(8, {1}),
                   Prompt(8, {2}), Prompt(8, {3})},
                  PartialTail::kShared, 8);
  // floor(5 / 2) = 2: rows 2, 3 and 4 count, and rows 0 and 1 warmed them.
  const auto half = trace.Replay({.num_blocks = 8, .measured_share = 0.5});
  EXPECT_EQ(half->measured_rows, 3);
  EXPECT_EQ(half->measured_tokens, 24);
  EXPECT_EQ(half->hit_tokens, 16);
  EXPECT_EQ(half->rows, 5);
  // 30 % of 5 rows: floor(5 · 0.7) = 3 rows warm, 2 count.
  EXPECT_EQ(
      trace.Replay({.num_blocks = 8, .measured_share = 0.3})->measured_rows, 2);
  EXPECT_EQ(trace.Replay({.num_blocks = 8, .measured_share = 0})->measured_rows,
            0);
}

TEST(HitsTest, EqualsItsTwinsThroughTheTokenRules) {
  std::vector<TraceRequest> rows;
  uint64_t state = 1;
  for (int i = 0; i < 200; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Ids are prefix-chained: a path in a binary tree.
    const auto length = static_cast<int64_t>(1 + (state >> 33) % 48);
    std::vector<uint64_t> ids;
    uint64_t path = 1;
    for (int64_t at = 0; at < length; at += 8) {
      ids.push_back(path = path * 2 + (state >> (40 + at / 8)) % 2);
    }
    rows.push_back(Prompt(length, ids));
  }
  for (const PartialTail tail : {PartialTail::kShared, PartialTail::kUnique}) {
    for (const int64_t block : {4, 8, 12}) {
      const HitTrace trace = ReadHitRows(rows, tail, block);
      NaiveLruCache lru(20);
      NaiveFifoCache fifo(20);
      NaiveOptimalCache optimal(20, trace.keys());
      EXPECT_EQ(*trace.Replay({HitPolicy::kLru, 20}), trace.Replay(lru, 1));
      EXPECT_EQ(*trace.Replay({HitPolicy::kFifo, 20}), trace.Replay(fifo, 1));
      EXPECT_EQ(*trace.Replay({HitPolicy::kOptimal, 20}),
                trace.Replay(optimal, 1));
    }
  }
}

TEST(HitsTest, RefusesAnEmptyTraceABadPoolAndLengthsBeyondMemory) {
  VectorTraceReader empty({});
  EXPECT_THAT(std::string(HitTrace::Read(&empty, {}, 8).status().message()),
              HasSubstr("no rows"));
  const HitTrace trace = ReadHitRows(Twins(), PartialTail::kShared, 8);
  EXPECT_THAT(std::string(trace.Replay({.num_blocks = 0}).status().message()),
              HasSubstr("found 0 blocks; accepted: 1 to 134217728"));
  TraceRequest huge;
  huge.input_length = int64_t{1} << 62;
  VectorTraceReader reader({huge});
  EXPECT_THAT(
      std::string(HitTrace::Read(&reader, {}, 16).status().message()),
      HasSubstr("row 0: field `input_length`: found 4611686018427387904"));
  EXPECT_FALSE(ParseHitPolicy("arc").ok());
  EXPECT_EQ(*ParseHitPolicy("optimal"), HitPolicy::kOptimal);
}

}  // namespace
}  // namespace kvsim
