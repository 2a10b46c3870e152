// What an LRU prefix cache of every size would serve, in one pass over a trace.
//
// Model:      sim/hits.h with policy LRU, for all pool sizes at once: exact stack
//             distances (allocator/lru_stack.h), no sampling, no error.
//             At(n) equals HitTrace::Replay with num_blocks = n in every field but
//             `evictions`, which a single pass does not know.
// Memory:     56 B per run of blocks that were used one after the other, a few
//             runs per row; while it is made 13 B per reference more.
// Costs:      one pass over the references; At is O(log runs).
#ifndef KVSIM_SIM_MISS_RATIO_CURVE_H_
#define KVSIM_SIM_MISS_RATIO_CURVE_H_

#include <cstdint>
#include <vector>

#include "sim/hits.h"

namespace kvsim {

class MissRatioCurve {
 public:
  // REQUIRES: measured_share in [0, 1], as in HitOptions.
  MissRatioCurve(const HitTrace& trace, double measured_share);

  // REQUIRES: num_blocks >= 0.
  HitResult At(int64_t num_blocks) const;

  // The smallest size that serves every hit there is; more changes nothing. At
  // least 1.
  int64_t saturating_blocks() const;

  // Sizes a person wants to see: powers of two, then saturating_blocks().
  std::vector<int64_t> Knots() const;

 private:
  struct Gain {  // what one block more adds to the measured hits
    int64_t blocks = 0, tokens = 0, rows = 0;

    void Add(const Gain& other, int64_t times) {
      blocks += other.blocks * times;
      tokens += other.tokens * times;
      rows += other.rows * times;
    }
  };
  struct Piece {  // sizes from `begin` up to the next piece
    int64_t begin;
    Gain gain;    // while it is made: the change against the piece before
    Gain before;  // hits at begin - 1
  };

  void AddRow(const HitTrace& trace, int64_t row, int64_t begin, int64_t count,
              int64_t position);
  void AddGain(int64_t begin, int64_t end, const Gain& gain) {
    pieces_.push_back({begin, gain, {}});
    pieces_.push_back({end, {-gain.blocks, -gain.tokens, -gain.rows}, {}});
  }
  void Join();

  HitResult counted_;          // what no size changes
  std::vector<Piece> pieces_;  // by size; the last gains nothing
};

}  // namespace kvsim

#endif  // KVSIM_SIM_MISS_RATIO_CURVE_H_
