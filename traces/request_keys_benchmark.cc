// Chain keys of whole prompts, per key.
//
// Rows:     1,200 prompts of 12,035 tokens, the mean of the Mooncake
//           conversation trace, with ids of 512 tokens. Argument: block size;
//           16 and 64 divide the hash block (one mix per block), 48 and 528 do
//           not.
// Counters: key_ns  time per key
//           x_mix   that, over one dependent mix of 64 bits in the same run
//           result  hash of all last keys

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "traces/request_keys.h"
#include "traces/request_tokens.h"

namespace kvsim {
namespace {

constexpr int kRows = 1200;
constexpr int64_t kInput = 12'035;
constexpr int64_t kHashBlock = 512;

std::vector<RequestTokens> MadeTokens() {
  std::vector<RequestTokens> tokens;
  for (int64_t i = 0; i < kRows; ++i) {
    TraceRequest row;
    row.id = i;
    row.input_length = kInput;
    row.hash_block = kHashBlock;
    for (int64_t at = 0; at < kInput; at += kHashBlock) {
      row.hash_ids.push_back(static_cast<uint64_t>(i * 1000 + at));
    }
    tokens.emplace_back(row, PartialTail::kUnique);
  }
  return tokens;
}

// Seconds of `count` steps, each needing the one before: SplitMix64's
// finaliser.
double MixFloor(int64_t count) {
  uint64_t x = 1;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
  }
  benchmark::DoNotOptimize(x);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  return took.count();
}

void PromptKeys(benchmark::State& state) {
  const int64_t block = state.range(0);
  const int64_t blocks = kInput / block;
  const std::vector<RequestTokens> tokens = MadeTokens();
  uint64_t result = 0;
  double seconds = 0;
  double floor_seconds = 0;
  for (auto _ : state) {
    result = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const RequestTokens& request : tokens) {
      RequestKeys keys(&request, block);
      result = result * 31 + keys.Prefix(blocks).back();
    }
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    seconds += took.count();
    floor_seconds += MixFloor(kRows * blocks);
  }
  const auto keys = static_cast<double>(state.iterations()) * kRows *
                    static_cast<double>(blocks);
  state.SetItemsProcessed(static_cast<int64_t>(keys));
  state.counters["key_ns"] = seconds / keys * 1e9;
  state.counters["x_mix"] = seconds / floor_seconds;
  state.counters["result"] = static_cast<double>(result >> 12);
}
BENCHMARK(PromptKeys)
    ->Arg(16)
    ->Arg(64)
    ->Arg(48)
    ->Arg(528)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvsim
