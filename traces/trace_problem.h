// One thing that is wrong with a trace, with its place.
#ifndef KVSIM_TRACES_TRACE_PROBLEM_H_
#define KVSIM_TRACES_TRACE_PROBLEM_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct TraceProblem {
  std::string file;
  int64_t line = 0;      // from 1; 0: the file as a whole
  std::string field;     // "hash_ids", "requests[3].in"; empty: the whole row
  std::string found;     // the value, cut to a readable length
  std::string accepted;  // what would be accepted

  // "FILE:LINE: field `F`: found V; accepted: A"
  std::string ToString() const;
  // InvalidArgument with that text.
  absl::Status ToStatus() const;
};

// A piece of input as a message may quote it: in quotes, bytes that do not
// print as escapes, cut with a note of the whole size.
std::string Excerpt(absl::string_view text, size_t max_chars = 60);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_PROBLEM_H_
