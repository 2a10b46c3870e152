#include "traces/preset_trace.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/units.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kFull = int64_t{1} << 32;  // of a position
constexpr int64_t kMaxRows = 50'000'000;
constexpr int64_t kMaxBlocks = int64_t{1} << 30;
constexpr int64_t kMaxGapUs = 1'000'000'000'000;  // a mean: eleven days
constexpr int64_t kLastUs = kMaxTraceTimeNs / 1000;

// 0, 1, ..., count - 1 in a random order.
std::vector<int64_t> Shuffled(int64_t count, RandomStream* random) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  random->Shuffle(std::span<int64_t>(order));
  return order;
}

// Where rank `i` of `count` stands between the first quantile and the last.
int64_t PositionOf(int64_t i, int64_t count) {
  return count == 1 ? kFull / 2 : i * kFull / (count - 1);
}

}  // namespace

absl::Status CheckPresetRows(const TracePreset& preset, int64_t rows) {
  if (rows < 1 || rows > kMaxRows) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", rows, " requests; accepted: 1 to ", kMaxRows));
  }
  absl::int128 blocks = 0;  // of one row per quantile
  for (const int64_t length : preset.input_quantiles) {
    blocks += length / preset.hash_block;
  }
  if (blocks * rows / TracePreset::kQuantiles <= kMaxBlocks) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", rows, " requests of ",
      static_cast<int64_t>(blocks / TracePreset::kQuantiles),
      " blocks on average; accepted: at most ", kMaxBlocks, " blocks in all"));
}

PresetTrace::PresetTrace(const TracePreset& preset, uint64_t seed, int64_t rows)
    : preset_(preset), ages_(seed, "prefix_ages") {
  KVSIM_CHECK(CheckPresetRows(preset, rows).ok());
  rows_.resize(static_cast<size_t>(rows));
  PlanLengths(seed);
  CorrectHits();
  PlanArrivals(seed);
}

int64_t PresetTrace::WholeBlocks(const Row& row) const {
  return row.input_length / preset_.hash_block;
}

void PresetTrace::PlanLengths(uint64_t seed) {
  const auto count = static_cast<int64_t>(rows_.size());
  RandomStream inputs(seed, "input_lengths");
  RandomStream outputs(seed, "output_lengths");
  const std::vector<int64_t> ranks = Shuffled(count, &inputs);
  const std::vector<int64_t> output_ranks = Shuffled(count, &outputs);
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].input_length =
        QuantileAt(preset_.input_quantiles.data(), TracePreset::kQuantiles,
                   PositionOf(ranks[i], count));
    rows_[i].output_length =
        QuantileAt(preset_.output_quantiles.data(), TracePreset::kQuantiles,
                   PositionOf(output_ranks[i], count));
  }
  PlanHits(seed, ranks);
}

// In each class of length the shares are the class's quantiles in a random
// order.
void PresetTrace::PlanHits(uint64_t seed, const std::vector<int64_t>& ranks) {
  const auto count = static_cast<int64_t>(rows_.size());
  RandomStream random(seed, "hit_shares");
  std::vector<std::vector<size_t>> classes(TracePreset::kClasses);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const int64_t c = ranks[i] * TracePreset::kClasses / count;
    classes[static_cast<size_t>(c)].push_back(i);
  }
  for (int64_t c = 0; c < TracePreset::kClasses; ++c) {
    const std::vector<size_t>& members = classes[static_cast<size_t>(c)];
    const auto size = static_cast<int64_t>(members.size());
    const std::vector<int64_t> order = Shuffled(size, &random);
    for (size_t m = 0; m < members.size(); ++m) {
      Row& row = rows_[members[m]];
      const int64_t share =
          QuantileAt(&preset_.hit_shares[c * TracePreset::kShares],
                     TracePreset::kShares, PositionOf(order[m], size));
      const absl::int128 exact = absl::int128(WholeBlocks(row)) * share;
      row.hit_blocks = static_cast<int64_t>((exact + TracePreset::kWhole / 2) /
                                            TracePreset::kWhole);
    }
  }
}

// The most blocks that each row can hit: as many as the longest row before it
// has, and as it has itself.
std::vector<int64_t> PresetTrace::HitLimits() const {
  std::vector<int64_t> limits;
  int64_t longest = 0;
  for (const Row& row : rows_) {
    const int64_t whole = WholeBlocks(row);
    limits.push_back(std::min(whole, longest));
    longest = std::max(longest, whole);
  }
  return limits;
}

int64_t PresetTrace::WantedHits() const {
  absl::int128 input = 0;
  for (const Row& row : rows_) input += row.input_length;
  return static_cast<int64_t>(input * preset_.hit_tokens /
                              preset_.input_tokens / preset_.hash_block);
}

// Adds or takes whole blocks, one from each row, until the hits are the
// preset's share of all prompt tokens, or can come no closer. Rows that share
// nothing begin to only when all others are at their limits.
void PresetTrace::CorrectHits() {
  const std::vector<int64_t> limits = HitLimits();
  const int64_t wanted = WantedHits();
  int64_t hits = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].hit_blocks = std::min(rows_[i].hit_blocks, limits[i]);
    hits += rows_[i].hit_blocks;
  }
  int64_t least = 1;  // hits of the rows that take part
  while (hits != wanted) {
    const int64_t before = hits;
    for (size_t i = 0; i < rows_.size() && hits != wanted; ++i) {
      const int64_t step = hits < wanted ? 1 : -1;
      int64_t& blocks = rows_[i].hit_blocks;
      if (blocks < least || blocks + step < least ||
          blocks + step > limits[i]) {
        continue;
      }
      blocks += step;
      hits += step;
    }
    if (hits == before && --least < 0) return;
  }
}

void PresetTrace::PlanArrivals(uint64_t seed) {
  RandomStream random(seed, "arrivals");
  const double rows_at_once =
      std::max(1.0, static_cast<double>(preset_.rows) /
                        static_cast<double>(preset_.moments));
  const int64_t mean_gap_us =
      preset_.moments < 2
          ? 0
          : std::min(kMaxGapUs, preset_.span_ms * 1000 / (preset_.moments - 1));
  const double last = std::max(1.0 / (1 << 20), 1.0 / rows_at_once);
  int64_t now_us = 0;
  int64_t left = 0;  // rows of this burst
  for (Row& row : rows_) {
    if (left == 0) {
      if (&row != rows_.data()) {
        const int64_t gap_us =
            random.ExponentialTime(Microseconds(mean_gap_us)) / Microseconds(1);
        now_us = std::min(kLastUs, now_us + gap_us);
      }
      left = 1 + random.Geometric(last);
    }
    row.arrival_ms = now_us / 1000;
    --left;
  }
}

bool PresetTrace::Next(TraceRequest* row) {
  if (next_row_ == static_cast<int64_t>(rows_.size())) return false;
  NameBlocks(next_row_);
  const Row& planned = rows_[static_cast<size_t>(next_row_)];
  *row = TraceRequest();
  row->id = next_row_++;
  row->arrival_ns = Milliseconds(planned.arrival_ms).value();
  row->input_length = planned.input_length;
  row->output_length = planned.output_length;
  row->hash_block = preset_.hash_block;
  row->hash_ids = planned.ids;
  if (planned.input_length % preset_.hash_block != 0) {
    row->hash_ids.push_back(next_id_++);
  }
  return true;
}

// An earlier row of so many whole blocks, about as old as the ages say.
// REQUIRES: there is one.
int64_t PresetTrace::Donor(int64_t row, int64_t blocks) {
  const auto position = static_cast<int64_t>(ages_.Below(kFull + 1));
  const int64_t depth = TracePreset::DepthOf(blocks);
  const int64_t age = QuantileAt(&preset_.ages[depth * TracePreset::kShares],
                                 TracePreset::kShares, position);
  const int64_t start = std::max<int64_t>(0, row - age);
  for (int64_t off = 0; off < row; ++off) {
    for (const int64_t candidate : {start - off, start + off}) {
      if (candidate >= 0 && candidate < row &&
          WholeBlocks(rows_[static_cast<size_t>(candidate)]) >= blocks) {
        return candidate;
      }
    }
  }
  KVSIM_CHECK(false) << "row " << row << " hits " << blocks << " blocks";
  return 0;
}

void PresetTrace::NameBlocks(int64_t number) {
  Row& row = rows_[static_cast<size_t>(number)];
  if (row.hit_blocks > 0) {
    const int64_t donor = Donor(number, row.hit_blocks);
    const std::vector<uint64_t>& ids = rows_[static_cast<size_t>(donor)].ids;
    row.ids.assign(ids.begin(), ids.begin() + row.hit_blocks);
  }
  while (static_cast<int64_t>(row.ids.size()) < WholeBlocks(row)) {
    row.ids.push_back(next_id_++);
  }
}

}  // namespace kvsim
