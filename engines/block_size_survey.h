// A deployment planned once for each block size that could be asked for.
//
// Model:   what is asked and what the engine makes of it are two numbers: it
//          refuses sizes that no attention backend reads, grows them until a
//          page holds a recurrent state, and gives windows blocks of their own.
//          The engine's own choice and the question's size are always among the
//          sizes; with recurrent states also the least size whose page holds a
//          state, which the engine, growing in whole steps, may jump over.
// Scope:   vLLM V1, with memory that does not depend on the size: a number of
//          blocks would be more bytes the larger they are.
// Ownership: the question's model must outlive the call; answers are values.
// Costs:   one plan for each size.

#ifndef KVSIM_ENGINES_BLOCK_SIZE_SURVEY_H_
#define KVSIM_ENGINES_BLOCK_SIZE_SURVEY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "engines/capacity_answer.h"
#include "engines/capacity_question.h"
#include "engines/state_mode.h"

namespace kvsim {

struct SurveyedBlockSize {
  Tokens asked;
  bool is_default = false;  // what the engine takes when nothing is asked
  // False: the engine does not start with it; only `note` below says anything.
  bool accepted = true;
  // Why not, or what the engine makes of it; "" when it takes it as it is.
  std::string note;

  CapacityAnswer answer;
  Tokens block;     // of attention, on one rank
  Tokens hit_unit;  // prefix hits are multiples of this
  Bytes padding;    // of one request of the first context
  Bytes table;      // the engine's block tables
};

struct BlockSizeSurvey {
  Tokens length;  // the first context: what requests are counted at
  bool prefix_caching = true;
  std::optional<StateMode> state_mode;   // none: no recurrent states
  std::vector<SurveyedBlockSize> sizes;  // ascending; at least one
};

// Errors: those of AnswerCapacity; InvalidArgument for another engine, for a
// size outside 1 to 2^20, for a number of blocks in the place of memory, for a
// model without attention.
absl::StatusOr<BlockSizeSurvey> SurveyBlockSizes(
    const CapacityQuestion& question, std::vector<Tokens> sizes);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_BLOCK_SIZE_SURVEY_H_
