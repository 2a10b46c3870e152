// Block sizes side by side, and which is best by which view.
//
// Model:   a survey of sizes, with what each leaves empty in the last blocks of
//          given lengths and, given a trace, what a prefix cache of its pool
//          hits. Views are compared in integers; sizes that tie all win.
// Advice:  a size is recommended only when none holds more requests and none
//          hits more by 1 % of the prompts: the cache that is asked pins
//          nothing, not even the last blocks of requests, and tells no finer
//          difference apart. Of several the engine's own choice, else the one
//          with the smallest block tables.
// Units:   tokens, bytes of one rank.

#ifndef KVSIM_TOOLS_BLOCK_SIZE_COMPARISON_H_
#define KVSIM_TOOLS_BLOCK_SIZE_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "engines/block_size_survey.h"
#include "sim/hits.h"

namespace kvsim {

struct ComparedBlockSize {
  SurveyedBlockSize surveyed;
  // Summed over the comparison's lengths.
  int64_t slack_tokens = 0;
  Bytes slack;
  // Blocks of a hit unit that the pool holds, and what they hit; none without a
  // trace or without prefix caching.
  int64_t hit_blocks = 0;
  std::optional<HitResult> hits;
};

struct BlockSizeComparison {
  Tokens length;  // what requests are counted at
  bool prefix_caching = true;
  std::optional<StateMode> state_mode;  // none: no recurrent states
  bool from_trace = false;              // the lengths, and there are hits
  // The pool also holds windows or states: it hits at most so much.
  bool hits_are_bound = false;
  std::vector<Tokens> lengths;           // prompt and output together
  std::vector<ComparedBlockSize> sizes;  // ascending by what is asked
};

// Without hits. `lengths` beyond what the engine serves are cut there.
BlockSizeComparison CompareBlockSizes(BlockSizeSurvey survey,
                                      std::vector<Tokens> lengths);

// Blocks of one hit unit in the pool, were all of it full history.
int64_t HitBlocks(const SurveyedBlockSize& size);
// True when the pool holds something beside one group of full history.
bool HoldsMoreThanHistory(const PoolPlan& pool);

// The accepted size with the smallest hit unit; null when none is accepted.
const ComparedBlockSize* FinestSize(const BlockSizeComparison& comparison);

struct BestView {
  std::string view;            // "most tokens"
  std::vector<int64_t> sizes;  // as asked
  std::string reason;
};

// Empty when no size is accepted. `units` are those of the reasons' bytes.
std::vector<BestView> BestViews(const BlockSizeComparison& comparison,
                                ByteUnits units);

struct BlockSizeAdvice {
  std::optional<Tokens> size;  // as asked
  std::string text;
};

BlockSizeAdvice Advise(const BlockSizeComparison& comparison);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_BLOCK_SIZE_COMPARISON_H_
