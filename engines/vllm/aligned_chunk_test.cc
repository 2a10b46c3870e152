#include "engines/vllm/aligned_chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kvsim::vllm {
namespace {

using Chunks = std::vector<int64_t>;

// All chunks of a prompt that is computed alone.
Chunks Prefill(const ChunkRules& rules, int64_t prompt, int64_t start = 0,
               int64_t junction = 0) {
  Chunks chunks;
  while (start < prompt) {
    const int64_t n = std::min(rules.largest, prompt - start);
    const int64_t cut = AlignedChunk(rules, start, n, prompt, prompt, junction);
    chunks.push_back(cut);
    if (cut == 0) break;
    start += cut;
  }
  return chunks;
}

// P13 and P13b of the recorded experiments: the last whole block ends a chunk; a
// block larger than any chunk is filled in parts that end with it.
TEST(AlignedChunk, TheLastWholeBlockEndsAChunk) {
  EXPECT_EQ(Prefill({.block = 256, .largest = 512}, 1500),
            (Chunks{512, 512, 256, 220}));
}

TEST(AlignedChunk, BlocksLargerThanAChunkAreFilledInParts) {
  EXPECT_EQ(Prefill({.block = 1024, .largest = 600}, 2500),
            (Chunks{600, 424, 600, 424, 452}));
}

// Until 2026-08-06 a chunk that starts inside a block went on past its end.
TEST(AlignedChunk, OlderVersionsDoNotRealign) {
  EXPECT_EQ(
      Prefill({.block = 1024, .largest = 600, .realigns = false}, 2500)[1],
      424);  // whole blocks still stop it at 1,024
  EXPECT_EQ(AlignedChunk({.block = 256, .largest = 512, .realigns = false}, 100,
                         300, 400, 400, 0),
            156);  // the last whole block of 400 tokens ends at 256
}

TEST(AlignedChunk, TooLittleBudgetForABlockWaits) {
  EXPECT_EQ(
      AlignedChunk({.block = 256, .largest = 2048}, 512, 200, 2000, 2000, 0),
      0);
}

TEST(AlignedChunk, TooLittleBudgetForTheRestOfABlockWaitsToo) {
  // 576 + 100 would end inside the block again; it ends at 768.
  EXPECT_EQ(
      AlignedChunk({.block = 256, .largest = 2048}, 576, 100, 2000, 2000, 0),
      0);
  EXPECT_EQ(
      AlignedChunk({.block = 256, .largest = 2048}, 576, 192, 2000, 2000, 0),
      192);
}

TEST(AlignedChunk, TheJunctionEndsAChunk) {
  // P9: a twin whose first 896 tokens are the junction, blocks of 128.
  EXPECT_EQ(Prefill({.block = 128}, 1024, 0, 896), (Chunks{896, 128}));
  EXPECT_EQ(Prefill({.block = 128}, 1024, 0, 900), (Chunks{896, 128}));
}

TEST(AlignedChunk, WithADraftModelTheLastBlockIsKeptWhole) {
  EXPECT_EQ(Prefill({.block = 256, .drops_last_hit = true}, 1500),
            (Chunks{1024, 476}));
}

TEST(AlignedChunk, FineHitsAlsoStopAtThePromptsLastUnit) {
  EXPECT_EQ(Prefill({.block = 256, .unit = 64}, 1500), (Chunks{1280, 192, 28}));
}

}  // namespace
}  // namespace kvsim::vllm
