// The token identity rule, token by token: the reference that RequestTokens and
// RequestKeys are compared with. Slow, obvious, for tests only.
#ifndef KVSIM_TRACES_NAIVE_TOKENS_H_
#define KVSIM_TRACES_NAIVE_TOKENS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "traces/partial_tail.h"
#include "traces/trace_request.h"

namespace kvsim {

struct NaiveIdentity {
  bool from_id = false;  // (scope, id, offset), else (request, position)
  uint64_t scope = 0;
  uint64_t name = 0;   // the id or the request
  int64_t offset = 0;  // in the hash block, or the position

  friend auto operator<=>(const NaiveIdentity&, const NaiveIdentity&) = default;
};

// The first num_tokens tokens of `row`, prompt and generated, as its own row
// names them.
inline std::vector<NaiveIdentity> NaiveTokens(const TraceRequest& row,
                                              PartialTail partial_tail,
                                              int64_t num_tokens) {
  std::vector<NaiveIdentity> tokens;
  for (int64_t p = 0; p < num_tokens; ++p) {
    NaiveIdentity token{false, 0, static_cast<uint64_t>(row.id), p};
    if (p < row.input_length && row.hash_block > 0) {
      const int64_t block = p / row.hash_block;
      const bool named = block < static_cast<int64_t>(row.hash_ids.size());
      const bool full = (block + 1) * row.hash_block <= row.input_length;
      if (named && (full || partial_tail == PartialTail::kShared)) {
        token = {true, row.scope, row.hash_ids[static_cast<size_t>(block)],
                 p % row.hash_block};
      }
    }
    tokens.push_back(token);
  }
  return tokens;
}

// The same for a turn that continues `previous_row`, whose tokens (as many as
// its prompt and output) are `previous`.
inline std::vector<NaiveIdentity> NaiveContinuedTokens(
    const TraceRequest& row, PartialTail partial_tail, int64_t num_tokens,
    const TraceRequest& previous_row,
    const std::vector<NaiveIdentity>& previous) {
  std::vector<NaiveIdentity> tokens =
      NaiveTokens(row, partial_tail, num_tokens);
  int64_t blocks = 0;  // full blocks that both name, and name alike
  while (blocks < row.full_hash_blocks() &&
         blocks < previous_row.full_hash_blocks() &&
         row.hash_ids[blocks] == previous_row.hash_ids[blocks]) {
    ++blocks;
  }
  int64_t taken = blocks * row.hash_block;
  const int64_t whole = previous_row.input_length + previous_row.output_length;
  if (blocks == previous_row.full_hash_blocks() && row.input_length >= whole) {
    taken = whole;
  }
  for (int64_t p = 0; p < taken && p < num_tokens; ++p) {
    tokens[p] = previous[p];
  }
  return tokens;
}

// Numbers every distinct prefix of whole blocks, so that two requests' prefixes
// are equal exactly when their numbers are.
class NaivePrefixes {
 public:
  std::vector<int64_t> Numbers(const std::vector<NaiveIdentity>& tokens,
                               int64_t block_tokens) {
    std::vector<int64_t> numbers;
    int64_t parent = -1;
    for (size_t begin = 0; begin + block_tokens <= tokens.size();
         begin += block_tokens) {
      std::vector<NaiveIdentity> block(tokens.begin() + begin,
                                       tokens.begin() + begin + block_tokens);
      const auto next = static_cast<int64_t>(numbers_.size());
      parent = numbers_.emplace(std::pair(parent, std::move(block)), next)
                   .first->second;
      numbers.push_back(parent);
    }
    return numbers;
  }

 private:
  std::map<std::pair<int64_t, std::vector<NaiveIdentity>>, int64_t> numbers_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_NAIVE_TOKENS_H_
