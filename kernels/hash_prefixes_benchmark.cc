// The host's rate of hash_prefixes, in bytes of token ids; the target is 1 GB/s of
// one core at blocks of 16 tokens.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/hash_prefixes.h"

namespace kvsim {
namespace {

constexpr int64_t kTokens = int64_t{1} << 20;

// kTokens in prompts of equal length.
void BM_HashPrefixes(benchmark::State& state) {
  const int64_t num_prompts = state.range(2);
  const auto block_tokens = static_cast<int32_t>(state.range(1));
  RandomStream random(1, "hash prefixes benchmark");
  std::vector<int32_t> token_ids(kTokens);
  for (int32_t& token : token_ids) {
    token = static_cast<int32_t>(random.Below(200'000));
  }
  std::vector<int64_t> token_starts = {0};
  std::vector<int64_t> key_starts = {0};
  for (int64_t p = 0; p < num_prompts; ++p) {
    token_starts.push_back(token_starts.back() + kTokens / num_prompts);
    key_starts.push_back(key_starts.back() +
                         kTokens / num_prompts / block_tokens);
  }
  const std::vector<uint64_t> salts(static_cast<size_t>(num_prompts), 1);
  HashPrefixesArgs args;
  args.width = state.range(0) == 64 ? KeyWidth::k64Bits : KeyWidth::k128Bits;
  args.block_tokens = block_tokens;
  args.token_ids = token_ids.data();
  args.token_starts = token_starts.data();
  args.salts = salts.data();
  args.num_prompts = num_prompts;
  args.key_starts = key_starts.data();
  std::vector<uint64_t> keys(static_cast<size_t>(key_starts.back()) *
                             static_cast<size_t>(WordsPerKey(args.width)));
  args.keys = keys.data();
  for (auto _ : state) {
    if (!HashPrefixesOnHost(args).ok()) state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
  uint64_t sum = 0;
  for (const uint64_t key : keys) sum = sum * 31 + key;
  state.counters["token_gb_per_s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * kTokens * 4) / 1e9,
      benchmark::Counter::kIsRate);
  state.counters["result"] = static_cast<double>(sum >> 12);
}

BENCHMARK(BM_HashPrefixes)
    ->ArgNames({"bits", "block", "prompts"})
    ->ArgsProduct({{64, 128}, {16, 64, 256}, {1, 64}});

}  // namespace
}  // namespace kvsim
