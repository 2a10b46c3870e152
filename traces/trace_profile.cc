#include "traces/trace_profile.h"

#include <algorithm>

namespace kvsim {
namespace {

constexpr int64_t kMinuteNs = 60'000'000'000;

double VariationOf(const std::vector<int64_t>& gaps_ns) {
  if (gaps_ns.empty()) return 0;
  double sum = 0;
  for (const int64_t gap : gaps_ns) sum += static_cast<double>(gap);
  const double mean = sum / static_cast<double>(gaps_ns.size());
  if (mean <= 0) return 0;
  double squares = 0;
  for (const int64_t gap : gaps_ns) {
    const double off = static_cast<double>(gap) - mean;
    squares += off * off;
  }
  return squares / static_cast<double>(gaps_ns.size()) / (mean * mean);
}

}  // namespace

TraceProfiler::TraceProfiler(const std::vector<int64_t>& block_sizes) {
  for (const int64_t size : block_sizes) ceilings_.emplace_back(size);
}

void TraceProfiler::Add(const TraceRequest& row) {
  AddArrival(row.arrival_ns);
  inputs_.push_back(row.input_length);
  outputs_.push_back(row.output_length);
  if (row.session >= 0) {
    ++session_rows_;
    ++turns_[row.session];
  }
  if (row.previous >= 0) think_ns_.push_back(row.think_time_ns);
  AddBlocks(row);
}

// Arrivals never decrease.
void TraceProfiler::AddArrival(int64_t arrival_ns) {
  const bool is_first = inputs_.empty();
  if (is_first) {
    arrivals_.first_ns = arrival_ns;
  } else {
    gaps_ns_.push_back(arrival_ns - arrivals_.last_ns);
  }
  if (is_first || arrival_ns != arrivals_.last_ns) {
    ++arrivals_.distinct;
    rows_at_once_ = 0;
  }
  if (arrival_ns / kMinuteNs != minute_) {
    minute_ = arrival_ns / kMinuteNs;
    rows_in_minute_ = 0;
  }
  arrivals_.last_ns = arrival_ns;
  arrivals_.most_at_once = std::max(arrivals_.most_at_once, ++rows_at_once_);
  arrivals_.busiest_minute =
      std::max(arrivals_.busiest_minute, ++rows_in_minute_);
}

void TraceProfiler::AddBlocks(const TraceRequest& row) {
  const int64_t whole = row.full_hash_blocks();
  for (int64_t i = 0; i < whole; ++i) {
    const ReuseDistance::Key key(row.scope,
                                 row.hash_ids[static_cast<size_t>(i)]);
    if (const auto distance = distances_.Use(key); distance.has_value()) {
      reuse_blocks_.push_back(*distance);
      reuse_ns_.push_back(row.arrival_ns - last_use_ns_[key]);
    }
    last_use_ns_[key] = row.arrival_ns;
  }
  tree_.Add(row);
  for (BlockSizeCeiling& ceiling : ceilings_) ceiling.Add(row);
}

TraceProfile TraceProfiler::Profile(size_t hot) const {
  TraceProfile profile;
  profile.rows = static_cast<int64_t>(inputs_.size());
  profile.input = Describe(inputs_);
  profile.output = Describe(outputs_);
  profile.arrivals = arrivals_;
  profile.arrivals.gaps_ns = Describe(gaps_ns_);
  profile.arrivals.gap_variation = VariationOf(gaps_ns_);
  profile.reuse_blocks = Describe(reuse_blocks_);
  profile.reuse_ns = Describe(reuse_ns_);
  profile.tree = tree_.Summary(hot);
  profile.sessions.sessions = static_cast<int64_t>(turns_.size());
  profile.sessions.rows = session_rows_;
  std::vector<int64_t> turns;
  for (const auto& [session, count] : turns_) turns.push_back(count);
  profile.sessions.turns = Describe(std::move(turns));  // sorts them
  profile.sessions.think_ns = Describe(think_ns_);
  for (const BlockSizeCeiling& ceiling : ceilings_) {
    profile.block_sizes.push_back(
        {ceiling.block_tokens(), ceiling.hit_tokens(), ceiling.tail_tokens()});
  }
  return profile;
}

}  // namespace kvsim
