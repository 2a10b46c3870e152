// What every token of one request is: its identity, not its text.
//
// Model:      token p of the prompt is (scope, id[p / h], p mod h) inside a
// full
//             hash block of h tokens, else (request, p); a generated token is
//             (request, p). With PartialTail::kShared the tail of the prompt
//             belongs to its partial last id. A turn that continues an earlier
//             one takes over that turn's identities, output included.
//             Stored as a list of segments, each with one source; positions
//             behind the prompt are generated tokens without end.
// Invariants: (1) segments are in order, start at 0, and the last one never
// ends;
//             (2) two neighbouring segments never continue the same source:
//             equal
//                 tokens have equal run lists.
// Costs:      O(ids) memory; a plain request has two segments.
// Ownership:  copies what it needs; keeps no pointer to the row or to the
//             previous turn.
// Source:     the rule "token identity and re-chunking" in docs/traces.md.
#ifndef KVSIM_TRACES_REQUEST_TOKENS_H_
#define KVSIM_TRACES_REQUEST_TOKENS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "traces/partial_tail.h"
#include "traces/trace_request.h"

namespace kvsim {

class RequestTokens {
 public:
  enum class Source : uint8_t {
    kOwnIds,     // (scope, id of the own row at p / h, p mod h)
    kForeignId,  // (scope, value, p mod h): a previous turn's partial last id
    kRequest,    // (request number value, p)
  };
  struct Segment {
    int64_t begin = 0;
    Source source = Source::kRequest;
    uint64_t value = 0;
  };
  static constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

  // A request that continues nothing.
  RequestTokens(const TraceRequest& row, PartialTail partial_tail);

  // The next turn of `previous`. Where both name the same full blocks from the
  // start, this turn takes the previous turn's identities; when it repeats all
  // of them and is long enough to hold the previous prompt and output, also
  // those of the previous tail and output. REQUIRES: the same scope and hash
  // block.
  RequestTokens(const TraceRequest& row, PartialTail partial_tail,
                const RequestTokens& previous);

  // A sequence with the tokens of `parent` before `begin` and its own from there on.
  // REQUIRES: begin > 0; `name` is no row's number and no other sequence's.
  RequestTokens(const RequestTokens& parent, int64_t begin, uint64_t name);

  int64_t request() const { return request_; }
  int64_t input_length() const { return input_length_; }
  int64_t output_length() const { return output_length_; }
  int64_t hash_block() const { return hash_block_; }
  uint64_t scope() const { return scope_; }
  const std::vector<uint64_t>& ids() const { return ids_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // One behind the segment's last token; kEndless for the last one.
  // REQUIRES: segment is an element of segments().
  int64_t SegmentEnd(const Segment& segment) const;

  // Positions whose identity was taken from the previous turn's tail and
  // output; 0 when nothing was continued.
  int64_t continued_tokens() const { return continued_tokens_; }

  void CheckInvariants() const;

 private:
  void Append(int64_t begin, Source source, uint64_t value);
  void AppendOwn(int64_t begin, PartialTail partial_tail);
  int64_t Inherit(const RequestTokens& previous);

  int64_t request_;
  int64_t input_length_;
  int64_t output_length_;
  int64_t hash_block_;
  int64_t full_blocks_;
  uint64_t scope_;
  int64_t continued_tokens_ = 0;
  std::vector<uint64_t> ids_;
  std::vector<Segment> segments_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_REQUEST_TOKENS_H_
