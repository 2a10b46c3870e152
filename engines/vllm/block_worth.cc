#include "engines/vllm/block_worth.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim::vllm {

BlockWorth::BlockWorth(const Settings& settings)
    : permille_(settings.checkpoints->value_permille.value_or(0)),
      balance_(settings.attention_balance) {
  KVSIM_CHECK(settings.EvictsByValue());
  const int64_t unit = settings.Units().scheduler_tokens;
  boundaries_ = Boundaries::Of(*settings.checkpoints, unit);
  bool every_block = true;
  for (const CacheGroup& group : settings.groups) {
    if (group.kind == GroupKind::kCross) continue;
    if (group.kind == GroupKind::kFull) {
      full_blocks_.push_back(group.block_tokens);
    } else {
      tails_ += group.TailBlocks();
      every_block = false;
    }
  }
  if (every_block) boundaries_.spacing.every = unit;
}

int64_t BlockWorth::Recompute(int64_t tokens) const {
  return balance_ == 0 ? tokens : tokens + tokens * tokens / (2 * balance_);
}

int64_t BlockWorth::Worth(int64_t begin, int64_t end) const {
  int64_t blocks = tails_;
  for (int64_t block : full_blocks_) blocks += (end - begin) / block;
  return permille_ * (Recompute(end) - Recompute(begin)) /
         std::max<int64_t>(blocks, 1);
}

int64_t BlockWorth::At(int64_t end, int64_t num_prompt,
                       int64_t junction) const {
  const int64_t boundary = boundaries_.Next(end, num_prompt, junction);
  if (boundary == INT64_MAX) return now_;
  return now_ +
         Worth(boundaries_.Previous(boundary, num_prompt, junction), boundary);
}

std::vector<BlockWorth::Segment> BlockWorth::Segments(int64_t keyed,
                                                      int64_t num_prompt,
                                                      int64_t junction) const {
  std::vector<Segment> segments;
  int64_t begin = 0;
  for (int64_t end = boundaries_.Next(1, num_prompt, junction); end <= keyed;
       end = boundaries_.Next(end + 1, num_prompt, junction)) {
    segments.push_back({end, now_ + Worth(begin, end)});
    begin = end;
  }
  int64_t deeper = 0;
  for (size_t i = segments.size(); i-- > 0;) {
    deeper = std::max(deeper, segments[i].score);
    segments[i].score = deeper;
  }
  return segments;
}

}  // namespace kvsim::vllm
