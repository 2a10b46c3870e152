// Cuts one line of comma-separated values, strictly.
//
// Format:     RFC 4180 with a record per line: fields are separated by commas;
//             a field that begins with a quote ends at the next lone quote, and
//             "" inside it is one quote. No white space is dropped.
// Refused:    a quote inside an unquoted field, text behind a closing quote, a
//             quote that does not close on its line.
#ifndef KVSIM_TRACES_CSV_LINE_H_
#define KVSIM_TRACES_CSV_LINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kvsim {

// Overwrites *fields; `line` has no line end. An error says which field is
// wrong and what would be accepted. The empty line is one empty field.
absl::Status SplitCsvLine(absl::string_view line,
                          std::vector<std::string>* fields);

}  // namespace kvsim

#endif  // KVSIM_TRACES_CSV_LINE_H_
