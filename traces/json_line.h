// One line of a JSON Lines file as an object.
//
// Threads:    one per parser. Memory: the parser's tape, for the longest line.
#ifndef KVSIM_TRACES_JSON_LINE_H_
#define KVSIM_TRACES_JSON_LINE_H_

#include <simdjson.h>

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/trace_problem.h"

namespace kvsim {

class JsonLineParser {
 public:
  // The line's value, or nothing and a problem that says what is damaged.
  // Valid until the next call. REQUIRES: 64 bytes behind the line are readable.
  std::optional<simdjson::dom::element> ParseValue(
      absl::string_view line, const TraceProblem& place,
      std::vector<TraceProblem>* problems);

  // The same for a line that must be an object.
  std::optional<simdjson::dom::object> Parse(
      absl::string_view line, const TraceProblem& place,
      std::vector<TraceProblem>* problems);

 private:
  simdjson::dom::parser parser_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_JSON_LINE_H_
