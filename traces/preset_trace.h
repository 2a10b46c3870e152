// A made-up trace that looks like a preset's source.
//
// Model:      prompt and output lengths are the preset's quantiles at equal
//             steps, each in a random order of its own: every seed has the same
//             lengths, in another order and company. A prompt repeats the first
//             blocks of an earlier one, so many as the shares for its length
//             say, but no more than an earlier prompt has, and corrected by
//             whole blocks until the sum is the preset's share of all prompt
//             tokens; the earlier prompt is about as old as the preset's ages
//             say, and long enough. All other blocks are new; the partial last
//             block is shared with nobody.
// Times:      whole milliseconds. Bursts arrive as a Poisson process.
// Determinism: equal preset, seed and rows give equal rows on every machine.
// Costs:      8 bytes per whole block of the trace, 60 per row; finding an
//             earlier prompt is a walk to the nearest long enough one.
#ifndef KVSIM_TRACES_PRESET_TRACE_H_
#define KVSIM_TRACES_PRESET_TRACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "traces/trace_preset.h"
#include "traces/trace_request.h"

namespace kvsim {

// Says why a trace of so many rows cannot be made: 1 to 50,000,000 of at most
// 2^30 whole blocks in all.
absl::Status CheckPresetRows(const TracePreset& preset, int64_t rows);

class PresetTrace {
 public:
  // REQUIRES: the preset came from ParseTracePreset or TraceFitter;
  // CheckPresetRows(preset, rows) is OK.
  PresetTrace(const TracePreset& preset, uint64_t seed, int64_t rows);

  // False when all rows were given.
  bool Next(TraceRequest* row);

 private:
  struct Row {
    int64_t input_length = 0;
    int64_t output_length = 0;
    int64_t hit_blocks = 0;
    int64_t arrival_ms = 0;
    std::vector<uint64_t> ids;  // of the whole blocks, once it was given
  };

  int64_t WholeBlocks(const Row& row) const;
  void PlanLengths(uint64_t seed);
  void PlanHits(uint64_t seed, const std::vector<int64_t>& ranks);
  std::vector<int64_t> HitLimits() const;
  int64_t WantedHits() const;
  void CorrectHits();
  void PlanArrivals(uint64_t seed);
  int64_t Donor(int64_t row, int64_t blocks);
  void NameBlocks(int64_t row);

  TracePreset preset_;
  std::vector<Row> rows_;
  RandomStream ages_;
  int64_t next_row_ = 0;
  uint64_t next_id_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_PRESET_TRACE_H_
