// What `kvsim tune block-size` prints.
//
// Text: tables with units, for people. JSON, one object; bytes are one rank's:
//   model, engine, engine_version, kv_cache_dtype (null when no size is
//     accepted), trace (null without), length_tokens, lengths, prefix_caching,
//     state_mode (null without recurrent states), hits_are_upper_bound
//   sizes[]: asked_tokens, default, given, accepted, note; accepted ones also
//     block_tokens, mamba_block_tokens (null without states), hit_unit_tokens,
//     num_blocks, bytes_per_block, kv_cache_tokens, max_concurrency, resident,
//     padding_bytes, tail_slack_tokens, tail_slack_bytes (sums over `lengths`
//     requests), block_table_bytes, and null without a trace or without prefix
//     caching: hit_blocks, hit_tokens, measured_tokens, lost_hit_tokens (against
//     the finest size)
//   best[]: view, sizes[] (as asked), reason
//   recommendation: block_size (null: none), text
//   notes[]

#ifndef KVSIM_TOOLS_BLOCK_SIZE_REPORT_H_
#define KVSIM_TOOLS_BLOCK_SIZE_REPORT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "tools/block_size_comparison.h"

namespace kvsim {

struct BlockSizeReport {
  std::string model;
  std::string trace;            // "": none
  std::optional<Tokens> given;  // --block-size, of the flags or the command
  BlockSizeComparison comparison;
};

void PrintBlockSizes(const BlockSizeReport& report, ByteUnits units,
                     std::ostream& out);

nlohmann::ordered_json BlockSizeJson(const BlockSizeReport& report);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_BLOCK_SIZE_REPORT_H_
