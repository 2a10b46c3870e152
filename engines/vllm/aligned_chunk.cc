#include "engines/vllm/aligned_chunk.h"

#include <algorithm>

namespace kvsim::vllm {

int64_t AlignedChunk(const ChunkRules& rules, int64_t start, int64_t n,
                     int64_t num_tokens, int64_t num_prompt, int64_t junction) {
  const int64_t block = rules.block;
  int64_t end = start + n;
  const auto stop_at = [&](int64_t boundary) {
    if (boundary > start && boundary < end) end = boundary;
  };
  int64_t last = num_tokens / block * block;
  if (rules.drops_last_hit) last = std::max<int64_t>(last - block, 0);
  if (end < last) {
    const int64_t whole = end / block * block;
    if (whole <= start && block <= rules.largest) return 0;
    if (whole > start) end = whole;
  }
  if (rules.realigns && start % block != 0) {
    stop_at((start / block + 1) * block);
  }
  stop_at(last);
  stop_at(junction / block * block);
  stop_at(rules.checkpoints.Next(start + 1));
  if (rules.unit > 0) stop_at(num_prompt / rules.unit * rules.unit);
  return end - start;
}

}  // namespace kvsim::vllm
