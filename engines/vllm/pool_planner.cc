#include "engines/vllm/pool_planner.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "engines/vllm/capacity_log.h"

namespace kvsim::vllm {
namespace {

// Layers [first, end) of a stage; drafts run on the last stage.
struct StageRange {
  int64_t first = 0;
  int64_t end = 0;

  bool Holds(int32_t layer) const { return layer >= first && layer < end; }
};

std::vector<StageRange> StageRanges(const PoolInput& input) {
  std::vector<StageRange> ranges;
  int64_t first = 0;
  for (int64_t layers : input.stage_layers) {
    ranges.push_back({first, first + layers});
    first += layers;
  }
  ranges.back().end = std::numeric_limits<int64_t>::max();
  return ranges;
}

absl::Status Validate(const PoolInput& input) {
  KVSIM_CHECK(!input.stage_layers.empty());
  KVSIM_CHECK(input.stage_layers.size() == input.kv_memory.size() ||
              (input.kv_memory.empty() && input.num_blocks_override));
  if (input.max_model_len < Tokens(1) ||
      input.max_model_len > kMaxPlannedTokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-model-len ", input.max_model_len.value(),
                     ": must be from 1 to ", kMaxPlannedTokens.value()));
  }
  if (input.max_num_batched_tokens < Tokens(1) ||
      input.max_num_batched_tokens > kMaxPlannedTokens) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--max-num-batched-tokens ", input.max_num_batched_tokens.value(),
        ": must be from 1 to ", kMaxPlannedTokens.value()));
  }
  if (input.num_blocks_override.has_value() &&
      *input.num_blocks_override < Blocks(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--num-gpu-blocks-override ",
                     input.num_blocks_override->value(), ": must be positive"));
  }
  for (const LayerKvSpec& cache : input.caches) {
    const Tokens block = cache.spec.block_tokens;
    if (block < Tokens(1) || block > kMaxPlannedTokens) {
      return absl::InvalidArgumentError(
          absl::StrCat("--block-size ", block.value(), ": must be from 1 to ",
                       kMaxPlannedTokens.value()));
    }
  }
  return absl::OkStatus();
}

// Windows have no share of a sequence, and packed rows are not divisible.
absl::Status CheckContextParallel(const PoolInput& input,
                                  const Grouping& grouping) {
  const int64_t ranks = input.demand.decode_context;
  if (ranks == 1) return absl::OkStatus();
  const std::string flag =
      absl::StrCat("--decode-context-parallel-size ", ranks);
  if (grouping.groups.size() > 1 && !input.switches.context_parallel_hybrids) {
    return absl::InvalidArgumentError(absl::StrCat(
        flag, ": this engine version refuses several cache groups (",
        grouping.groups.size(), ") under context parallelism"));
  }
  for (const LayerKvSpec& cache : grouping.caches) {
    const KvSpec& spec = cache.spec;
    const bool shardable =
        KeepsAllHistory(spec.kind) || spec.kind == SpecKind::kState;
    if (!shardable || spec.tokens_per_row > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, ": layer ", cache.layer, " (", SpecKindName(spec.kind),
          spec.tokens_per_row > 1 ? ", compressed" : "",
          ") cannot be sharded over tokens"));
    }
  }
  return absl::OkStatus();
}

// One group as a block of the binding rank sees it.
CacheGroup DescribeGroup(const Grouping& grouping, const LayerGroup& group,
                         const StageRange& stage, Bytes bytes_per_block,
                         const DemandRules& rules) {
  const KvSpec& spec = grouping.caches[group.members[0]].spec;
  CacheGroup described;
  described.kind = std::string(SpecKindName(spec.kind));
  described.demand = DemandOf(spec, rules);
  Bytes pages(0);
  for (size_t member : group.members) {
    const LayerKvSpec& cache = grouping.caches[member];
    if (described.layers.empty() || described.layers.back() != cache.layer) {
      described.layers.push_back(cache.layer);
    }
    if (!stage.Holds(cache.layer)) continue;
    ++described.num_tensors;
    described.page = std::max(described.page, Page(cache.spec));
    described.used += UsedPage(cache.spec);
    pages += Page(cache.spec);
  }
  described.page_padding = pages - described.used;
  described.slot_padding = bytes_per_block - pages;
  return described;
}

Bytes Saturated(absl::int128 bytes) {
  if (bytes > absl::int128(Bytes::Max().value())) return Bytes::Max();
  return Bytes(static_cast<int64_t>(bytes));
}

Bytes StageMemory(const PoolInput& input, size_t stage, Bytes bytes_per_block) {
  if (!input.kv_memory.empty()) {
    return std::max(input.kv_memory[stage], Bytes(0));
  }
  return Saturated(absl::int128(input.num_blocks_override->value()) *
                   bytes_per_block.value());
}

// Every stage's own division, then the smallest for all.
void SizePools(const PoolInput& input, const Grouping& grouping,
               const std::vector<StageRange>& stages, PoolPlan& plan) {
  plan.num_blocks = Blocks::Max();
  for (size_t i = 0; i < stages.size(); ++i) {
    RankPool rank;
    rank.stage = static_cast<int64_t>(i);
    rank.num_layers = input.stage_layers[i];
    rank.bytes_per_block =
        BytesPerBlock(grouping, stages[i].first, stages[i].end);
    rank.kv_memory = StageMemory(input, i, rank.bytes_per_block);
    // A stage of layers without any cache binds nothing.
    rank.own_blocks = rank.bytes_per_block == Bytes(0)
                          ? Blocks::Max()
                          : Blocks(rank.kv_memory / rank.bytes_per_block);
    if (rank.own_blocks < plan.num_blocks) {
      plan.num_blocks = rank.own_blocks;
      plan.binding_rank = i;
    }
    plan.ranks.push_back(rank);
  }
  if (input.num_blocks_override.has_value()) {
    plan.num_blocks = *input.num_blocks_override;
  }
  for (RankPool& rank : plan.ranks) {
    const absl::int128 pool =
        absl::int128(plan.num_blocks.value()) * rank.bytes_per_block.value();
    if (pool <= rank.kv_memory.value()) {
      rank.remainder = rank.kv_memory - Bytes(static_cast<int64_t>(pool));
    }
  }
  plan.bytes_per_block = plan.ranks[plan.binding_rank].bytes_per_block;
}

// The block of the layers that keep history; of the first group without any.
Tokens AttentionBlock(const PoolPlan& plan) {
  for (const CacheGroup& group : plan.groups) {
    if (group.demand.kind == BlockDemand::Kind::kAllHistory) {
      return group.demand.block_tokens;
    }
  }
  return plan.groups[0].demand.block_tokens;
}

// Least common multiple of what the groups' blocks cover. Saturates.
Tokens SchedulerBlock(const PoolPlan& plan) {
  int64_t multiple = 1;
  for (const CacheGroup& group : plan.groups) {
    const int64_t covered =
        group.demand.block_tokens.value() * group.demand.sharded_over;
    const int64_t step = covered / std::gcd(multiple, covered);
    if (__builtin_mul_overflow(multiple, step, &multiple)) return Tokens::Max();
  }
  return Tokens(multiple);
}

// What the start-up check charges for `length` tokens; saturates.
absl::int128 NeededBytes(const PoolPlan& plan, Bytes gate_block,
                         Tokens length) {
  return absl::int128(WorstCaseBlocks(plan, length).value()) *
         gate_block.value();
}

// The largest length whose worst case fits, 0 when none does.
Tokens LargestLength(const PoolPlan& plan, Bytes gate_block, Bytes available,
                     Tokens limit) {
  int64_t fits = 0;
  int64_t beyond = limit.value() + 1;
  while (beyond - fits > 1) {
    const int64_t middle = fits + (beyond - fits) / 2;
    const bool ok = NeededBytes(plan, gate_block, Tokens(middle)) <=
                    absl::int128(available.value());
    (ok ? fits : beyond) = middle;
  }
  return Tokens(fits);
}

// One request of the maximum length must fit into the smallest stage, charged
// with the whole model's block.
void CheckStart(const PoolInput& input, const Grouping& grouping,
                PoolPlan& plan) {
  const Bytes gate_block = GateBytesPerBlock(grouping);
  Bytes available = Bytes::Max();
  for (const RankPool& rank : plan.ranks) {
    available = std::min(available, rank.kv_memory);
  }
  if (input.num_blocks_override.has_value() && input.kv_memory.empty() &&
      !input.switches.override_in_check) {
    return;  // what the check would see is not known
  }
  if (input.num_blocks_override.has_value() &&
      input.switches.override_in_check) {
    available =
        Saturated(absl::int128(plan.num_blocks.value()) * gate_block.value());
  }
  const absl::int128 needed =
      NeededBytes(plan, gate_block, input.max_model_len);
  if (needed <= absl::int128(available.value()) && available > Bytes(0)) {
    return;
  }
  StartRefusal refusal;
  refusal.needed = Saturated(needed);
  refusal.available = available;
  refusal.max_len_that_fits =
      LargestLength(plan, gate_block, available, input.max_model_len);
  WriteRefusal(input.max_model_len, refusal);
  plan.refused = std::move(refusal);
}

// What each rank's own memory would hold; empty when ranks are alike.
std::vector<Blocks> WorkerBlocks(const PoolInput& input, const PoolPlan& plan) {
  std::vector<Blocks> blocks;
  if (input.num_blocks_override.has_value()) return blocks;
  const size_t ranks_per_stage = input.rank_memory.size() / plan.ranks.size();
  for (size_t i = 0; i < input.rank_memory.size(); ++i) {
    const Bytes block = plan.ranks[i / ranks_per_stage].bytes_per_block;
    blocks.push_back(block == Bytes(0) ? plan.num_blocks
                                       : Blocks(input.rank_memory[i] / block));
  }
  return blocks;
}

// What the engine's log says about pages that were padded to a state.
void DescribePadding(const PoolInput& input, const Grouping& grouping,
                     PoolPlan& plan) {
  plan.layer_padding = grouping.layer_padding;
  for (const LayerKvSpec& cache : input.caches) {
    const KvSpec& spec = cache.spec;
    if (spec.kind != SpecKind::kState || spec.state_bytes == Bytes(0)) continue;
    const Bytes padding = Page(spec) - spec.state_bytes;
    plan.state_padding_percent = 100.0 * static_cast<double>(padding.value()) /
                                 static_cast<double>(spec.state_bytes.value());
    return;
  }
}

void DescribeGroups(const PoolInput& input, const Grouping& grouping,
                    const std::vector<StageRange>& stages, PoolPlan& plan) {
  for (const LayerGroup& group : grouping.groups) {
    plan.groups.push_back(DescribeGroup(grouping, group,
                                        stages[plan.binding_rank],
                                        plan.bytes_per_block, input.demand));
    plan.groups.back().log_charge = SumOfPages(grouping, group);
    plan.page = std::max(plan.page, plan.groups.back().page);
  }
  for (const ExtraGroup& extra : input.extra_groups) {
    CacheGroup group;
    group.kind = extra.kind;
    group.demand = extra.demand;
    group.demand.block_tokens = plan.groups[0].demand.block_tokens;
    group.slot_padding = plan.bytes_per_block;
    plan.groups.push_back(std::move(group));
  }
}

}  // namespace

absl::StatusOr<PoolPlan> PlanPreviousPool(const PoolInput& input) {
  if (absl::Status status = Validate(input); !status.ok()) return status;
  std::vector<LayerKvSpec> caches = input.caches;
  const absl::StatusOr<Grouping> grouping =
      GroupLayers(std::move(caches), /*hybrid_manager=*/false);
  if (!grouping.ok()) return grouping.status();
  if (grouping->groups.size() > 1) {
    return absl::InvalidArgumentError(
        "vLLM's V0 engine: models with several kinds of cache are not planned");
  }
  const std::vector<StageRange> stages = StageRanges(input);
  PoolPlan plan;
  plan.rule = std::string(GroupingRuleName(grouping->rule));
  plan.reserved_blocks = Blocks(0);
  plan.max_model_len = input.max_model_len;
  plan.in_flight = input.max_num_batched_tokens;
  plan.decode_in_flight = Tokens(1);
  SizePools(input, *grouping, stages, plan);
  DescribeGroups(input, *grouping, stages, plan);
  plan.block_tokens = AttentionBlock(plan);
  plan.scheduler_block_tokens = plan.block_tokens;
  plan.blocks_per_request = WorstCaseBlocks(plan, input.max_model_len);
  if (plan.bytes_per_block > Bytes(0)) {
    plan.host_blocks = Blocks(input.swap_space / plan.bytes_per_block);
  }
  WritePreviousLog(input.switches, plan);
  if (plan.max_model_len > plan.kv_cache_tokens) {
    StartRefusal refusal;
    const Bytes block = plan.bytes_per_block;
    refusal.needed = Saturated(absl::int128(plan.blocks_per_request.value()) *
                               block.value());
    refusal.available = plan.ranks[plan.binding_rank].kv_memory;
    refusal.max_len_that_fits = plan.kv_cache_tokens;
    WritePreviousRefusal(plan.max_model_len, refusal);
    plan.refused = std::move(refusal);
  }
  return plan;
}

Tokens TokensInFlight(const PoolInput& input) {
  const auto stages = static_cast<int64_t>(input.stage_layers.size());
  const int64_t batches = stages > 1 || !input.async_scheduling
                              ? stages
                              : input.switches.async_batches;
  return input.max_num_batched_tokens * batches;
}

absl::StatusOr<PoolPlan> PlanPool(const PoolInput& input) {
  if (absl::Status status = Validate(input); !status.ok()) return status;
  absl::StatusOr<Grouping> grouping = GroupLayers(
      input.caches, input.hybrid_manager, input.switches.compressed_pool);
  if (!grouping.ok()) return grouping.status();
  if (absl::Status status = CheckContextParallel(input, *grouping);
      !status.ok()) {
    return status;
  }
  const std::vector<StageRange> stages = StageRanges(input);
  PoolPlan plan;
  plan.rule = std::string(GroupingRuleName(grouping->rule));
  plan.notes = grouping->notes;
  plan.max_model_len = input.max_model_len;
  plan.in_flight = TokensInFlight(input);
  plan.decode_in_flight = Tokens(plan.in_flight / input.max_num_batched_tokens *
                                 (1 + input.demand.speculative_tokens));
  SizePools(input, *grouping, stages, plan);
  DescribeGroups(input, *grouping, stages, plan);
  DescribePadding(input, *grouping, plan);
  if (grouping->rule == GroupingRule::kPacked &&
      grouping->compressed_pool != CompressedPool::kPacked) {
    plan.log_block = plan.groups[0].log_charge;  // the history group's pages
  }
  plan.block_tokens = AttentionBlock(plan);
  plan.scheduler_block_tokens = SchedulerBlock(plan);
  plan.blocks_per_request = LoggedBlocks(plan, input.max_model_len);
  WriteCapacityLog(input.switches,
                   {.natural_block = input.natural_block,
                    .num_workers = input.num_workers,
                    .worker_blocks = WorkerBlocks(input, plan)},
                   plan);
  CheckStart(input, *grouping, plan);
  return plan;
}

}  // namespace kvsim::vllm
