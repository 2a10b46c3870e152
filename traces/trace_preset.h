// A workload as numbers: what `kvsim trace fit` keeps of a trace and `kvsim
// trace synth --preset` makes a trace of.
//
// Model:      lengths are quantile functions: kQuantiles values at equal steps
//             of probability, straight lines between them. How much of a prompt
//             was seen before depends on its length: for each of kClasses
//             classes of equally many rows, by length, the quantile function of
//             the share of whole blocks that hit, in units of 2^-16. How old
//             the prefix is that a prompt repeats depends on how long it is: a
//             quantile function of rows since its last use for each power of
//             two of its blocks. Arrivals are bursts at `moments` random
//             times over `span_ms`.
// Not kept:   single requests, ids, sessions, how lengths and outputs depend on
//             each other or on time.
// File:       one JSON object with these names.
#ifndef KVSIM_TRACES_TRACE_PRESET_H_
#define KVSIM_TRACES_TRACE_PRESET_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct TracePreset {
  static constexpr int64_t kQuantiles = 1025;  // of lengths
  static constexpr int64_t kShares = 33;       // of shares and ages
  static constexpr int64_t kClasses = 32;
  static constexpr int64_t kWhole = 1 << 16;  // the share of all blocks
  static constexpr int64_t kDepths = 9;       // 1, 2, 4, ..., 256 blocks on

  std::string source;  // where it comes from, for people
  int64_t rows = 0;
  int64_t hash_block = 512;
  int64_t span_ms = 0;  // from the first arrival to the last
  int64_t moments = 1;  // different arrival times
  int64_t input_tokens = 0;
  int64_t hit_tokens = 0;  // of input_tokens, by an endless cache
  std::vector<int64_t> input_quantiles;
  std::vector<int64_t> output_quantiles;
  std::vector<int64_t> hit_shares;  // kClasses times kShares
  std::vector<int64_t> ages;        // kDepths times kShares, in rows, from 1

  // Which ages a prefix of so many blocks has. REQUIRES: blocks > 0.
  static int64_t DepthOf(int64_t blocks) {
    return std::min<int64_t>(std::bit_width(static_cast<uint64_t>(blocks)),
                             kDepths) -
           1;
  }
};

// Reads a preset; `name` stands before every problem. Checks that a trace can
// be made of it.
absl::StatusOr<TracePreset> ParseTracePreset(absl::string_view json,
                                             const std::string& name);

// The file's text, with a final newline.
std::string TracePresetToJson(const TracePreset& preset);

// The value at `position`, a fraction of 2^32 of the way from the first
// quantile to the last. REQUIRES: two quantiles or more, 0 to 2^41;
// 0 <= position <= 2^32.
int64_t QuantileAt(const int64_t* quantiles, int64_t count, int64_t position);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_PRESET_H_
