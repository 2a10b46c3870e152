// The results of a sweep in an SQLite database.
//
// Model:      one row a point, by number. While a sweep runs its rows go to
//             PATH.partial, each in a transaction of its own: whatever kills the
//             process loses only the points that were being computed. A sweep
//             with the same signature goes on from there; when all points are
//             in, they are written to PATH in order, so that its bytes do not
//             depend on how often the work was interrupted or on how many cores
//             did it.
// Tables:     points(point INTEGER, every varied flag TEXT, error TEXT, every
//             figure INTEGER or REAL; figures are NULL where error is not);
//             sweep(name TEXT, value TEXT), what the points have in common.
// Threads:    one at a time.
// Errors:     name the file and what SQLite said.

#ifndef KVSIM_TOOLS_SWEEP_STORE_H_
#define KVSIM_TOOLS_SWEEP_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;

namespace kvsim {

// One point, its figures as text (tools/report_columns.h).
struct SweepRow {
  std::vector<std::string> values;   // of the varied flags
  std::string error;                 // empty: figures are there
  std::vector<std::string> figures;  // empty after an error
};

struct SweepSchema {
  std::vector<std::string> varied;                    // names of flags
  std::vector<std::pair<std::string, bool>> figures;  // name, whole number
  // What makes two sweeps the same, in order.
  std::vector<std::pair<std::string, std::string>> signature;
};

class SweepStore {
 public:
  // Opens PATH.partial, or makes it. InvalidArgument when it belongs to a sweep
  // with another signature, or when PATH itself is already there.
  static absl::StatusOr<std::unique_ptr<SweepStore>> Open(
      const std::string& path, const SweepSchema& schema);
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  // The points computed so far, by number.
  const std::map<int64_t, SweepRow>& rows() const { return rows_; }

  absl::Status Put(int64_t point, SweepRow row);

  // Writes PATH and removes PATH.partial.
  absl::Status Finish();

 private:
  SweepStore(std::string path, const SweepSchema& schema)
      : path_(std::move(path)), schema_(schema) {}

  absl::Status Load();

  const std::string path_;
  const SweepSchema schema_;
  sqlite3* partial_ = nullptr;
  std::map<int64_t, SweepRow> rows_;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_SWEEP_STORE_H_
