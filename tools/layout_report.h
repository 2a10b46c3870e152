// What `kvsim layout` prints: one model's layout at some context lengths, as
// text for people and as JSON for programs.
//
// JSON schema (additions are free, names and meanings stay):
//   model, model_type, source, assumptions ("engines" or "article"),
//   kv_cache_dtype, num_layers,
//   bytes_per_token   growth of the full-history part, one sequence, one copy
//   fixed_bytes       beside it: full windows and chunks, states, encoder part
//   contexts[]        tokens, bytes, padding_bytes (page alignment, within
//                     bytes), tensors[] of name, bytes, share
//   layers[]          layer, mtp, kind, bytes_per_token, fixed_bytes,
//                     tensors[] of name, store, elements, dtype, scale_bytes,
//                     padding_bytes, entry_bytes, tokens_per_entry (0: one per
//                     sequence), retention, window, sinks, chunk, source,
//                     shard, heads
//   compared_with     the other side's assumptions, bytes_per_token,
//                     fixed_bytes, contexts[] of tokens, bytes
//   warnings[]        sentences
//   manifest          version, command

#ifndef KVSIM_TOOLS_LAYOUT_REPORT_H_
#define KVSIM_TOOLS_LAYOUT_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "base/units.h"
#include "models/cache_layout.h"
#include "models/layout_builder.h"
#include "models/model_spec.h"

namespace kvsim {

struct LayoutReport {
  ModelSpec spec;
  LayoutOptions options;
  std::vector<SequenceLength> contexts;  // at least one
  CacheLayout layout;
  // The same model under the other assumptions (the article's for an engine's
  // layout and the reverse), where it differs.
  std::optional<CacheLayout> other;
  std::vector<std::string> warnings;
  ByteUnits units = ByteUnits::kBinary;  // of the text and the warnings
  std::string version;
  std::vector<std::string> command_line;
};

// Fills `layout`, `other` and `warnings` from the first three.
// REQUIRES: contexts is not empty, no length exceeds kMaxLayoutTokens.
absl::Status CompleteLayoutReport(LayoutReport& report);

std::string LayoutReportText(const LayoutReport& report);
std::string LayoutReportJson(const LayoutReport& report);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LAYOUT_REPORT_H_
