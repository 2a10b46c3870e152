// The points of a sweep: every combination of the values that some flags take.
//
//   --vary block-size=16,32 --vary rate-scale=1,2   four points, in this order:
//   (16, 1) (16, 2) (32, 1) (32, 2)
//
// A value that contains commas is separated from the next by a semicolon.

#ifndef KVSIM_TOOLS_SWEEP_GRID_H_
#define KVSIM_TOOLS_SWEEP_GRID_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/replay_flags.h"

namespace kvsim {

class SweepGrid {
 public:
  // Reads "NAME=VALUE,VALUE..." texts. An error names the text: no name, an
  // unknown flag, the same flag twice, an empty value, more than 10^6 points.
  static absl::StatusOr<SweepGrid> Parse(const std::vector<std::string>& texts);

  int64_t size() const { return size_; }
  const std::vector<std::string>& names() const { return names_; }

  // The values of one point, in the order of names().
  std::vector<std::string> Values(int64_t point) const;

  // Sets the point's flags as if they had been typed.
  absl::Status Apply(int64_t point, ReplayFlags* flags) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> values_;
  int64_t size_ = 1;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_SWEEP_GRID_H_
