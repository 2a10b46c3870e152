#include "engines/llama_cpp/pool_planner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/concurrency.h"
#include "engines/llama_cpp/cache_sizes.h"
#include "engines/llama_cpp/capacity_log.h"
#include "engines/rank_layers.h"

namespace kvsim::llama_cpp {
namespace {

// The layers of a model and of its drafter.
struct Layers {
  std::vector<RankLayer> model;  // MTP layers last, if they draft
  std::vector<RankLayer> draft;  // of another model
};

absl::StatusOr<Layers> ReadLayers(const ModelSpec& model,
                                  const ModelSpec* draft,
                                  const Settings& settings) {
  Layers layers;
  const bool own_drafts = settings.draft_max > 0 && draft == nullptr &&
                          settings.draft_model.empty();
  absl::StatusOr<std::vector<RankLayer>> read =
      LayersOnRank(model, {.encoders_keep_rows = settings.encoders_keep_rows,
                           .mtp_layers = own_drafts});
  if (!read.ok()) return read.status();
  layers.model = *std::move(read);
  for (const RankLayer& layer : layers.model) {
    if (layer.compressed.empty()) continue;
    return absl::UnimplementedError(absl::StrCat(
        model.name, ": how llama.cpp keeps compressed attention is not known"));
  }
  if (draft == nullptr) return layers;
  read = LayersOnRank(*draft, {});
  if (!read.ok()) return read.status();
  layers.draft = *std::move(read);
  return layers;
}

struct Types {
  CacheType k;
  CacheType v;
};

// Adds `layers` as one cache of `cells` cells in each of `streams` streams.
absl::Status AddCache(const std::string& name,
                      const std::vector<RankLayer>& layers, Types types,
                      int64_t cells, int64_t streams, CachePlan& plan) {
  if (layers.empty()) return absl::OkStatus();
  CachePool pool = {.name = name, .entries = cells};
  Bytes k(0);
  Bytes v(0);
  for (const RankLayer& layer : layers) {
    const absl::StatusOr<CellBytes> cell = CellOf(layer, types.k, types.v);
    if (!cell.ok()) return cell.status();
    pool.layers.push_back(layer.layer);
    k += cell->k * cells * streams;
    v += cell->v * cells * streams;
  }
  pool.parts = {{"K", k}, {"V", v}};
  plan.pools.push_back(std::move(pool));
  return absl::OkStatus();
}

int64_t WidestWindow(const std::vector<RankLayer>& layers) {
  int64_t window = 0;
  for (const RankLayer& layer : layers) {
    window = std::max(window, layer.Window());
  }
  return window;
}

// A cache of full history and one of windows.
absl::Status AddCaches(const std::string& full, const std::string& windows,
                       const std::vector<RankLayer>& layers, bool drafts,
                       Types types, const CellCounts& counts,
                       const Settings& settings, CachePlan& plan) {
  absl::Status status =
      AddCache(full, Select(layers, RankLayerKind::kHistory, drafts), types,
               counts.cells, counts.streams, plan);
  if (!status.ok()) return status;
  const std::vector<RankLayer> sliding =
      Select(layers, RankLayerKind::kWindow, drafts);
  return AddCache(windows, sliding, types,
                  WindowCells(settings, counts, WidestWindow(sliding)),
                  counts.streams, plan);
}

void AddStates(const std::vector<RankLayer>& layers, const Settings& settings,
               CachePlan& plan) {
  CachePool pool = {.name = "rs", .entries = settings.parallel};
  StateBytes sum{Bytes(0), Bytes(0)};
  for (const RankLayer& layer : Select(layers, RankLayerKind::kState, false)) {
    pool.layers.push_back(layer.layer);
    const StateBytes state = StateOf(layer);
    sum.r += state.r;
    sum.s += state.s;
  }
  if (pool.layers.empty()) return;
  plan.state_copies = StateCopies(settings);
  const int64_t copies = settings.parallel * plan.state_copies;
  pool.parts = {{"R", sum.r * copies}, {"S", sum.s * copies}};
  plan.pools.push_back(std::move(pool));
}

// All caches of a context of `ctx_size` tokens.
absl::StatusOr<CachePlan> SizeCaches(const Layers& layers,
                                     const Settings& settings,
                                     int64_t ctx_size) {
  const CellCounts counts = CountCells(settings, ctx_size);
  CachePlan plan;
  plan.ctx_size = ctx_size;
  plan.streams = counts.streams;
  plan.cells = counts.cells;
  plan.sequences = settings.parallel;
  const Types types = {settings.cache_type_k, settings.cache_type_v};
  const Types draft_types = {settings.draft_type_k, settings.draft_type_v};
  absl::Status status = AddCaches("kv", "swa", layers.model, false, types,
                                  counts, settings, plan);
  AddStates(layers.model, settings, plan);
  if (const CachePool* windows = FindPool(plan.pools, "swa")) {
    plan.window_cells = windows->entries;
  }
  if (status.ok()) {
    status = AddCaches("draft", "draft swa", layers.model, true, draft_types,
                       counts, settings, plan);
  }
  if (status.ok()) {
    const CellCounts draft_counts = CountCells(
        settings,
        settings.draft_ctx_size > 0 ? settings.draft_ctx_size : ctx_size);
    status = AddCaches("draft", "draft swa", layers.draft, false, draft_types,
                       draft_counts, settings, plan);
  }
  if (!status.ok()) return status;
  return plan;
}

// Of a pool, what its layers below `first` take: every layer of a pool has the
// same share.
Bytes ShareOfLayers(const CachePool& pool, int64_t first) {
  const auto below =
      std::count_if(pool.layers.begin(), pool.layers.end(),
                    [first](int32_t layer) { return layer < first; });
  return TotalBytes(pool) / static_cast<int64_t>(pool.layers.size()) * below;
}

// What stays with the host.
void CountHostBytes(const Settings& settings, int64_t model_layers,
                    CachePlan& plan) {
  if (!settings.kv_offload) {
    plan.host = TotalBytes(plan.pools);
    return;
  }
  if (!settings.gpu_layers.has_value()) return;
  const int64_t first = std::max<int64_t>(
      model_layers - std::max<int64_t>(*settings.gpu_layers, 0), 0);
  for (const CachePool& pool : plan.pools) {
    if (pool.name.rfind("draft", 0) == 0) continue;
    plan.host += ShareOfLayers(pool, first);
  }
}

// One pool of caches as blocks: cells where sequences share a stream, whole
// streams where each has its own.
void AddBlocks(const CachePool& cache, BlockDemand::Kind kind, int64_t window,
               CachePlan& plan) {
  CacheGroup group;
  group.kind = cache.name;
  group.layers = cache.layers;
  group.num_tensors = static_cast<int64_t>(cache.layers.size());
  const bool shared =
      plan.streams == 1 && kind != BlockDemand::Kind::kPerSequence;
  const int64_t blocks = kind == BlockDemand::Kind::kPerSequence
                             ? plan.sequences
                         : shared ? cache.entries
                                  : plan.streams;
  group.page = group.used = TotalBytes(cache) / blocks;
  group.demand.kind = kind;
  if (kind == BlockDemand::Kind::kAllHistory) {
    group.demand.block_tokens = Tokens(shared ? 1 : cache.entries);
  } else if (kind == BlockDemand::Kind::kWindow && shared) {
    group.demand.reach = Tokens(std::max<int64_t>(window - 1, 0));
  } else {
    group.demand.kind = BlockDemand::Kind::kPerSequence;
    group.demand.constant_worst = group.demand.constant_steady = Blocks(1);
  }
  AddPool(std::move(group), Blocks(blocks), Blocks(0), plan.pool);
}

void WriteBlocks(const Layers& layers, const Settings& settings,
                 CachePlan& plan) {
  PoolPlan& pool = plan.pool;
  pool.rule = "cells for the whole context, allocated at the start";
  pool.max_model_len = Tokens(plan.cells);
  pool.in_flight = Tokens(std::min(settings.ubatch_size, settings.batch_size));
  pool.decode_in_flight = Tokens(1);
  pool.kv_cache_tokens = Tokens(plan.cells * plan.streams);
  for (const CachePool& cache : plan.pools) {
    const bool draft = cache.name.rfind("draft", 0) == 0;
    const bool windows = cache.name == "swa" || cache.name == "draft swa";
    const auto kind = cache.name == "rs" ? BlockDemand::Kind::kPerSequence
                      : windows          ? BlockDemand::Kind::kWindow
                                         : BlockDemand::Kind::kAllHistory;
    const int64_t window = WidestWindow(
        Select(draft && !layers.draft.empty() ? layers.draft : layers.model,
               RankLayerKind::kWindow, draft && layers.draft.empty()));
    AddBlocks(cache, kind, window, plan);
  }
  if (pool.groups.empty()) return;
  pool.block_tokens = pool.groups[0].demand.block_tokens;
  pool.scheduler_block_tokens = pool.block_tokens;
  pool.blocks_per_request = WorstCaseBlocks(pool, pool.max_model_len);
}

// The longest context whose caches fit, in steps of 256 tokens.
Tokens LongestThatFits(const Layers& layers, const Settings& settings,
                       int64_t model_layers, int64_t ctx_size, Bytes memory) {
  const auto fits = [&](int64_t steps) {
    absl::StatusOr<CachePlan> plan = SizeCaches(layers, settings, steps * 256);
    if (!plan.ok()) return false;
    CountHostBytes(settings, model_layers, *plan);
    return TotalBytes(plan->pools) - plan->host <= memory;
  };
  int64_t fit = 0;
  int64_t too_many = CeilDiv(ctx_size, 256);
  while (too_many - fit > 1) {
    const int64_t middle = fit + (too_many - fit) / 2;
    (fits(middle) ? fit : too_many) = middle;
  }
  return Tokens(fit * 256);
}

void WriteRank(const Layers& layers, const Settings& settings,
               int64_t model_layers, std::optional<Bytes> memory,
               CachePlan& plan) {
  const Bytes needed = TotalBytes(plan.pools) - plan.host;
  RankPool rank;
  rank.num_layers = model_layers;
  rank.kv_memory = memory.value_or(needed);
  rank.remainder = std::max(rank.kv_memory - needed, Bytes(0));
  rank.bytes_per_block = plan.pool.bytes_per_block;
  rank.own_blocks = plan.pool.num_blocks;
  plan.pool.ranks = {rank};
  if (!plan.pool.groups.empty()) {
    plan.pool.max_concurrency =
        CountRequests(plan.pool, plan.pool.max_model_len, Tokens(0),
                      settings.parallel)
            .engine_line;
  }
  if (!memory.has_value() || needed <= *memory) return;
  StartRefusal refusal;
  refusal.needed = needed;
  refusal.available = *memory;
  refusal.max_len_that_fits =
      LongestThatFits(layers, settings, model_layers, plan.ctx_size, *memory);
  refusal.message = "failed to allocate buffer for kv cache";
  plan.pool.refused = std::move(refusal);
}

bool HasEncoderRows(const ModelSpec& model) {
  for (const LayerSpec& layer : model.layers) {
    for (const AttentionSpec& attention : layer.attention) {
      if (attention.kind == AttentionKind::kEncoderOnly) return true;
    }
  }
  return false;
}

void WriteNotes(const ModelSpec& model, const Layers& layers,
                const Settings& settings, CachePlan& plan) {
  std::vector<std::string>& notes = plan.pool.notes;
  notes.push_back(
      "llama.cpp's caches are those of builds of 2025-08 to 2026-08; no build "
      "is told apart");
  if (plan.cells * plan.streams != plan.ctx_size) {
    notes.push_back(absl::StrCat("-c ", plan.ctx_size, " becomes ",
                                 plan.streams, " x ", plan.cells,
                                 " cells: streams are in steps of 256"));
  }
  if (plan.host > Bytes(0)) {
    notes.push_back(absl::StrCat(FormatBytes(plan.host),
                                 " of the caches stay with the host: -ngl and "
                                 "--no-kv-offload decide"));
  }
  if (settings.encoders_keep_rows && HasEncoderRows(model)) {
    notes.push_back(
        "an encoder keeps nothing between passes: builds from mid 2025 on may "
        "leave its cache out");
  }
  if (!settings.draft_model.empty() && layers.draft.empty()) {
    notes.push_back(absl::StrCat("the caches of the draft model ",
                                 settings.draft_model,
                                 " are not counted: its config is not given"));
  }
  const bool keys =
      std::any_of(layers.model.begin(), layers.model.end(),
                  [](const RankLayer& layer) { return layer.index > 0; });
  if (keys) notes.push_back("index keys of sparse attention are not counted");
}

}  // namespace

absl::StatusOr<CachePlan> PlanCaches(const ModelSpec& model,
                                     const ModelSpec* draft,
                                     const Settings& settings,
                                     std::optional<Bytes> memory) {
  if (absl::Status status = settings.Validate(); !status.ok()) return status;
  const int64_t ctx_size =
      settings.ctx_size > 0 ? settings.ctx_size : model.max_position_embeddings;
  if (ctx_size == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(model.name,
                     ": the config names no maximum length; --ctx-size must "
                     "give it"));
  }
  const absl::StatusOr<Layers> layers = ReadLayers(model, draft, settings);
  if (!layers.ok()) return layers.status();
  for (const std::vector<RankLayer>* own : {&layers->model, &layers->draft}) {
    const int64_t longest = std::max(ctx_size, settings.draft_ctx_size) + 256;
    absl::Status status =
        CheckCacheSize(*own, CheckedMul(longest, 2 * settings.parallel),
                       settings.parallel * StateCopies(settings));
    if (!status.ok()) return status;
  }
  absl::StatusOr<CachePlan> plan = SizeCaches(*layers, settings, ctx_size);
  if (!plan.ok()) return plan.status();
  const auto model_layers = static_cast<int64_t>(model.layers.size());
  CountHostBytes(settings, model_layers, *plan);
  WriteBlocks(*layers, settings, *plan);
  WriteRank(*layers, settings, model_layers, memory, *plan);
  WriteNotes(model, *layers, settings, *plan);
  plan->pool.log_lines =
      CapacityLog(*plan, settings,
                  model_layers + static_cast<int64_t>(model.mtp_layers.size()));
  return plan;
}

}  // namespace kvsim::llama_cpp
