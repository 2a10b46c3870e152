// What measuring costs: the two observers that every replay runs.
//
// Steps of 23 decoding requests (the mean of the Mooncake conversation trace on
// 38,000 blocks), 12,031 requests, batches that change every 200 steps.
//
// Counters: request_ns  per scheduled request
//           result      what was counted, equal on every machine

#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/fake_batches.h"
#include "sim/fake_engine.h"
#include "sim/pool_metrics.h"
#include "sim/request_metrics.h"

namespace kvsim {
namespace {

constexpr RequestId kRequests = 12'031;
constexpr int64_t kSteps = 12'800;
constexpr int kRunning = 23;
constexpr int kPlans = 64;

std::vector<StepPlan> MakePlans() {
  std::vector<StepPlan> plans;
  for (int p = 0; p < kPlans; ++p) {
    std::vector<ScheduledRequest> scheduled;
    for (int i = 0; i < kRunning; ++i) {
      scheduled.push_back(Decode((p * 180 + i * 7) % kRequests, 1000));
    }
    plans.push_back(Batch(std::move(scheduled)));
  }
  return plans;
}

void RunSteps(const std::vector<StepPlan>& plans, StepObserver* observer) {
  const FakeEngine engine;
  const std::vector<int32_t> sampled(kRunning, 1);
  for (int64_t step = 0; step < kSteps; ++step) {
    const StepPlan& plan = plans[static_cast<size_t>(step / 200) % kPlans];
    StepRecord record;
    record.step = step;
    record.start_ns = step * 20;
    record.end_ns = record.start_ns + 20;
    record.scheduled = true;
    record.plan = record.processed = &plan;
    record.num_sampled = sampled;
    record.after_schedule.running = kRunning;
    observer->OnStep(record, engine);
  }
}

void Report(benchmark::State& state, int64_t result) {
  const auto requests = static_cast<double>(state.iterations()) *
                        static_cast<double>(kSteps * kRunning);
  state.SetItemsProcessed(static_cast<int64_t>(requests));
  state.counters["request_ns"] =
      benchmark::Counter(requests * 1e-9, benchmark::Counter::kIsRate |
                                              benchmark::Counter::kInvert);
  state.counters["result"] = static_cast<double>(result);
}

void BM_RequestMetrics(benchmark::State& state) {
  const std::vector<StepPlan> plans = MakePlans();
  TraceRequest row;
  row.input_length = 1000;
  int64_t outputs = 0;
  for (auto _ : state) {
    RequestMetrics metrics{Slo()};
    for (RequestId id = 0; id < kRequests; ++id) {
      metrics.OnArrival({id, 0, 0, &row, 100, true});
    }
    RunSteps(plans, &metrics);
    outputs = metrics.Summary().output_tokens;
  }
  Report(state, outputs);
}
BENCHMARK(BM_RequestMetrics);

void BM_PoolMetrics(benchmark::State& state) {
  const std::vector<StepPlan> plans = MakePlans();
  int64_t duration_ns = 0;
  for (auto _ : state) {
    PoolMetrics metrics;
    RunSteps(plans, &metrics);
    duration_ns = metrics.Summary().DurationNs();
  }
  Report(state, duration_ns);
}
BENCHMARK(BM_PoolMetrics);

}  // namespace
}  // namespace kvsim
