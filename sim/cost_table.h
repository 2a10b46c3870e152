// What page operations cost on a machine, as `kvsim paging calibrate` measured it.
//
// Model:      an operation takes launch_ns for each call and bytes / bandwidth beyond;
//             the bandwidth depends on the unit that moves in one piece (a page of
//             one layer, a row, a state). Between two measured units it is
//             interpolated in the logarithm of the unit; outside it is the nearest
//             one's.
// Units:      bytes moved count once (a copy of 1 MiB is 1 MiB), nanoseconds.
// Errors:     InvalidArgument naming the file and the field, and what is accepted.
// Source:     the file's format is in docs/kernels.md.
#ifndef KVSIM_SIM_COST_TABLE_H_
#define KVSIM_SIM_COST_TABLE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kvsim {

// The operations that a step of an engine performs on its cache.
enum class PagingPart : uint8_t {
  kBlockTables,  // entries sent to the device
  kSlotMapping,  // tokens mapped to slots
  kWriteTokens,  // new rows
  kCopyBlocks,   // copy on write, forks
  kSwapOut,      // to host memory
  kSwapIn,       // and back
  kCopyStates,   // recurrent states to their next block
};
inline constexpr int kNumPagingParts = 7;
// "block_tables", "slot_mapping", … as the file and the report name them.
const char* PagingPartName(PagingPart part);

struct CostPoint {
  int64_t unit_bytes = 0;
  int64_t launch_ns = 0;
  double bytes_per_second = 0;

  friend bool operator==(const CostPoint&, const CostPoint&) = default;
};

class CostTable {
 public:
  static absl::StatusOr<CostTable> Read(const std::string& path);
  // The same from a file's text; `path` names it in errors.
  static absl::StatusOr<CostTable> Parse(const std::string& text,
                                         const std::string& path);

  // Where and with what it was measured, in words.
  const std::string& measured_on() const { return measured_on_; }
  // Whether the file is a measurement of a GPU.
  const std::string& backend() const { return backend_; }

  double BytesPerSecond(PagingPart part, int64_t unit_bytes) const;
  // REQUIRES: launches, bytes >= 0, unit_bytes > 0.
  int64_t Ns(PagingPart part, int64_t launches, int64_t bytes,
             int64_t unit_bytes) const;

 private:
  std::string measured_on_, backend_;
  std::array<std::vector<CostPoint>, kNumPagingParts> points_;  // by unit
};

}  // namespace kvsim

#endif  // KVSIM_SIM_COST_TABLE_H_
