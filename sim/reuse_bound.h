// How many prompt tokens any cache policy could serve from a pool, whatever it keeps
// and evicts, states included.
//
// Model:      requests come one after another. A request that is served d tokens needs
//             every block of full attention below d, and the window tails and states
//             at d. Each of them was in the pool at least since the last request whose
//             tokens ran through its end, so it cost that many requests of one block.
//             A policy can spend at most blocks · requests. The bound fills that with
//             the best tokens per block and request first, a part of the last one
//             included; every request takes one depth, or a mix of two.
// Valid:      for engines that admit requests in the order in which they are added
//             (first come, first served); hits of resumed requests not counted. What
//             running requests hold for themselves is not subtracted, so a real engine
//             stays below it even with perfect foresight.
// Units:      tokens; blocks of one pool; time is counted in requests.
// Costs:      Add O(units hit + units of the request); Tokens O(n log n).
// Source:     the practical flow-based bound (PFOO-U) of Berger, Beckmann and
//             Harchol-Balter, SIGMETRICS 2018, with depths as a multiple choice.
#ifndef KVSIM_SIM_REUSE_BOUND_H_
#define KVSIM_SIM_REUSE_BOUND_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/key_chain.h"

namespace kvsim {

// What a cached prefix needs.
struct ReuseShape {
  struct Tail {
    int64_t block_tokens = 16;
    int64_t blocks = 1;  // that end at the prefix's end
  };
  int64_t key_tokens = 16;  // tokens per key of a request's chain
  int64_t unit = 16;        // hits are multiples of it, and it of key_tokens
  std::vector<int64_t> full_blocks;  // tokens per block of each full group
  std::vector<Tail> tails;           // windows and states
};

class ReuseBound {
 public:
  explicit ReuseBound(ReuseShape shape) : shape_(std::move(shape)) {}

  // The next request: keys of its prompt and outputs, num_tokens in all.
  // REQUIRES: 0 < num_prompt <= num_tokens.
  void Add(KeyChain* keys, int64_t num_prompt, int64_t num_tokens);

  int64_t requests() const { return requests_; }
  int64_t prompt_tokens() const { return prompt_tokens_; }
  // Tokens that a cache without end would serve, with a checkpoint at every unit.
  int64_t UnlimitedTokens() const { return unlimited_tokens_; }
  // At most so many with `num_blocks` blocks.
  int64_t Tokens(int64_t num_blocks) const;

 private:
  // Serving `tokens` more of one request for `cost` blocks · requests more.
  struct Step {
    int64_t tokens = 0;
    int64_t cost = 0;
  };
  // The first of the two gives more tokens for a block and request.
  static bool Better(const Step& a, const Step& b) {
    return static_cast<__int128>(a.tokens) * b.cost >
           static_cast<__int128>(b.tokens) * a.cost;
  }

  int64_t TailCost(const std::vector<int64_t>& ages) const;
  void AddSteps(const std::vector<int64_t>& ages);

  const ReuseShape shape_;
  int64_t requests_ = 0, prompt_tokens_ = 0, unlimited_tokens_ = 0;
  // By key of a unit's end: the last request that ran through it. Never iterated.
  absl::flat_hash_map<uint64_t, int64_t> last_use_;
  std::vector<Step> steps_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_REUSE_BOUND_H_
