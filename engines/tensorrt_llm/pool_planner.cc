#include "engines/tensorrt_llm/pool_planner.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/concurrency.h"
#include "engines/parallel_plan.h"
#include "engines/rank_layers.h"

namespace kvsim::tensorrt_llm {
namespace {

constexpr int64_t kNvfp4Group = 16;

CacheType Resolve(const Settings& settings, const ModelSpec& model) {
  if (settings.kv_cache_dtype != CacheType::kAuto) {
    return settings.kv_cache_dtype;
  }
  if (model.quantization.kv_cache_dtype == DType::kFp8) return CacheType::kFp8;
  if (model.quantization.kv_cache_dtype == DType::kNvfp4) {
    return CacheType::kNvfp4;
  }
  return CacheType::kBf16;
}

int64_t BytesOfElements(int64_t elements, CacheType type) {
  switch (type) {
    case CacheType::kFp8:
    case CacheType::kInt8:
      return elements;
    case CacheType::kNvfp4:
      return CeilDiv(elements, 2) + CeilDiv(elements, kNvfp4Group);
    case CacheType::kAuto:
    case CacheType::kBf16:
      break;
  }
  return 2 * elements;
}

Bytes RowOf(const RankLayer& layer, CacheType type) {
  const int64_t index = layer.index_scale_bytes > 0
                            ? layer.index + layer.index_scale_bytes
                            : BytesOfElements(layer.index, type);
  return Bytes(BytesOfElements(layer.k, type) + BytesOfElements(layer.v, type) +
               index);
}

// fp32 states only where the config says so; convolutions have two bytes.
Bytes StateOf(const RankLayer& layer) {
  return Bytes(2 * layer.conv +
               BytesOf(layer.state_dtype.value_or(DType::kBf16), layer.state));
}

// The layers of the first pipeline stage, which has no fewer than the others
// less one.
absl::StatusOr<std::vector<RankLayer>> ReadLayers(const ModelSpec& model,
                                                  const Settings& settings) {
  absl::StatusOr<std::vector<RankLayer>> layers =
      LayersOnRank(model, {.tensor = settings.AttentionRanks(),
                           .heads_round_up = true,
                           .mtp_layers = settings.speculative});
  if (!layers.ok()) return layers.status();
  for (const RankLayer& layer : *layers) {
    if (layer.compressed.empty()) continue;
    return absl::UnimplementedError(
        absl::StrCat(model.name,
                     ": how TensorRT-LLM sizes compressed attention is not "
                     "known well enough"));
  }
  const absl::StatusOr<std::vector<int64_t>> stages =
      StageSizes(static_cast<int64_t>(model.layers.size()), settings.pp_size);
  if (!stages.ok()) return stages.status();
  if (settings.pp_size > 1) {
    layers->resize(
        static_cast<size_t>(*std::max_element(stages->begin(), stages->end())));
  }
  return layers;
}

int64_t WindowOf(const RankLayer& layer, const Settings& settings,
                 int64_t max_seq_len) {
  const std::vector<int64_t>& windows = settings.max_attention_window;
  int64_t window = max_seq_len;
  if (!windows.empty()) {
    window = windows[static_cast<size_t>(layer.layer) % windows.size()];
  } else if (layer.IsWindow()) {
    window = layer.Window();
  }
  return std::min(window, max_seq_len);
}

// Pools by window, widest first.
std::vector<WindowPool> GroupByWindow(const std::vector<RankLayer>& layers,
                                      const Settings& settings, CacheType type,
                                      int64_t max_seq_len) {
  std::vector<WindowPool> pools;
  for (const RankLayer& layer : layers) {
    if (!layer.HasRows()) continue;
    const int64_t window = WindowOf(layer, settings, max_seq_len);
    auto found = std::find_if(
        pools.begin(), pools.end(),
        [window](const WindowPool& pool) { return pool.window == window; });
    if (found == pools.end()) {
      pools.push_back({.window = window});
      found = pools.end() - 1;
    }
    found->layers.push_back(layer.layer);
    found->block += RowOf(layer, type) * settings.tokens_per_block;
  }
  std::sort(pools.begin(), pools.end(),
            [](const WindowPool& a, const WindowPool& b) {
              return a.window > b.window;
            });
  return pools;
}

Bytes StatesOf(const std::vector<RankLayer>& layers, const Settings& settings) {
  Bytes states(0);
  for (const RankLayer& layer : layers) states += StateOf(layer);
  return states * settings.max_batch_size;
}

absl::Status CheckInput(const Settings& settings, const PoolMemory& memory,
                        size_t windows) {
  if (!memory.free && !memory.num_blocks && !memory.max_tokens &&
      !settings.max_tokens) {
    return absl::InvalidArgumentError(
        "no memory is given: what is free after loading, max_tokens, or the "
        "number of blocks");
  }
  const size_t shares = settings.window_size_shares.size();
  if (shares != 0 && shares != windows) {
    return absl::InvalidArgumentError(
        absl::StrCat("TRTLLM_WINDOW_SIZE_SHARES has ", shares, " values for ",
                     windows, " windows"));
  }
  return absl::OkStatus();
}

// Blocks of every window.
void SizePools(const Settings& settings, const PoolMemory& memory, Bytes states,
               std::vector<WindowPool>& pools) {
  const std::optional<int64_t> limit =
      memory.max_tokens.has_value() ? memory.max_tokens : settings.max_tokens;
  const double budget =
      memory.free.has_value()
          ? std::max(settings.free_gpu_memory_fraction *
                             static_cast<double>(memory.free->value()) -
                         static_cast<double>(states.value()),
                     0.0)
          : 0;
  for (size_t i = 0; i < pools.size(); ++i) {
    WindowPool& pool = pools[i];
    const double share =
        settings.window_size_shares.empty()
            ? 1.0 / static_cast<double>(pools.size())
            : settings.window_size_shares[pools.size() - 1 - i];
    if (memory.num_blocks.has_value()) {
      pool.num_blocks = *memory.num_blocks;
    } else if (memory.free.has_value()) {
      pool.num_blocks = static_cast<int64_t>(
          budget * share / static_cast<double>(pool.block.value()));
    }
    if (limit.has_value() && !memory.num_blocks.has_value()) {
      const int64_t blocks = CeilDiv(*limit, settings.tokens_per_block);
      pool.num_blocks =
          memory.free ? std::min(pool.num_blocks, blocks) : blocks;
    }
    pool.host_blocks = static_cast<int64_t>(
        static_cast<double>(settings.host_cache_size.value()) * share /
        static_cast<double>(pool.block.value()));
    pool.blocks_per_sequence = CeilDiv(pool.window, settings.tokens_per_block);
  }
}

absl::Status CheckBlocks(const std::vector<RankLayer>& layers,
                         const Settings& settings,
                         const std::vector<WindowPool>& pools) {
  constexpr int64_t kMost = int64_t{1} << 42;
  int64_t blocks = 0;
  for (const WindowPool& pool : pools) {
    if (pool.num_blocks < 0 ||
        pool.num_blocks > kMost / settings.tokens_per_block) {
      return absl::InvalidArgumentError(
          absl::StrCat(pool.num_blocks, " blocks: must be from 0 to 2^42 / ",
                       settings.tokens_per_block));
    }
    blocks = std::max(blocks, pool.num_blocks);
  }
  return CheckCacheSize(layers, blocks * settings.tokens_per_block, 0);
}

// A sequence that does not fit makes the engine shorten its longest one.
void Shrink(BlockPlan& plan) {
  if (plan.windows.empty()) return;
  const WindowPool& widest = plan.windows.front();
  const int64_t room = widest.num_blocks * plan.tokens_per_block;
  if (widest.window <= room) return;
  plan.max_seq_len = std::min(plan.max_seq_len, room);
  plan.pool.log_lines.push_back(absl::StrCat(
      "[TensorRT-LLM][WARNING] maxAttentionWindow and maxSequenceLen are too "
      "large for at least one sequence to fit in kvCache. they are reduced to ",
      room));
}

void AddPools(const Settings& settings, Bytes states,
              const std::vector<RankLayer>& layers, BlockPlan& plan) {
  for (const WindowPool& window : plan.windows) {
    plan.num_blocks += window.num_blocks;
    plan.pools.push_back({absl::StrCat("window ", window.window),
                          window.layers,
                          window.num_blocks,
                          {{"KV", window.block * window.num_blocks}}});
  }
  plan.max_tokens = plan.num_blocks * plan.tokens_per_block;
  if (states == Bytes(0)) return;
  CachePool pool = {"mamba", {}, settings.max_batch_size, {{"state", states}}};
  for (const RankLayer& layer : layers) {
    if (layer.HasState()) pool.layers.push_back(layer.layer);
  }
  plan.pools.push_back(std::move(pool));
}

void AddBlocks(const WindowPool& window, BlockPlan& plan) {
  CacheGroup group;
  group.kind = absl::StrCat("window ", window.window);
  group.layers = window.layers;
  group.num_tensors = static_cast<int64_t>(window.layers.size());
  group.page = group.used = window.block;
  group.demand.block_tokens = Tokens(plan.tokens_per_block);
  if (window.window < plan.max_seq_len) {
    group.demand.kind = BlockDemand::Kind::kWindow;
    group.demand.reach = Tokens(window.window - 1);
    group.demand.constant_worst = group.demand.constant_steady = Blocks(1);
  }
  AddPool(std::move(group), Blocks(window.num_blocks), Blocks(0), plan.pool);
}

void AddStateBlocks(const CachePool& states, PoolPlan& pool) {
  CacheGroup group;
  group.kind = states.name;
  group.layers = states.layers;
  group.num_tensors = static_cast<int64_t>(states.layers.size());
  group.page = group.used = TotalBytes(states) / states.entries;
  group.demand.kind = BlockDemand::Kind::kPerSequence;
  group.demand.constant_worst = group.demand.constant_steady = Blocks(1);
  AddPool(std::move(group), Blocks(states.entries), Blocks(0), pool);
}

void WriteBlocks(const Settings& settings, const PoolMemory& memory,
                 int64_t num_layers, BlockPlan& plan) {
  PoolPlan& pool = plan.pool;
  pool.rule = "a pool of blocks for every window";
  pool.max_model_len = Tokens(std::max<int64_t>(plan.max_seq_len, 1));
  pool.in_flight = Tokens(settings.max_num_tokens);
  pool.decode_in_flight = Tokens(1);
  for (const WindowPool& window : plan.windows) AddBlocks(window, plan);
  if (const CachePool* states = FindPool(plan.pools, "mamba")) {
    AddStateBlocks(*states, pool);
  }
  pool.block_tokens = Tokens(plan.tokens_per_block);
  pool.scheduler_block_tokens = pool.block_tokens;
  pool.kv_cache_tokens = Tokens(plan.max_tokens);
  const Bytes used = TotalBytes(plan.pools);
  RankPool rank;
  rank.num_layers = num_layers;
  rank.kv_memory = used;
  if (memory.free.has_value() && !memory.num_blocks.has_value()) {
    rank.kv_memory = std::max(
        used,
        Bytes(static_cast<int64_t>(settings.free_gpu_memory_fraction *
                                   static_cast<double>(memory.free->value()))));
  }
  rank.bytes_per_block = pool.bytes_per_block;
  rank.own_blocks = pool.num_blocks;
  rank.remainder = rank.kv_memory - used;
  pool.ranks = {rank};
  pool.blocks_per_request = WorstCaseBlocks(pool, pool.max_model_len);
  pool.max_concurrency = CountRequests(pool, pool.max_model_len, Tokens(0),
                                       settings.max_batch_size)
                             .engine_line;
}

void WriteLog(BlockPlan& plan) {
  constexpr absl::string_view kPrefix = "[TensorRT-LLM][INFO] ";
  Bytes allocated(0);
  for (const WindowPool& window : plan.windows) {
    allocated += window.block * window.num_blocks;
    plan.pool.log_lines.push_back(absl::StrCat(
        kPrefix, "Max KV cache blocks per sequence: ",
        window.blocks_per_sequence, " [window size=", window.window,
        "], tokens per block=", plan.tokens_per_block, ", primary blocks=",
        window.num_blocks, ", secondary blocks=", window.host_blocks));
  }
  plan.pool.log_lines.push_back(absl::StrCat(
      kPrefix, "[MemUsageChange] Allocated ", PrintedGiB(allocated),
      " GiB for max tokens in paged KV cache (", plan.max_tokens, ")."));
}

void WriteNotes(const Settings& settings, BlockPlan& plan) {
  std::vector<std::string>& notes = plan.pool.notes;
  notes.push_back(
      "the evidence for TensorRT-LLM is weak: single source files of unknown "
      "date and two start-up logs, in which the blocks were given; blocks x "
      "row bytes is checked, the division of memory is not");
  if (plan.windows.size() > 1) {
    notes.push_back(
        "several windows: each gets an equal part of the memory, as the older "
        "cache manager does; the newer one divides by average lengths");
  }
  if (settings.pp_size > 1) {
    notes.push_back("the plan is that of the stage with the most layers");
  }
}

void RefuseEmptyPool(const PoolMemory& memory, BlockPlan& plan) {
  for (const WindowPool& window : plan.windows) {
    if (window.num_blocks > 0) continue;
    StartRefusal refusal;
    refusal.needed = window.block;
    refusal.available = memory.free.value_or(Bytes(0));
    refusal.message =
        absl::StrCat("no block of ", FormatBytes(window.block),
                     " fits for the window of ", window.window, " tokens");
    plan.pool.refused = std::move(refusal);
    return;
  }
}

}  // namespace

absl::StatusOr<BlockPlan> PlanBlocks(const ModelSpec& model,
                                     const Settings& settings,
                                     const PoolMemory& memory) {
  if (absl::Status status = settings.Validate(); !status.ok()) return status;
  const absl::StatusOr<std::vector<RankLayer>> layers =
      ReadLayers(model, settings);
  if (!layers.ok()) return layers.status();
  BlockPlan plan;
  plan.tokens_per_block = settings.tokens_per_block;
  plan.max_seq_len =
      settings.max_seq_len.value_or(model.max_position_embeddings);
  if (plan.max_seq_len == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(model.name,
                     ": the config names no maximum length; --max_seq_len "
                     "must give it"));
  }
  plan.windows = GroupByWindow(*layers, settings, Resolve(settings, model),
                               plan.max_seq_len);
  absl::Status status = CheckInput(settings, memory, plan.windows.size());
  if (!status.ok()) return status;
  status = CheckCacheSize(*layers, 0, settings.max_batch_size);
  if (!status.ok()) return status;
  const Bytes states = StatesOf(*layers, settings);
  SizePools(settings, memory, states, plan.windows);
  status = CheckBlocks(*layers, settings, plan.windows);
  if (!status.ok()) return status;
  AddPools(settings, states, *layers, plan);
  Shrink(plan);
  WriteBlocks(settings, memory, static_cast<int64_t>(layers->size()), plan);
  RefuseEmptyPool(memory, plan);
  WriteLog(plan);
  WriteNotes(settings, plan);
  return plan;
}

}  // namespace kvsim::tensorrt_llm
