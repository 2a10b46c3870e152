// Block references per second of the hit-only mode with LRU, parsing excluded.
//
// Conversation: rows of the shape of the Mooncake conversation trace at block
// 16, with mixed 64-bit keys, made by a fixed seed. With KVSIM_SHARED the real
// trace of 9,044,013 references runs too. Argument: blocks of the cache.
//
// Counters: refs_s     references per second of processor time, one core
//           x_map      the same work by a list and a hash map, over this time:
//                      how many times faster the flat cache is
//           bytes      memory per block, index included
//           hits       blocks hit by the whole trace, the last token's included
//           x_runs     MissRatio: ten runs at ten sizes, over one curve
//           result     hash of every row's hits, equal on every machine

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <list>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "allocator/key_rows.h"
#include "allocator/lru_cache.h"
#include "base/check.h"
#include "base/random.h"
#include "sim/hits.h"
#include "sim/miss_ratio_curve.h"

namespace kvsim {
namespace {

constexpr int64_t kRows = 3000;
constexpr int64_t kRowsOfTheMap = 1500;  // the map is slow; a part is enough

// Half of the rows continue a prefix of one of the last 64.
KeyRows MadeConversation() {
  RandomStream random(1, "hits");
  KeyRows rows;
  for (int64_t i = 0; i < kRows; ++i) {
    std::vector<uint64_t> row;
    const int64_t blocks =
        std::clamp<int64_t>(random.LogNormal(440, 1.0), 60, 7'900);
    if (i > 0 && random.Chance(0.5)) {
      const auto other = rows[i - random.Between(1, std::min<int64_t>(i, 64))];
      const auto shared = std::min<int64_t>(
          blocks, random.Between(1, static_cast<int64_t>(other.size())));
      row.assign(other.begin(), other.begin() + shared);
    }
    while (static_cast<int64_t>(row.size()) < blocks) {
      row.push_back(random.Next());
    }
    rows.Append(row);
  }
  return rows;
}

// What a first version would be.
class MapLru {
 public:
  explicit MapLru(size_t capacity) : capacity_(capacity) {}
  int64_t Access(std::span<const uint64_t> row) {
    size_t hits = 0;
    while (hits < row.size() && places_.count(row[hits]) > 0) ++hits;
    for (size_t i = row.size(); i-- > 0;) Touch(row[i]);
    return static_cast<int64_t>(hits);
  }

 private:
  void Touch(uint64_t key) {
    const auto it = places_.find(key);
    if (it != places_.end()) {
      order_.splice(order_.end(), order_, it->second);
      return;
    }
    if (places_.size() == capacity_) {
      places_.erase(order_.front());
      order_.pop_front();
    }
    places_[key] = order_.insert(order_.end(), key);
  }
  size_t capacity_;
  std::list<uint64_t> order_;
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> places_;
};

struct Outcome {
  uint64_t hash = 0;
  int64_t hits = 0;
  int64_t references = 0;
};

template <typename Cache>
Outcome Run(Cache& cache, const KeyRows& rows, int64_t num_rows) {
  Outcome outcome;
  for (int64_t r = 0; r < num_rows; ++r) {
    const auto row = rows[r];
    const int64_t hits = cache.Access(row);
    outcome.hits += hits;
    outcome.references += static_cast<int64_t>(row.size());
    outcome.hash =
        (outcome.hash ^ static_cast<uint64_t>(hits)) * 0x9E3779B97F4A7C15u;
  }
  return outcome;
}

// Of this process's own time: a busy neighbour does not count.
double NsPerReference(std::clock_t start, int64_t references) {
  const double seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return 1e9 * seconds / static_cast<double>(references);
}

double MapNs(const KeyRows& rows, int64_t capacity) {
  MapLru cache(static_cast<size_t>(capacity));
  const std::clock_t start = std::clock();
  const Outcome outcome =
      Run(cache, rows, std::min(rows.size(), kRowsOfTheMap));
  return NsPerReference(start, outcome.references);
}

void Measure(benchmark::State& state, const KeyRows& rows) {
  const int64_t capacity = state.range(0);
  Outcome outcome;
  int64_t references = 0;
  int64_t bytes = 0;
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    LruCache cache(capacity);
    outcome = Run(cache, rows, rows.size());
    references += outcome.references;
    bytes = cache.MemoryBytes();
  }
  const double ns = NsPerReference(start, references);
  state.SetItemsProcessed(references);
  state.counters["refs_s"] = 1e9 / ns;
  state.counters["x_map"] = MapNs(rows, capacity) / ns;
  state.counters["bytes"] =
      static_cast<double>(bytes) / static_cast<double>(capacity);
  state.counters["hits"] = static_cast<double>(outcome.hits);
  state.counters["result"] = static_cast<double>(outcome.hash >> 32);
}

void BM_LruConversation(benchmark::State& state) {
  static const KeyRows* const rows = new KeyRows(MadeConversation());
  Measure(state, *rows);
}
BENCHMARK(BM_LruConversation)
    ->Arg(32'771)
    ->Arg(131'077)
    ->Arg(1'048'583)
    ->Unit(benchmark::kMillisecond);

const HitTrace* RealTrace(const std::string& shared) {
  auto reader =
      OpenTrace(shared + "/traces/mooncake_conversation.jsonl", TraceOptions());
  KVSIM_CHECK(reader.ok()) << reader.status();
  auto trace = HitTrace::Read(reader->get(), {}, 16);
  KVSIM_CHECK(trace.ok()) << trace.status();
  return new HitTrace(*std::move(trace));
}

void BM_LruRealTrace(benchmark::State& state) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) {
    state.SkipWithError("KVSIM_SHARED is not set");
    return;
  }
  static const HitTrace* const trace = RealTrace(shared);
  Measure(state, trace->keys());
}
BENCHMARK(BM_LruRealTrace)
    ->Arg(32'771)
    ->Arg(131'077)
    ->Arg(1'048'583)
    ->Unit(benchmark::kMillisecond);

// The curve of all sizes against ten runs at ten sizes.
void BM_MissRatioRealTrace(benchmark::State& state) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) {
    state.SkipWithError("KVSIM_SHARED is not set");
    return;
  }
  static const HitTrace* const trace = RealTrace(shared);
  const auto references = static_cast<int64_t>(trace->keys().keys.size());
  int64_t curves = 0;
  uint64_t hash = 0;
  std::clock_t start = std::clock();
  for (auto _ : state) {
    const MissRatioCurve curve(*trace, 1.0);
    hash = 0;
    for (const int64_t blocks : curve.Knots()) {
      hash = (hash ^ static_cast<uint64_t>(curve.At(blocks).hit_tokens)) *
             0x9E3779B97F4A7C15u;
    }
    ++curves;
  }
  const double ns = NsPerReference(start, curves * references);
  start = std::clock();
  for (int64_t blocks = 4096; blocks <= 4096 << 9; blocks *= 2) {
    LruCache cache(blocks);
    benchmark::DoNotOptimize(trace->Replay(cache, 1.0));
  }
  state.SetItemsProcessed(curves * references);
  state.counters["x_runs"] = NsPerReference(start, references) / ns;
  state.counters["result"] = static_cast<double>(hash >> 32);
}
BENCHMARK(BM_MissRatioRealTrace)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvsim
