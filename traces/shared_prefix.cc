#include "traces/shared_prefix.h"

#include <algorithm>
#include <cstddef>

namespace kvsim {
namespace {

// Tokens of one source from a position on.
struct Run {
  bool of_request = false;
  uint64_t scope = 0;  // of ids
  uint64_t value = 0;  // the request or the id
  int64_t first = 0;   // of the run's tokens within its source
  int64_t end = 0;     // one behind its last position

  bool SameTokens(const Run& other) const {
    return of_request == other.of_request && scope == other.scope &&
           value == other.value && first == other.first;
  }
};

// Walks a request's runs in order of position.
class RunWalker {
 public:
  explicit RunWalker(const RequestTokens& tokens) : tokens_(tokens) {}

  // REQUIRES: positions do not decrease from call to call.
  Run At(int64_t position) {
    const auto& segments = tokens_.segments();
    while (tokens_.SegmentEnd(segments[segment_]) <= position) ++segment_;
    const RequestTokens::Segment& segment = segments[segment_];
    const int64_t end = tokens_.SegmentEnd(segment);
    if (segment.source == RequestTokens::Source::kRequest) {
      return {true, 0, segment.value, position, end};
    }
    const int64_t block = tokens_.hash_block();
    const int64_t index = position / block;
    const bool own = segment.source == RequestTokens::Source::kOwnIds;
    return {false, tokens_.scope(),
            own ? tokens_.ids()[static_cast<size_t>(index)] : segment.value,
            position - index * block, std::min(end, (index + 1) * block)};
  }

 private:
  const RequestTokens& tokens_;
  size_t segment_ = 0;
};

}  // namespace

int64_t SharedPrefix(const RequestTokens& a, const RequestTokens& b,
                     int64_t limit) {
  RunWalker runs_a(a), runs_b(b);
  int64_t position = 0;
  while (position < limit) {
    const Run in_a = runs_a.At(position);
    const Run in_b = runs_b.At(position);
    if (!in_a.SameTokens(in_b)) break;
    position = std::min(in_a.end, in_b.end);
  }
  return std::min(position, limit);
}

}  // namespace kvsim
