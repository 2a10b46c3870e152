#include "sim/reuse_bound.h"

#include <algorithm>
#include <span>

#include "base/check.h"

namespace kvsim {

void ReuseBound::Add(KeyChain* keys, int64_t num_prompt, int64_t num_tokens) {
  KVSIM_CHECK(0 < num_prompt && num_prompt <= num_tokens);
  const int64_t stride = shape_.unit / shape_.key_tokens;
  const int64_t units = num_tokens / shape_.unit;
  const std::span<const uint64_t> chain = keys->Prefix(units * stride);
  // One token at least is computed.
  const int64_t most = (num_prompt - 1) / shape_.unit;
  std::vector<int64_t> ages;  // of the ends of the leading units that are known
  bool known = true;
  for (int64_t i = 0; i < units; ++i) {
    const uint64_t key = chain[static_cast<size_t>((i + 1) * stride - 1)];
    const auto [use, is_new] = last_use_.try_emplace(key, requests_);
    known = known && !is_new;
    if (known && i < most) ages.push_back(requests_ - use->second);
    use->second = requests_;
  }
  AddSteps(ages);
  unlimited_tokens_ += static_cast<int64_t>(ages.size()) * shape_.unit;
  prompt_tokens_ += num_prompt;
  ++requests_;
}

// Of the tails that end with the last unit. A block further up counts with the age of
// a unit at or before it, which is no more than its own.
int64_t ReuseBound::TailCost(const std::vector<int64_t>& ages) const {
  const auto last = static_cast<int64_t>(ages.size()) - 1;
  int64_t cost = 0;
  for (const ReuseShape::Tail& tail : shape_.tails) {
    for (int64_t i = 0; i < tail.blocks; ++i) {
      const int64_t up =
          (i * tail.block_tokens + shape_.unit - 1) / shape_.unit;
      if (up > last) break;
      cost += ages[static_cast<size_t>(last - up)];
    }
  }
  return cost;
}

// Depths and what they cost, without those that a mix of two others beats.
void ReuseBound::AddSteps(const std::vector<int64_t>& ages) {
  std::vector<Step> hull;
  std::vector<int64_t> above;
  Step at;  // the depth before
  int64_t full_cost = 0, depth = 0;
  for (int64_t age : ages) {
    above.push_back(age);
    for (int64_t block : shape_.full_blocks) {
      full_cost += ((depth + shape_.unit) / block - depth / block) * age;
    }
    depth += shape_.unit;
    const Step whole{depth, full_cost + TailCost(above)};
    Step step{whole.tokens - at.tokens, whole.cost - at.cost};
    while (!hull.empty() && !Better(hull.back(), step)) {
      step.tokens += hull.back().tokens;
      step.cost += hull.back().cost;
      hull.pop_back();
    }
    hull.push_back(step);
    at = whole;
  }
  steps_.insert(steps_.end(), hull.begin(), hull.end());
}

int64_t ReuseBound::Tokens(int64_t num_blocks) const {
  if (requests_ == 0) return 0;
  std::vector<Step> steps = steps_;
  std::sort(steps.begin(), steps.end(), Better);
  __int128 room = static_cast<__int128>(num_blocks) * (requests_ - 1);
  int64_t tokens = 0;
  for (const Step& step : steps) {
    if (step.cost > room) {
      const __int128 part = step.tokens * room + step.cost - 1;
      return tokens + static_cast<int64_t>(part / step.cost);
    }
    room -= step.cost;
    tokens += step.tokens;
  }
  return tokens;
}

}  // namespace kvsim
