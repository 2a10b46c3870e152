#include "engines/vllm/kv_spec.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim::vllm {
namespace {

// One state per sequence and per speculated token; align mode also keeps the
// previous state until it is copied.
BlockDemand StateDemand(const KvSpec& spec, const DemandRules& rules) {
  const Blocks speculative(rules.speculative_tokens);
  BlockDemand demand;
  demand.block_tokens = spec.block_tokens;
  if (rules.state_mode == StateMode::kAll) {
    demand.kind = BlockDemand::Kind::kAllHistory;
    demand.constant_worst = speculative;
    demand.constant_steady = speculative;
    return demand;
  }
  demand.kind = BlockDemand::Kind::kPerSequence;
  demand.constant_steady = Blocks(1) + speculative;
  demand.constant_worst = demand.constant_steady;
  if (rules.state_mode == StateMode::kAlign) ++demand.constant_worst;
  return demand;
}

// All of the encoder's tokens, once.
BlockDemand CrossDemand(const KvSpec& spec) {
  BlockDemand demand;
  demand.kind = BlockDemand::Kind::kPerSequence;
  demand.block_tokens = spec.block_tokens;
  demand.reach = spec.window;
  demand.constant_worst = Blocks(CeilDiv(spec.window, spec.block_tokens));
  demand.constant_steady = demand.constant_worst;
  return demand;
}

}  // namespace

Bytes UsedPage(const KvSpec& spec) {
  if (spec.kind == SpecKind::kState) return spec.state_bytes;
  const int64_t tokens = spec.block_tokens.value();
  return spec.row_bytes * (tokens / spec.tokens_per_row) +
         spec.index_row_bytes * (tokens / spec.tokens_per_index_row);
}

Bytes Page(const KvSpec& spec) {
  return std::max(RoundUp(UsedPage(spec), spec.alignment), spec.padded_page);
}

bool IsSliding(SpecKind kind) {
  return kind == SpecKind::kSlidingWindow ||
         kind == SpecKind::kSlidingWindowMla;
}

bool KeepsAllHistory(SpecKind kind) {
  return kind == SpecKind::kFullAttention || kind == SpecKind::kMla;
}

absl::string_view SpecKindName(SpecKind kind) {
  switch (kind) {
    case SpecKind::kFullAttention:
      return "full_attention";
    case SpecKind::kMla:
      return "mla_attention";
    case SpecKind::kSlidingWindow:
      return "sliding_window";
    case SpecKind::kSlidingWindowMla:
      return "sliding_window_mla";
    case SpecKind::kChunkedLocal:
      return "chunked_local_attention";
    case SpecKind::kState:
      return "mamba";
    case SpecKind::kCrossAttention:
      return "cross_attention";
  }
  return "unknown";
}

BlockDemand DemandOf(const KvSpec& spec, const DemandRules& rules) {
  if (spec.kind == SpecKind::kState) return StateDemand(spec, rules);
  if (spec.kind == SpecKind::kCrossAttention) return CrossDemand(spec);
  BlockDemand demand;
  demand.block_tokens = spec.block_tokens;
  if (KeepsAllHistory(spec.kind)) {
    demand.sharded_over = rules.decode_context;
    return demand;
  }
  KVSIM_CHECK_EQ(rules.decode_context, 1) << "windows are never sharded";
  if (spec.kind == SpecKind::kChunkedLocal) {
    demand.kind = BlockDemand::Kind::kChunk;
    demand.reach = spec.window;
    return demand;
  }
  demand.kind = BlockDemand::Kind::kWindow;
  demand.reach = spec.window - Tokens(1) + rules.window_extra;
  demand.constant_worst = Blocks(1);
  demand.constant_steady = Blocks(1);
  return demand;
}

}  // namespace kvsim::vllm
