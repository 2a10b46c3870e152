// Patterns of log messages and the facts they give.
//
// Model:   a pattern is text with gaps: `{#}` a number (sign, commas between
//          thousands and decimals as they come), `{w}` the shortest text up to
//          what follows, `{?text}` text that may be missing. A blank stands for
//          any number of blanks, none included. What stands before the first
//          gap is searched for anywhere in a message, so that prefixes do not
//          matter; `{w}` at the end of a pattern takes a word.
//          A pattern that is matched several times in one message gives its
//          facts each time.
// Costs:   one look at the index of a message for each pattern, and a search of
//          the substring where that does not rule it out.

#ifndef KVSIM_ENGINES_LINE_PATTERN_H_
#define KVSIM_ENGINES_LINE_PATTERN_H_

#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "engines/log_lines.h"
#include "engines/startup_log.h"

namespace kvsim {

struct PatternMatch {
  size_t begin = 0;               // of the first character matched
  size_t end = 0;                 // behind the last one
  std::vector<std::string> gaps;  // without optional ones
};

// The first match at or behind `from`; false when there is none.
bool MatchPattern(absl::string_view pattern, absl::string_view text,
                  size_t from, PatternMatch* match);

// A pattern and the names of its gaps' facts, separated by blanks: "-" drops a
// gap, "@name" is a fact of the rank that the message's prefix names.
struct LinePattern {
  absl::string_view pattern;
  absl::string_view names;
  bool first_counts = false;  // a later match changes nothing
};

// Calls `found` for every match of `pattern` in the message.
void ForEachMatch(
    absl::string_view pattern, const LogMessage& message,
    absl::FunctionRef<void(const PatternMatch&, int64_t line)> found);

// Puts the facts of every match of every pattern into *log.
void ReadPatterns(std::span<const LinePattern> patterns,
                  const LogMessage& message, absl::string_view rank,
                  StartupLog* log);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_LINE_PATTERN_H_
