#include "engines/sglang/block_plan.h"

#include <algorithm>
#include <utility>

#include "engines/concurrency.h"
#include "engines/sglang/buffers.h"
#include "engines/sglang/row_bytes.h"

namespace kvsim::sglang {
namespace {

constexpr Tokens kEvictionInterval{128};  // windows are freed so often
constexpr int64_t kChunkedPrefill = 8192;

// Pages of rows, without demand: what the layers add up to.
struct PageSum {
  std::vector<int32_t> layers;
  int64_t num_tensors = 0;
  Bytes padded, used;
  int64_t window = 0;  // the widest among them

  void Add(int32_t layer, Bytes padded_bytes, Bytes used_bytes) {
    if (layers.empty() || layers.back() != layer) layers.push_back(layer);
    ++num_tensors;
    padded += padded_bytes;
    used += used_bytes;
  }
};

struct StageSums {
  PageSum full, window, states, request_states;
};

void SumCompressed(const RankLayer& layer, const BudgetInput& input,
                   StageSums& sums) {
  const int64_t ring = CompressorRing(input.settings);
  for (const CacheTensor& tensor : layer.compressed) {
    const bool state = tensor.store == CacheStore::kCompressorState ||
                       tensor.store == CacheStore::kIndexCompressorState;
    const int64_t window = layer.compressed[0].retention.window;
    if (state && tensor.retention.window > ring) {
      const Bytes bytes = tensor.EntryBytes() * 128;
      sums.request_states.Add(layer.layer, bytes, bytes);
    } else if (state) {
      const Bytes bytes =
          tensor.EntryBytes() * (input.page_size / window * ring);
      sums.window.Add(layer.layer, bytes, bytes);
    } else {
      const CompressedPage page = PageOf(tensor, input.page_size);
      const bool is_window = tensor.store == CacheStore::kWindow;
      (is_window ? sums.window : sums.full)
          .Add(layer.layer, page.padded, page.used);
      if (is_window) sums.window.window = std::max(sums.window.window, window);
    }
  }
}

StageSums SumStage(const BudgetInput& input) {
  StageSums sums;
  const bool two_pools = HasTwoPools(input);
  for (const RankLayer& layer : input.layers) {
    SumCompressed(layer, input, sums);
    if (layer.HasState() && !layer.is_draft) {
      const Bytes state = StateOf(layer, input.settings).Total();
      sums.states.Add(layer.layer, state, state);
    }
    if (!layer.HasRows()) continue;
    const Bytes page =
        StoredRow(layer, input.type, input.settings).Total() * input.page_size;
    const bool window = two_pools && layer.IsWindow() && !layer.is_draft;
    (window ? sums.window : sums.full).Add(layer.layer, page, page);
    if (window) {
      sums.window.window = std::max(sums.window.window, layer.Window());
    }
  }
  return sums;
}

CacheGroup GroupOf(std::string kind, const PageSum& sum) {
  CacheGroup group;
  group.kind = std::move(kind);
  group.layers = sum.layers;
  group.num_tensors = sum.num_tensors;
  group.page = sum.padded;
  group.used = sum.used;
  group.page_padding = sum.padded - sum.used;
  return group;
}

void AddFullPages(const BudgetInput& input, const StageSums& sums,
                  SglangPlan& plan) {
  CacheGroup group = GroupOf("full", sums.full);
  group.demand.block_tokens = Tokens(plan.page_size);
  group.demand.sharded_over = input.settings.dcp_size;
  const int64_t pages =
      plan.max_total_tokens / input.settings.dcp_size / plan.page_size;
  AddPool(std::move(group), Blocks(pages + 1), Blocks(1), plan.pool);
}

void AddWindowPages(const StageSums& sums, const SglangPlan& plan,
                    PoolPlan& pool) {
  CacheGroup group = GroupOf("swa", sums.window);
  group.demand.kind = BlockDemand::Kind::kWindow;
  group.demand.block_tokens = Tokens(plan.page_size);
  group.demand.reach = Tokens(sums.window.window - 1);
  // A window may begin inside a page.
  const Blocks straddled(plan.page_size > 1 ? 1 : 0);
  group.demand.constant_worst = group.demand.constant_steady = straddled;
  AddPool(std::move(group), Blocks(plan.window_tokens / plan.page_size + 1),
          Blocks(1), pool);
}

CacheGroup PerRequest(std::string kind, const PageSum& sum, int64_t blocks) {
  CacheGroup group = GroupOf(std::move(kind), sum);
  group.demand.kind = BlockDemand::Kind::kPerSequence;
  group.demand.constant_worst = group.demand.constant_steady = Blocks(blocks);
  return group;
}

void WriteRanks(const std::vector<BudgetInput>& stages,
                const std::vector<Bytes>& rest, SglangPlan& plan) {
  for (size_t i = 0; i < stages.size(); ++i) {
    RankPool rank;
    rank.stage = static_cast<int64_t>(i);
    rank.num_layers = static_cast<int64_t>(stages[i].layers.size());
    const Bytes used = TotalBytes(AllocateBuffers(
        stages[i],
        {.tokens = plan.max_total_tokens / stages[i].settings.dcp_size,
         .window_tokens = plan.window_tokens,
         .state_slots = plan.mamba_slots}));
    rank.kv_memory = rest.empty() ? used : rest[i];
    rank.remainder = std::max(rank.kv_memory - used, Bytes(0));
    rank.bytes_per_block = SumStage(stages[i]).full.padded;
    rank.own_blocks =
        rest.empty()
            ? plan.pool.num_blocks
            : Blocks(BudgetTokens(stages[i], rest[i]).tokens / plan.page_size +
                     1);
    plan.pool.ranks.push_back(rank);
  }
}

}  // namespace

void WriteBlockPlan(const std::vector<BudgetInput>& stages, size_t binding,
                    const std::vector<Bytes>& rest, SglangPlan& plan) {
  const BudgetInput& input = stages[binding];
  const StageSums sums = SumStage(input);
  PoolPlan& pool = plan.pool;
  pool.rule = "a pool of pages, windows and states beside it";
  pool.binding_rank = binding;
  pool.block_tokens = Tokens(plan.page_size);
  pool.scheduler_block_tokens =
      Tokens(plan.page_size * input.settings.dcp_size);
  pool.max_model_len = Tokens(std::max<int64_t>(plan.context_length, 1));
  pool.in_flight =
      Tokens(input.settings.chunked_prefill_size.value_or(kChunkedPrefill));
  pool.decode_in_flight = kEvictionInterval;
  pool.kv_cache_tokens = Tokens(plan.max_total_tokens);

  if (!sums.full.layers.empty()) AddFullPages(input, sums, plan);
  if (!sums.window.layers.empty()) AddWindowPages(sums, plan, pool);
  if (!sums.states.layers.empty()) {
    AddPool(PerRequest("state", sums.states, plan.slots_per_request),
            Blocks(plan.mamba_slots + 1), Blocks(1), pool);
  }
  if (!sums.request_states.layers.empty()) {
    const int64_t rings = CompressorStateRows(input.settings) / 128;
    AddPool(PerRequest("request state", sums.request_states, 1), Blocks(rings),
            Blocks(rings - plan.max_running_requests), pool);
  }
  WriteRanks(stages, rest, plan);
  pool.blocks_per_request = WorstCaseBlocks(pool, pool.max_model_len);
  pool.max_concurrency =
      CountRequests(pool, pool.max_model_len, Tokens(0),
                    std::max<int64_t>(plan.max_running_requests, 1))
          .engine_line;
}

}  // namespace kvsim::sglang
