// A whole replay: scheduler, cache, ledger and report, per block allocation.
//
// Conversation: rows of the shape of the Mooncake conversation trace (log-normal
// prompts of mean 12,000 tokens, one 512-token block in three shared with an
// earlier row), made by a fixed seed. With KVSIM_SHARED the real trace of 12,031
// rows runs too. Pool: 38,000 blocks of 16 tokens, full attention, synchronous,
// 8,192 tokens and 256 sequences a step. `report` 1: metrics and ledger of every
// step, as `kvsim replay` collects them; 0: decisions only.
//
// Recorded runs: the first 10,000 rows of the real trace under settings that vLLM's
// own scheduler was driven with; the first two runs' summaries are checked, of the
// third only the original's time is known.
//
// Counters: x_original  the original's time over this one's
//           alloc_ns  time per block allocation
//           x_floor   that, over a bare pool doing the same allocations: pop a
//                     block, drop its key, give it a new one, release it
//           result    hash of steps, allocations, evictions, hits and clock

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocator/block_pool.h"
#include "base/check.h"
#include "base/random.h"
#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/pool_metrics.h"
#include "sim/request_metrics.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

constexpr int64_t kPool = 38'000;
constexpr int64_t kStepNs = 20'000'000;
constexpr int64_t kHashBlock = 512;

std::vector<TraceRequest> MadeConversation(int64_t rows) {
  RandomStream random(1, "conversation");
  std::vector<TraceRequest> trace;
  uint64_t next_id = 0;
  SimTime now(0);
  for (int64_t i = 0; i < rows; ++i) {
    TraceRequest row;
    now += random.ExponentialTime(SimTime(294'000'000));  // 3.4 a second
    row.arrival_ns = now.value();
    row.input_length =
        std::clamp<int64_t>(random.LogNormal(7000, 1.0), 900, 126'000);
    row.output_length = random.Between(1, 680);
    row.hash_block = kHashBlock;
    const int64_t blocks = (row.input_length + kHashBlock - 1) / kHashBlock;
    if (!trace.empty() && random.Chance(0.5)) {
      const auto& other =
          trace[trace.size() - 1 -
                random.Below(std::min<size_t>(trace.size(), 64))]
              .hash_ids;
      const auto shared = static_cast<std::ptrdiff_t>(std::min<int64_t>(
          blocks - 1, random.Between(1, static_cast<int64_t>(other.size()))));
      row.hash_ids.assign(other.begin(), other.begin() + shared);
    }
    while (static_cast<int64_t>(row.hash_ids.size()) < blocks) {
      row.hash_ids.push_back(next_id++);
    }
    trace.push_back(std::move(row));
  }
  return trace;
}

std::vector<TraceRequest> ReadTrace(const std::string& path) {
  std::vector<TraceRequest> rows;
  auto reader = OpenTrace(path, TraceOptions());
  KVSIM_CHECK(reader.ok()) << reader.status();
  TraceRequest row;
  for (auto more = (*reader)->Next(&row);; more = (*reader)->Next(&row)) {
    KVSIM_CHECK(more.ok()) << more.status();
    if (!*more) return rows;
    rows.push_back(row);
  }
}

struct Outcome {
  EngineCounts counts;
  int64_t steps = 0, now_ns = 0, hit_tokens = 0;
};

vllm::Settings BaseSettings() {
  vllm::Settings settings;
  settings.num_gpu_blocks = kPool;
  settings.max_num_batched_tokens = 8192;
  settings.max_num_seqs = 256;
  settings.max_model_len = 163'840;
  return settings;
}

Outcome Replay(const vllm::Settings& settings,
               const std::vector<TraceRequest>& rows, bool report) {
  auto engine = vllm::VllmEngine::Create(settings);
  KVSIM_CHECK(engine.ok());
  VectorTraceReader trace(rows);
  FixedCost cost(kStepNs);
  SimulatorOptions options;
  options.block_tokens = (*engine)->cache().units().hash_tokens;
  options.max_model_len = settings.max_model_len;
  Simulator simulator(engine->get(), &cost, options);
  RequestMetrics requests{Slo()};
  PoolMetrics pool;
  if (report) {
    simulator.AddObserver(&requests);
    simulator.AddObserver(&pool);
  }
  KVSIM_CHECK(simulator.Run(&trace).ok());
  return {(*engine)->Counts(), simulator.steps(), simulator.now_ns(),
          report ? requests.Summary().hit_tokens : 0};
}

// Nanoseconds of a bare pool per block, prompts of `blocks` at a time.
double FloorNs(int64_t allocations, int64_t blocks) {
  BlockPool pool(kPool, true, FreeOrder::kPrependUnkeyed);
  RandomStream random(2, "floor");
  std::vector<BlockId> table;
  std::vector<BlockKey> keys;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t done = 0; done < allocations; done += blocks) {
    table.clear();
    keys.clear();
    for (int64_t i = 0; i < blocks; ++i) keys.push_back(random.Next());
    pool.Allocate(blocks, &table);
    pool.AssignKeys(table, keys);
    pool.ReleaseReversed(table);
  }
  const std::chrono::duration<double, std::nano> spent =
      std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(allocations);
}

double ResultHash(const Outcome& outcome) {
  uint64_t hash = 0;
  for (const int64_t value : {outcome.steps, outcome.counts.allocations,
                              outcome.counts.evictions, outcome.now_ns}) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
  }
  return static_cast<double>(hash >> 40);
}

void Measure(benchmark::State& state, const std::vector<TraceRequest>& rows,
             bool report) {
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) outcome = Replay(BaseSettings(), rows, report);
  const std::chrono::duration<double, std::nano> spent =
      std::chrono::steady_clock::now() - start;
  const double per_block = spent.count() /
                           static_cast<double>(outcome.counts.allocations) /
                           static_cast<double>(state.iterations());
  state.counters["alloc_ns"] = per_block;
  state.counters["x_floor"] =
      per_block / FloorNs(outcome.counts.allocations, 750);
  state.counters["result"] = ResultHash(outcome);
}

void BM_ReplayConversation(benchmark::State& state) {
  static const std::vector<TraceRequest>* const rows =
      new std::vector<TraceRequest>(MadeConversation(2000));
  Measure(state, *rows, state.range(0) != 0);
}
BENCHMARK(BM_ReplayConversation)
    ->ArgName("report")
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMillisecond);

void BM_ReplayMooncake(benchmark::State& state) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) {
    state.SkipWithError("KVSIM_SHARED is not set");
    return;
  }
  static const std::vector<TraceRequest>* const rows =
      new std::vector<TraceRequest>(ReadTrace(
          std::string(shared) + "/traces/mooncake_conversation.jsonl"));
  Measure(state, *rows, state.range(0) != 0);
}
BENCHMARK(BM_ReplayMooncake)
    ->ArgName("report")
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMillisecond);

struct Recorded {
  const char* name;
  int64_t num_gpu_blocks, block_size;
  std::vector<vllm::CacheGroup> groups;
  double original_seconds;
  int64_t steps, allocations, evictions;  // of the record; 0: not known
};

const std::vector<Recorded>& RecordedRuns() {
  using vllm::GroupKind;
  static const auto* const runs = new std::vector<Recorded>{
      {"full_30k", 30'000, 16, {}, 184, 150238, 7463449, 7424033},
      {"gptoss_60k",
       60'000,
       16,
       {{}, {.kind = GroupKind::kSlidingWindow, .window = 128}},
       257,
       150238,
       14973410,
       7498330},
      {"full_3_recurrent",
       2'000,
       512,
       {{.block_tokens = 512},
        {.kind = GroupKind::kRecurrent, .block_tokens = 512},
        {.kind = GroupKind::kRecurrent, .block_tokens = 512},
        {.kind = GroupKind::kRecurrent, .block_tokens = 512}},
       198,
       0,
       0,
       0}};
  return *runs;
}

void BM_RecordedRun(benchmark::State& state) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) {
    state.SkipWithError("KVSIM_SHARED is not set");
    return;
  }
  std::vector<TraceRequest> rows =
      ReadTrace(std::string(shared) + "/traces/mooncake_conversation.jsonl");
  rows.resize(10'000);
  const Recorded& run = RecordedRuns()[static_cast<size_t>(state.range(0))];
  vllm::Settings settings = BaseSettings();
  settings.num_gpu_blocks = run.num_gpu_blocks;
  settings.block_size = run.block_size;
  settings.groups = run.groups;
  settings.max_model_len = 131'072;
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) outcome = Replay(settings, rows, /*report=*/true);
  const std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  if (run.steps > 0) {
    KVSIM_CHECK(outcome.steps == run.steps &&
                outcome.counts.allocations == run.allocations &&
                outcome.counts.evictions == run.evictions)
        << run.name << " differs from the record";
  }
  const double seconds =
      spent.count() / static_cast<double>(state.iterations());
  state.counters["x_original"] = run.original_seconds / seconds;
  state.counters["alloc_ns"] =
      seconds * 1e9 / static_cast<double>(outcome.counts.allocations);
  state.counters["result"] = ResultHash(outcome);
  state.SetLabel(run.name);
}
BENCHMARK(BM_RecordedRun)
    ->ArgName("run")
    ->DenseRange(0, 2)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvsim
