#include "traces/trace_fitter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"

namespace kvsim {
namespace {

// `count` quantiles of the values, `nothing` each when there are none.
std::vector<int64_t> Quantiles(std::vector<int64_t> values, int64_t count,
                               int64_t nothing) {
  if (values.empty()) values.push_back(nothing);
  if (values.size() == 1) values.push_back(values.front());
  std::sort(values.begin(), values.end());
  std::vector<int64_t> quantiles;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = (i << 32) / (count - 1);
    quantiles.push_back(QuantileAt(
        values.data(), static_cast<int64_t>(values.size()), position));
  }
  return quantiles;
}

void AddTo(int64_t* sum, int64_t value) {
  if (__builtin_add_overflow(*sum, value, sum)) {
    *sum = std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

void TraceFitter::Add(const TraceRequest& row) {
  if (rows_.empty()) first_ns_ = row.arrival_ns;
  if (rows_.empty() || row.arrival_ns != last_ns_) ++moments_;
  last_ns_ = row.arrival_ns;
  if (row.hash_block > 0) {
    has_several_blocks_ = has_several_blocks_ ||
                          (hash_block_ > 0 && hash_block_ != row.hash_block);
    hash_block_ = row.hash_block;
  }
  const PrefixHit hit = tree_.Add(row);
  rows_.push_back({row.input_length, row.full_hash_blocks(), hit.blocks});
  outputs_.push_back(row.output_length);
  if (hit.blocks > 0) {
    const auto depth = static_cast<size_t>(TracePreset::DepthOf(hit.blocks));
    ages_[depth].push_back(row.id - hit.last_row);
  }
  AddTo(&input_tokens_, row.input_length);
  AddTo(&hit_tokens_, hit.blocks * row.hash_block);
}

// By class of length: rows sorted by length, equally many in each class.
std::vector<int64_t> TraceFitter::HitShares() const {
  std::vector<Row> rows = rows_;
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.input_length < b.input_length;
  });
  std::vector<int64_t> shares;
  for (int64_t c = 0; c < TracePreset::kClasses; ++c) {
    const auto end_of = [&rows](int64_t classes) {
      return static_cast<size_t>(static_cast<int64_t>(rows.size()) * classes /
                                 TracePreset::kClasses);
    };
    std::vector<int64_t> values;
    for (size_t i = end_of(c); i < end_of(c + 1); ++i) {
      if (rows[i].whole_blocks == 0) continue;
      values.push_back(rows[i].hit_blocks * TracePreset::kWhole /
                       rows[i].whole_blocks);
    }
    const std::vector<int64_t> quantiles =
        Quantiles(std::move(values), TracePreset::kShares, 0);
    shares.insert(shares.end(), quantiles.begin(), quantiles.end());
  }
  return shares;
}

absl::StatusOr<TracePreset> TraceFitter::Fit(const std::string& source) const {
  if (rows_.empty()) {
    return absl::InvalidArgumentError(
        "found no requests; accepted: a trace of one or more");
  }
  if (has_several_blocks_) {
    return absl::InvalidArgumentError(
        "found ids of several block sizes; accepted: one block size");
  }
  TracePreset preset;
  preset.source = source;
  preset.rows = static_cast<int64_t>(rows_.size());
  preset.hash_block = hash_block_ > 0 ? hash_block_ : 512;
  preset.span_ms = (last_ns_ - first_ns_) / 1'000'000;
  preset.moments = moments_;
  preset.input_tokens = input_tokens_;
  preset.hit_tokens = hit_tokens_;
  std::vector<int64_t> inputs;
  for (const Row& row : rows_) inputs.push_back(row.input_length);
  preset.input_quantiles =
      Quantiles(std::move(inputs), TracePreset::kQuantiles, 1);
  preset.output_quantiles = Quantiles(outputs_, TracePreset::kQuantiles, 0);
  preset.hit_shares = HitShares();
  for (const std::vector<int64_t>& ages : ages_) {
    const std::vector<int64_t> quantiles =
        Quantiles(ages, TracePreset::kShares, 1);
    preset.ages.insert(preset.ages.end(), quantiles.begin(), quantiles.end());
  }
  return preset;
}

}  // namespace kvsim
