// Makes a preset of a trace.
//
// Model:      feed every row in order, then ask once.
// Costs:      those of a PrefixTree, and 40 bytes per row.
// Errors:     no rows, or ids of several block sizes, make no preset.
#ifndef KVSIM_TRACES_TRACE_FITTER_H_
#define KVSIM_TRACES_TRACE_FITTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/prefix_tree.h"
#include "traces/trace_preset.h"
#include "traces/trace_request.h"

namespace kvsim {

class TraceFitter {
 public:
  void Add(const TraceRequest& row);
  absl::StatusOr<TracePreset> Fit(const std::string& source) const;

 private:
  struct Row {
    int64_t input_length;
    int64_t whole_blocks;
    int64_t hit_blocks;
  };

  std::vector<int64_t> HitShares() const;

  PrefixTree tree_;
  std::vector<Row> rows_;
  std::vector<int64_t> outputs_;
  // By TracePreset::DepthOf the blocks that hit.
  std::vector<std::vector<int64_t>> ages_ =
      std::vector<std::vector<int64_t>>(TracePreset::kDepths);
  int64_t hash_block_ = 0;
  bool has_several_blocks_ = false;
  int64_t first_ns_ = 0;
  int64_t last_ns_ = 0;
  int64_t moments_ = 0;
  int64_t input_tokens_ = 0;
  int64_t hit_tokens_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_FITTER_H_
