// One request's life in plain sentences.
#ifndef KVSIM_SIM_STORY_TEXT_H_
#define KVSIM_SIM_STORY_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "sim/request_story.h"

namespace kvsim {

// What the sentences name besides the story's own figures.
struct StoryContext {
  std::vector<std::string> groups;  // "full attention", "recurrent states", …
  std::vector<int64_t> group_blocks;  // tokens per block
  int64_t block_bytes = 0;            // 0: not known
  int64_t num_blocks = 0;             // of the pool
  int64_t hit_unit = 16;
  int64_t max_num_seqs = 0, max_num_batched_tokens = 0, max_model_len = 0;
  // The flag that says where windows and states are kept: "--retention-interval 0".
  std::string kept_by;
};

// "12.345 s" of model time.
std::string FormatMoment(int64_t time_ns);

// Why it waited, with the figures of the stretch.
std::string WaitReason(const WaitStretch& wait, const StoryContext& context);

// Ends with a line feed.
std::string StoryText(const Story& story, const StoryContext& context,
                      ByteUnits units);

}  // namespace kvsim

#endif  // KVSIM_SIM_STORY_TEXT_H_
