// How fast pages are copied, as a ratio to one large memcpy of the same bytes.
//
// Model:      each iteration times a memcpy and the copy, one after the other, over
//             the same memory, touched beforehand; the counter `of_memcpy` is the
//             ratio of their medians: 1 is memcpy's speed. `hash` is of the bytes
//             copied, equal across machines.
//             Each copies KVSIM_COPY_BENCHMARK_MIB (32 by default, which is quick
//             but partly in the caches; 1024 for figures to quote).
#ifndef KVSIM_KERNELS_COPY_BENCHMARK_H_
#define KVSIM_KERNELS_COPY_BENCHMARK_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "base/block_id.h"
#include "base/random.h"

namespace kvsim {

inline int64_t BenchmarkBytes() {
  const char* mib = std::getenv("KVSIM_COPY_BENCHMARK_MIB");
  return (mib == nullptr ? int64_t{32} : std::strtoll(mib, nullptr, 10)) << 20;
}

// Memory that starts at a page, as a pool's does, and whose every word tells its
// place.
class PatternedBytes {
 public:
  explicit PatternedBytes(int64_t size)
      : data_(static_cast<std::byte*>(std::aligned_alloc(
            4096, static_cast<size_t>((size + 4095) / 4096 * 4096)))) {
    auto* words = reinterpret_cast<uint64_t*>(data_);
    for (int64_t i = 0; i < size / 8; ++i) {
      words[i] = static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C15;
    }
  }
  PatternedBytes(const PatternedBytes&) = delete;
  PatternedBytes& operator=(const PatternedBytes&) = delete;
  ~PatternedBytes() { std::free(data_); }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

inline std::vector<BlockId> ShuffledBlocks(int64_t count) {
  std::vector<BlockId> blocks(static_cast<size_t>(count));
  std::iota(blocks.begin(), blocks.end(), BlockId{0});
  RandomStream random(1, "copy benchmark");
  random.Shuffle(std::span<BlockId>(blocks));
  return blocks;
}

template <typename Work>
double SecondsOf(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// `copy` brings `bytes` bytes from the memory at `from` to that at `to`.
template <typename Copy>
void MeasureCopy(benchmark::State& state, void* to, const void* from,
                 int64_t bytes, Copy copy) {
  std::vector<double> memcpy_seconds;
  std::vector<double> copy_seconds;
  for (auto _ : state) {
    memcpy_seconds.push_back(
        SecondsOf([&] { std::memcpy(to, from, static_cast<size_t>(bytes)); }));
    copy_seconds.push_back(SecondsOf(copy));
    state.SetIterationTime(copy_seconds.back());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * bytes);
  state.counters["of_memcpy"] = Median(memcpy_seconds) / Median(copy_seconds);
  uint64_t hash = 0;
  for (int64_t i = 0; i < bytes / 8; ++i) {
    hash = hash * 31 + static_cast<const uint64_t*>(to)[i];
  }
  state.counters["hash"] = static_cast<double>(hash % 1'000'000'007);
}

// Pages of 4 to 256 KiB; five times each.
inline void CopiedPages(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("page_kib")->Arg(4)->Arg(16)->Arg(64)->Arg(256);
  benchmark->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
}

}  // namespace kvsim

#endif  // KVSIM_KERNELS_COPY_BENCHMARK_H_
