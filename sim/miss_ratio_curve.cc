#include "sim/miss_ratio_curve.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "allocator/lru_stack.h"
#include "base/check.h"

namespace kvsim {
MissRatioCurve::MissRatioCurve(const HitTrace& trace, double measured_share) {
  const KeyRows& keys = trace.keys();
  const auto references = static_cast<int64_t>(keys.keys.size());
  counted_ = trace.Counted(measured_share);
  const int64_t first_measured = counted_.rows - counted_.measured_rows;
  LruStack stack(trace.rows(), std::max<int64_t>(references, 1));
  std::vector<LruStack::Run> runs;
  for (int64_t r = 0; r < trace.rows(); ++r) {
    stack.Access(keys[r], &runs);
    if (r < first_measured) continue;
    for (const LruStack::Run& run : runs) {
      AddRow(trace, r, run.begin, run.count, run.position);
    }
  }
  Join();
}

// Blocks [begin, begin + count) of a row hit from sizes position, position + 1,
// ... on.
void MissRatioCurve::AddRow(const HitTrace& trace, int64_t row, int64_t begin,
                            int64_t count, int64_t position) {
  const int64_t length = trace.input_length(row);
  const int64_t block = trace.block_tokens();
  count = std::min(count, trace.HitLimit(length) - begin);
  if (count <= 0) return;
  const int64_t end = position + count;
  AddGain(position, end, {.blocks = 1, .tokens = block});
  if (begin == 0) AddGain(position, position + 1, {.rows = 1});
  // The last block may be partial.
  const int64_t beyond = (begin + count) * block - length;
  if (beyond > 0) AddGain(end - 1, end, {.tokens = -beyond});
}

// From changes in any order to one piece per range of sizes.
void MissRatioCurve::Join() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::vector<Piece> joined = {{.begin = 0, .gain = {}, .before = {}}};
  for (const Piece& change : pieces_) {
    if (change.begin > joined.back().begin) {
      const Piece& last = joined.back();
      Piece next = {change.begin, last.gain, last.before};
      next.before.Add(last.gain, change.begin - last.begin);
      joined.push_back(next);
    }
    joined.back().gain.Add(change.gain, 1);
  }
  pieces_ = std::move(joined);
}

HitResult MissRatioCurve::At(int64_t num_blocks) const {
  KVSIM_CHECK(num_blocks >= 0) << num_blocks;
  const auto next = std::upper_bound(
      pieces_.begin(), pieces_.end(), num_blocks,
      [](int64_t size, const Piece& piece) { return size < piece.begin; });
  const Piece& piece = *std::prev(next);
  Gain hits = piece.before;
  hits.Add(piece.gain, num_blocks - piece.begin + 1);
  HitResult result = counted_;
  result.hit_blocks = hits.blocks;
  result.hit_tokens = hits.tokens;
  result.hit_rows = hits.rows;
  return result;
}

int64_t MissRatioCurve::saturating_blocks() const {
  return std::max<int64_t>(pieces_.back().begin - 1, 1);
}

std::vector<int64_t> MissRatioCurve::Knots() const {
  const int64_t last = saturating_blocks();
  std::vector<int64_t> knots;
  for (int64_t power = 1; power < last; power *= 2) knots.push_back(power);
  knots.push_back(last);
  return knots;
}

}  // namespace kvsim
