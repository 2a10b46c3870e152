// What a draw costs. The ratio to Next() is the figure to quote.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "base/random.h"

namespace kvsim {
namespace {

// Runs `draw` on a fresh stream. The counter is a hash of the first thousand
// draws: equal across machines, whatever their speed.
template <typename Draw>
void MeasureDraw(benchmark::State& state, Draw draw) {
  RandomStream stream(1, "benchmark");
  for (auto _ : state) benchmark::DoNotOptimize(draw(stream));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));

  RandomStream again(1, "benchmark");
  uint64_t hash = 0;
  for (int i = 0; i < 1000; ++i) {
    hash = hash * 31 + static_cast<uint64_t>(draw(again));
  }
  state.counters["hash"] = static_cast<double>(hash % 1'000'000'007);
}

void BM_Next(benchmark::State& state) {
  MeasureDraw(state, [](RandomStream& stream) { return stream.Next(); });
}
BENCHMARK(BM_Next);

void BM_Below(benchmark::State& state) {
  MeasureDraw(state, [](RandomStream& stream) { return stream.Below(1000); });
}
BENCHMARK(BM_Below);

void BM_ExponentialTime(benchmark::State& state) {
  MeasureDraw(state, [](RandomStream& stream) {
    return stream.ExponentialTime(Seconds(1)).value();
  });
}
BENCHMARK(BM_ExponentialTime);

void BM_LogNormal(benchmark::State& state) {
  MeasureDraw(state,
              [](RandomStream& stream) { return stream.LogNormal(1000, 1.0); });
}
BENCHMARK(BM_LogNormal);

}  // namespace
}  // namespace kvsim
