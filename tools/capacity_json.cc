#include "tools/capacity_json.h"

#include <cstddef>

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;

Json ParallelJson(const ParallelPlan& parallel) {
  return {{"tensor", parallel.tensor},
          {"pipeline", parallel.pipeline},
          {"decode_context", parallel.decode_context}};
}

Json GroupsJson(const PoolPlan& pool) {
  Json groups = Json::array();
  for (const CacheGroup& group : pool.groups) {
    const BlockDemand& demand = group.demand;
    const Blocks worst =
        WorstCaseBlocks(demand, pool.max_model_len, pool.in_flight);
    groups.push_back(
        {{"kind", group.kind},
         {"pool",
          group.pool == 0 ? "main" : pool.side_pools[group.pool - 1].name},
         {"layers", group.layers},
         {"tensors", group.num_tensors},
         {"block_tokens", demand.block_tokens.value()},
         {"tokens_per_block",
          demand.block_tokens.value() * demand.sharded_over},
         {"page_bytes", group.page.value()},
         {"used_bytes", group.used.value()},
         {"page_padding_bytes", group.page_padding.value()},
         {"slot_padding_bytes", group.slot_padding.value()},
         {"blocks_per_request", worst.value()}});
  }
  return groups;
}

Json SidePoolsJson(const PoolPlan& pool) {
  Json pools = Json::array();
  for (const SidePool& side : pool.side_pools) {
    pools.push_back({{"name", side.name},
                     {"num_blocks", side.num_blocks.value()},
                     {"reserved_blocks", side.reserved_blocks.value()},
                     {"bytes_per_block", side.bytes_per_block.value()}});
  }
  return pools;
}

Json LayerPaddingJson(const PoolPlan& pool) {
  Json paddings = Json::array();
  for (const LayerPadding& padding : pool.layer_padding) {
    paddings.push_back(
        {{"layers", padding.layers}, {"waste_percent", padding.waste_percent}});
  }
  return paddings;
}

Json RanksJson(const PoolPlan& pool) {
  Json ranks = Json::array();
  for (size_t i = 0; i < pool.ranks.size(); ++i) {
    const RankPool& rank = pool.ranks[i];
    ranks.push_back({{"stage", rank.stage},
                     {"layers", rank.num_layers},
                     {"kv_memory_bytes", rank.kv_memory.value()},
                     {"bytes_per_block", rank.bytes_per_block.value()},
                     {"own_blocks", rank.own_blocks.value()},
                     {"remainder_bytes", rank.remainder.value()},
                     {"binds", i == pool.binding_rank}});
  }
  return ranks;
}

Json AccountsJson(const CapacityAnswer& answer) {
  Json accounts = Json::array();
  for (const MemoryAccount& account : answer.accounts) {
    accounts.push_back({{"name", account.name},
                        {"bytes", account.bytes.value()},
                        {"part_of", account.part_of}});
  }
  return accounts;
}

Json ContextsJson(const CapacityAnswer& answer) {
  Json contexts = Json::array();
  for (const ContextAnswer& context : answer.contexts) {
    const Concurrency& count = context.count;
    contexts.push_back({{"tokens", count.length.value()},
                        {"sequence_bytes", context.sequence_bytes.value()},
                        {"engine_line", count.engine_line},
                        {"resident", count.resident},
                        {"admitted", count.admitted},
                        {"ideal", count.ideal},
                        {"resident_low", context.low.resident},
                        {"resident_high", context.high.resident},
                        {"cluster_resident", context.cluster_resident},
                        {"worst_case_blocks", count.worst_blocks.value()},
                        {"steady_blocks", count.steady_blocks.value()},
                        {"shared_blocks", count.shared_blocks.value()},
                        {"rank_bytes", count.ideal_bytes.value()}});
  }
  return contexts;
}

Json AlternativesJson(const CapacityAnswer& answer) {
  Json alternatives = Json::array();
  for (const Alternative& alternative : answer.alternatives) {
    if (!alternative.note.empty()) {
      alternatives.push_back(
          {{"change", alternative.change}, {"note", alternative.note}});
      continue;
    }
    alternatives.push_back({{"change", alternative.change},
                            {"num_gpus", alternative.num_gpus},
                            {"kv_memory_bytes", alternative.kv_memory.value()},
                            {"num_blocks", alternative.num_blocks.value()},
                            {"resident", alternative.resident}});
  }
  return alternatives;
}

void AddPool(const PoolPlan& pool, Json& json) {
  json["num_blocks"] = pool.num_blocks.value();
  json["reserved_blocks"] = pool.reserved_blocks.value();
  json["block_tokens"] = pool.block_tokens.value();
  json["scheduler_block_tokens"] = pool.scheduler_block_tokens.value();
  json["page_bytes"] = pool.page.value();
  json["bytes_per_block"] = pool.bytes_per_block.value();
  json["kv_cache_tokens"] = pool.kv_cache_tokens.value();
  json["max_model_len"] = pool.max_model_len.value();
  json["max_concurrency"] = pool.max_concurrency;
  json["blocks_per_request"] = pool.blocks_per_request.value();
  json["grouping"] = pool.rule;
  if (pool.host_blocks > Blocks(0)) {
    json["host_blocks"] = pool.host_blocks.value();
  }
  json["state_padding_percent"] = pool.state_padding_percent;
  json["layer_padding"] = LayerPaddingJson(pool);
  json["groups"] = GroupsJson(pool);
  json["side_pools"] = SidePoolsJson(pool);
  json["per_rank"] = RanksJson(pool);
}

void AddCosts(const CapacityAnswer& answer, Json& json) {
  const PoolPlan& pool = answer.pool;
  json["kv_memory_bytes"] = pool.ranks[pool.binding_rank].kv_memory.value();
  json["kv_band_bytes"] = answer.kv_band.value();
  json["kv_band_basis"] = answer.kv_band_basis;
  json["num_blocks_low"] = answer.low.num_blocks.value();
  json["num_blocks_high"] = answer.high.num_blocks.value();
  json["kv_cache_tokens_low"] = answer.low.kv_cache_tokens.value();
  json["kv_cache_tokens_high"] = answer.high.kv_cache_tokens.value();
  json["max_concurrency_low"] = answer.low.max_concurrency;
  json["max_concurrency_high"] = answer.high.max_concurrency;
  json["bytes_per_token"] = answer.sequence_bytes_per_token;
  json["rank_bytes_per_token"] = answer.rank_bytes_per_token;
  json["fixed_blocks_per_request"] = answer.fixed_blocks.value();
  json["fixed_bytes_per_request"] = FixedBytes(pool).value();
  json["blocks_of_one_token_request"] = answer.one_token_blocks.value();
  json["binds"] = answer.binds;
}

void AddRefusal(const PoolPlan& pool, Json& json) {
  if (!pool.refused.has_value()) return;
  json["refused"] = {
      {"needed_bytes", pool.refused->needed.value()},
      {"available_bytes", pool.refused->available.value()},
      {"max_len_that_fits", pool.refused->max_len_that_fits.value()},
      {"message", pool.refused->message}};
}

}  // namespace

Json CapacityJson(const CapacityQuestion& question,
                  const CapacityAnswer& answer) {
  Json json;
  json["model"] = question.model->name;
  json["engine"] = answer.engine;
  json["engine_version"] = answer.engine_version;
  json["kv_cache_dtype"] = answer.kv_cache_dtype;
  json["num_gpus"] = answer.num_gpus;
  json["replicas"] = answer.replicas;
  json["parallel"] = ParallelJson(answer.parallel);
  AddPool(answer.pool, json);
  json["accounts"] = AccountsJson(answer);
  AddCosts(answer, json);
  json["max_num_batched_tokens"] = answer.max_num_batched_tokens;
  json["max_num_seqs"] = answer.max_num_seqs;
  json["contexts"] = ContextsJson(answer);
  json["alternatives"] = AlternativesJson(answer);
  json["log_lines"] = answer.pool.log_lines;
  json["warnings"] = answer.warnings;
  AddRefusal(answer.pool, json);
  return json;
}

Json DeploymentsJson(const CapacityQuestion& question, int64_t concurrency,
                     const std::vector<Deployment>& deployments) {
  Json json;
  json["model"] = question.model->name;
  json["concurrency"] = concurrency;
  json["contexts"] = Json::array();
  for (Tokens context : question.contexts) {
    json["contexts"].push_back(context.value());
  }
  json["deployments"] = Json::array();
  for (const Deployment& deployment : deployments) {
    json["deployments"].push_back(
        {{"num_gpus", deployment.num_gpus},
         {"parallel", ParallelJson(deployment.parallel)},
         {"num_blocks", deployment.num_blocks.value()},
         {"resident", deployment.resident}});
  }
  return json;
}

}  // namespace kvsim
