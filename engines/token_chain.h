// A key chain over written-out tokens, for tests.
//
// Model:      tokens are plain numbers; equal numbers are equal tokens, whoever
//             computed them, so a prompt may repeat another request's outputs. A
//             naive engine reads tokens() and needs no key at all.
// Costs:      every key is computed at construction.
#ifndef KVSIM_ENGINES_TOKEN_CHAIN_H_
#define KVSIM_ENGINES_TOKEN_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/key_chain.h"

namespace kvsim {

class TokenChain final : public KeyChain {
 public:
  // `tokens` holds the prompt and every output that the request may give.
  TokenChain(std::vector<int64_t> tokens, int64_t block_size)
      : tokens_(std::move(tokens)) {
    const size_t size = static_cast<size_t>(block_size);
    uint64_t key = size;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      key = Mixed(key ^ Mixed(static_cast<uint64_t>(tokens_[i])));
      if ((i + 1) % size == 0) keys_.push_back(key);
    }
  }

  std::span<const uint64_t> Prefix(int64_t num_blocks) override {
    KVSIM_CHECK(num_blocks <= static_cast<int64_t>(keys_.size()));
    return std::span<const uint64_t>(keys_).first(
        static_cast<size_t>(num_blocks));
  }
  const std::vector<int64_t>& tokens() const { return tokens_; }

 private:
  // A bijection with full avalanche (SplitMix64).
  static uint64_t Mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  const std::vector<int64_t> tokens_;
  std::vector<uint64_t> keys_;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_TOKEN_CHAIN_H_
