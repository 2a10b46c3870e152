// How well a preset's traces look like its source.
#ifndef KVSIM_TRACES_PRESET_CHECK_H_
#define KVSIM_TRACES_PRESET_CHECK_H_

#include <cstdint>
#include <vector>

#include "traces/prefix_tree.h"
#include "traces/trace_preset.h"
#include "traces/trace_request.h"

namespace kvsim {

// What a fit is held to. Means and shares are for reports.
struct TraceFigures {
  int64_t rows = 0;
  double input_mean = 0;
  int64_t input_p50 = 0;
  int64_t input_p99 = 0;
  double output_mean = 0;
  double ceiling = 0;  // share of the input tokens that an endless cache hits

  // The lengths within 5 % and the ceiling within one point of `source`.
  bool IsCloseTo(const TraceFigures& source) const;
};

class FigureCounter {
 public:
  void Add(const TraceRequest& row);
  TraceFigures Figures() const;

 private:
  std::vector<int64_t> inputs_;
  std::vector<int64_t> outputs_;
  PrefixTree tree_;
};

// The figures of the trace that the preset and the seed make.
TraceFigures FiguresOfPreset(const TracePreset& preset, uint64_t seed);

}  // namespace kvsim

#endif  // KVSIM_TRACES_PRESET_CHECK_H_
