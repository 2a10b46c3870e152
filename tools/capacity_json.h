// The JSON form of `kvsim capacity`.
//
// One object. Bytes, blocks, tokens and requests are integers; names end in
// their unit. Per rank unless the name says `cluster` or `sequence`.
//
//   model, engine, engine_version, kv_cache_dtype
//   num_gpus, replicas, parallel{tensor, pipeline, decode_context}
//   num_blocks, reserved_blocks, block_tokens, scheduler_block_tokens,
//   page_bytes, bytes_per_block, kv_cache_tokens, max_model_len,
//   max_concurrency, blocks_per_request, grouping, max_num_batched_tokens,
//   max_num_seqs, host_blocks (vLLM's V0), state_padding_percent,
//   layer_padding[] of layers, waste_percent
//   groups[]: kind, layers[], tensors, block_tokens, tokens_per_block (over all
//     context ranks), page_bytes, used_bytes, page_padding_bytes,
//     slot_padding_bytes, blocks_per_request
//   per_rank[]: stage, layers, kv_memory_bytes, bytes_per_block, own_blocks,
//     remainder_bytes, binds
//   accounts[]: name, bytes, part_of ("" for parts of the GPU)
//   kv_memory_bytes, kv_band_bytes, kv_band_basis, and at the ends of that band
//     num_blocks_low, _high, kv_cache_tokens_low, _high, max_concurrency_low,
//     _high
//   bytes_per_token (sequence, logical), rank_bytes_per_token,
//   fixed_blocks_per_request, fixed_bytes_per_request,
//   blocks_of_one_token_request, binds
//   contexts[]: tokens, sequence_bytes, engine_line, resident, admitted, ideal,
//     resident_low, resident_high, cluster_resident, worst_case_blocks,
//     steady_blocks, shared_blocks, rank_bytes
//   alternatives[]: change, note | num_gpus, kv_memory_bytes, num_blocks,
//     resident[]
//   log_lines[], warnings[]
//   refused (only then): needed_bytes, available_bytes, max_len_that_fits,
//     message
//
// With --concurrency: model, concurrency, contexts[], deployments[] of num_gpus,
// parallel, num_blocks, resident[]; empty when no number of GPUs suffices.

#ifndef KVSIM_TOOLS_CAPACITY_JSON_H_
#define KVSIM_TOOLS_CAPACITY_JSON_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "engines/capacity.h"
#include "engines/deployment_search.h"

namespace kvsim {

nlohmann::ordered_json CapacityJson(const CapacityQuestion& question,
                                    const CapacityAnswer& answer);

nlohmann::ordered_json DeploymentsJson(
    const CapacityQuestion& question, int64_t concurrency,
    const std::vector<Deployment>& deployments);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CAPACITY_JSON_H_
