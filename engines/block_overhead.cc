#include "engines/block_overhead.h"

#include "absl/numeric/int128.h"
#include "base/check.h"

namespace kvsim {
namespace {

Bytes Saturated(absl::int128 bytes) {
  if (bytes > absl::int128(Bytes::Max().value())) return Bytes::Max();
  return Bytes(static_cast<int64_t>(bytes));
}

// Tokens of a sequence that one block of all its context ranks covers.
int64_t CoveredTokens(const CacheGroup& group) {
  return CheckedMul(group.demand.block_tokens.value(),
                    group.demand.sharded_over);
}

// Entries of one request's row.
int64_t RowEntries(const CacheGroup& group, Tokens max_model_len,
                   StateMode state_mode, int64_t speculative_tokens) {
  const int64_t positions =
      CeilDiv(max_model_len.value(), CoveredTokens(group));
  if (HoldsStates(group)) {
    return (state_mode == StateMode::kNone ? 1 : positions) +
           speculative_tokens;
  }
  if (group.demand.kind == BlockDemand::Kind::kPerSequence) {
    return group.demand.constant_worst.value();
  }
  return positions;
}

}  // namespace

bool KeepsEveryRow(const CacheGroup& group) {
  return group.demand.kind == BlockDemand::Kind::kAllHistory &&
         !HoldsStates(group);
}

Bytes PaddingOfRequest(const PoolPlan& plan, Tokens length) {
  absl::int128 padding = 0;
  for (const CacheGroup& group : plan.groups) {
    const Blocks blocks =
        SteadyBlocks(group.demand, length, plan.decode_in_flight);
    padding += absl::int128(blocks.value()) *
               (group.page_padding + group.slot_padding).value();
  }
  return Saturated(padding);
}

TailSlack TailSlackOf(const PoolPlan& plan, Tokens length) {
  TailSlack slack;
  for (const CacheGroup& group : plan.groups) {
    if (!KeepsEveryRow(group)) continue;
    const int64_t covered = CoveredTokens(group);
    const int64_t tokens = RoundUp(length.value(), covered) - length.value();
    slack.tokens += tokens;
    slack.bytes +=
        Saturated(absl::int128(tokens) * group.used.value() / covered);
  }
  return slack;
}

Bytes BlockTableBytes(const PoolPlan& plan, StateMode state_mode,
                      int64_t speculative_tokens, int64_t max_num_seqs) {
  constexpr int64_t kEntryBytes = 4;
  absl::int128 entries = 0;
  for (const CacheGroup& group : plan.groups) {
    entries +=
        RowEntries(group, plan.max_model_len, state_mode, speculative_tokens);
  }
  return Saturated(entries * max_num_seqs * kEntryBytes);
}

}  // namespace kvsim
