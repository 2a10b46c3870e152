// One line of a Mooncake trace.
//
// Format:     {"timestamp": ms, "input_length": tokens, "output_length":
//             tokens, "hash_ids": [id, …]}, one id per 512 tokens, the last one
//             for the block that the prompt only begins: ceil(input_length /
//             512) ids. Dialects add `priority`, `block_size` (tokens per id of
//             this row), `session_id` and `delay` (ms after the session's
//             previous turn).
// Two ways:   DecodeFast knows the usual shape and gives up on anything else,
//             without a message; DecodeChecked reads every legal shape and
//             names all problems. Where the fast way succeeds both give the
//             same row.
// Threads:    one per decoder. Memory: the parser's tape, for the longest line
//             that was read the checked way.
#ifndef KVSIM_TRACES_MOONCAKE_ROW_H_
#define KVSIM_TRACES_MOONCAKE_ROW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/json_line.h"
#include "traces/trace_problem.h"
#include "traces/trace_request.h"

namespace kvsim {

inline constexpr int64_t kMooncakeHashBlock = 512;

// The session that a line names.
struct MooncakeSession {
  bool is_given = false;
  std::string name;  // as written; 5 and "5" are the same
};

class MooncakeRowDecoder {
 public:
  // Both overwrite every field of *row but id, session, turn and previous,
  // which a line alone does not tell, and reuse the memory of its ids. A line
  // that DecodeFast reads names no session.
  // REQUIRES of both: 64 bytes behind the line are readable.
  bool DecodeFast(absl::string_view line, TraceRequest* row);
  // Appends to *problems; the row is good when nothing was appended.
  void DecodeChecked(absl::string_view line, const TraceProblem& place,
                     TraceRequest* row, MooncakeSession* session,
                     std::vector<TraceProblem>* problems);

 private:
  JsonLineParser parser_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_MOONCAKE_ROW_H_
