// Prompts of the golden allocator traces: slices of one stream of tokens P, whose
// equal slices share a prefix, and tokens that no other prompt has.
#ifndef KVSIM_ENGINES_VLLM_TOKEN_STREAM_FOR_TEST_H_
#define KVSIM_ENGINES_VLLM_TOKEN_STREAM_FOR_TEST_H_

#include <cstdint>
#include <vector>

namespace kvsim::vllm {

using TokenList = std::vector<int64_t>;

// The first n tokens of the stream P.
inline TokenList P(int64_t n) {
  TokenList tokens;
  for (int64_t i = 0; i < n; ++i) tokens.push_back(i);
  return tokens;
}

// n tokens that no other prompt has; `who` tells such prompts apart.
inline TokenList Others(int64_t n, int64_t who) {
  TokenList tokens;
  for (int64_t i = 0; i < n; ++i) tokens.push_back(100'000 * (who + 1) + i);
  return tokens;
}

inline TokenList operator+(TokenList a, const TokenList& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_TOKEN_STREAM_FOR_TEST_H_
