// Reads the fields of CSV records by the names of their columns.
//
// Model:      a header, then records of as many fields. A reader asks for each
//             column it knows; a value that does not fit becomes a TraceProblem
//             with the column's name, and the reader goes on, so that one pass
//             finds all problems of a line. Other columns are ignored.
// Numbers:    exact: no floating point between the file and the row.
#ifndef KVSIM_TRACES_CSV_TABLE_H_
#define KVSIM_TRACES_CSV_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/trace_problem.h"

namespace kvsim {

class CsvTable {
 public:
  // Takes the names of the columns. Problems: a name twice, a missing one.
  void ReadHeader(absl::string_view line,
                  const std::vector<std::string>& required,
                  const TraceProblem& place,
                  std::vector<TraceProblem>* problems);
  bool HasColumn(absl::string_view column) const;

  // Makes `line` the current record. False, with a problem, when it is no
  // record of this table.
  bool ReadRecord(absl::string_view line, const TraceProblem& place,
                  std::vector<TraceProblem>* problems);

  // Of the current record. REQUIRES: the last ReadRecord was true.
  // Nothing when the table lacks the column or the field is empty.
  std::optional<absl::string_view> Text(absl::string_view column) const;
  // An integer in [min, max]; a problem and `min` otherwise.
  int64_t Integer(absl::string_view column, int64_t min, int64_t max,
                  absl::string_view accepted);
  // Seconds as digits with a point, to the nearest nanosecond; a problem and 0
  // otherwise.
  int64_t Seconds(absl::string_view column);
  // The same, 0 when the field is missing or empty.
  int64_t OptionalSeconds(absl::string_view column);
  void AddProblem(absl::string_view column, absl::string_view accepted);

 private:
  std::vector<std::string> columns_;
  std::vector<std::string> fields_;
  TraceProblem place_;
  std::vector<TraceProblem>* problems_ = nullptr;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_CSV_TABLE_H_
