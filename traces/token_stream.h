// Turns the rows of a trace into token identities, following sessions.
//
// Model:      feed it every row once, in row order; it gives each request's
//             RequestTokens. With continue_sessions it remembers the last turn
//             of each session, so that the next turn repeats that turn's output
//             as an engine would see it. Without, every request stands alone.
// Costs:      O(ids) per row; remembers one RequestTokens per session.
// Ownership:  the results are shared with the caller and with the next turn.
#ifndef KVSIM_TRACES_TOKEN_STREAM_H_
#define KVSIM_TRACES_TOKEN_STREAM_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "traces/partial_tail.h"
#include "traces/request_tokens.h"
#include "traces/trace_request.h"

namespace kvsim {

struct TokenStreamOptions {
  PartialTail partial_tail = PartialTail::kUnique;
  bool continue_sessions = false;
};

class TokenStream {
 public:
  explicit TokenStream(const TokenStreamOptions& options);

  // REQUIRES: rows come in increasing order of id.
  std::shared_ptr<const RequestTokens> Add(const TraceRequest& row);

  // What continue_sessions changed so far; printed beside the results.
  int64_t continued_turns() const { return continued_turns_; }
  int64_t continued_tokens() const { return continued_tokens_; }

 private:
  TokenStreamOptions options_;
  int64_t last_id_ = -1;
  int64_t continued_turns_ = 0;
  int64_t continued_tokens_ = 0;
  // By session: its latest turn.
  absl::flat_hash_map<int64_t, std::shared_ptr<const RequestTokens>> latest_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_TOKEN_STREAM_H_
