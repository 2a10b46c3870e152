#include "traces/trace_stats.h"

#include <algorithm>
#include <limits>

namespace kvsim {
namespace {

void AddTo(int64_t* sum, int64_t value) {
  if (__builtin_add_overflow(*sum, value, sum)) {
    *sum = std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

void TraceStats::Add(const TraceRequest& row) {
  if (summary_.rows == 0) summary_.first_arrival_ns = row.arrival_ns;
  if (summary_.rows == 0 || row.arrival_ns != summary_.last_arrival_ns) {
    ++summary_.distinct_arrivals;  // arrivals never decrease
  }
  summary_.last_arrival_ns = row.arrival_ns;
  ++summary_.rows;
  inputs_.push_back(row.input_length);
  outputs_.push_back(row.output_length);
  if (row.output_length == 0) ++summary_.rows_without_output;
  if (row.hash_block > 0) hash_blocks_.insert(row.hash_block);
  scopes_.insert(row.scope);
  if (row.session >= 0) ++turns_[row.session];
  AddBlocks(row);
}

void TraceStats::AddBlocks(const TraceRequest& row) {
  const int64_t full = row.full_hash_blocks();
  summary_.block_references += static_cast<int64_t>(row.hash_ids.size());
  bool in_prefix = true;
  for (size_t i = 0; i < row.hash_ids.size(); ++i) {
    Block here;
    here.is_first = i == 0;
    here.first_row = row.id;
    here.parent = i == 0 ? 0 : row.hash_ids[i - 1];
    const auto [it, is_new] =
        blocks_.try_emplace(std::pair(row.scope, row.hash_ids[i]), here);
    Block& block = it->second;
    if (block.last_row == row.id) ++summary_.repeated_ids;
    if (block.is_first != here.is_first || block.parent != here.parent) {
      ++summary_.parent_conflicts;
    }
    const bool seen_before = block.first_row < row.id;
    in_prefix = in_prefix && seen_before;
    if (in_prefix) {
      ++summary_.hit_blocks;
      if (static_cast<int64_t>(i) < full) {
        AddTo(&summary_.hit_full_block_tokens, row.hash_block);
      }
    }
    if (seen_before && static_cast<int64_t>(i) >= full) {
      ++summary_.partial_tail_reuses;
    }
    block.last_row = row.id;
  }
}

TraceSummary TraceStats::Summary() const {
  TraceSummary summary = summary_;
  summary.input = Describe(inputs_);
  summary.output = Describe(outputs_);
  summary.hash_blocks.assign(hash_blocks_.begin(), hash_blocks_.end());
  summary.distinct_blocks = static_cast<int64_t>(blocks_.size());
  summary.sessions = static_cast<int64_t>(turns_.size());
  for (const auto& [session, turns] : turns_) {
    summary.longest_session_turns =
        std::max(summary.longest_session_turns, turns);
  }
  summary.scopes = static_cast<int64_t>(scopes_.size());
  return summary;
}

}  // namespace kvsim
