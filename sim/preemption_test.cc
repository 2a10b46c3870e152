// What swaps add to model time, and what both modes cost on one small trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/host_link.h"
#include "sim/preemption_metrics.h"
#include "sim/preemption_report.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

SwappedRequest Swapped(size_t blocks) {
  SwappedRequest swap;
  swap.blocks.resize(blocks);
  return swap;
}

TEST(HostLinkTest, TransfersRoundUpToANanosecond) {
  // 3 blocks of 2 MiB at 25 GB/s: 6,291,456 / 25 = 251,658.24 ns.
  const HostLink link{2 << 20, 25'000'000'000};
  EXPECT_EQ(link.TransferNs(3 * (2 << 20)), 251'659);
  EXPECT_EQ(link.TransferNs(0), 0);
  EXPECT_EQ(link.TransferNs(25), 1);
  EXPECT_EQ(link.TransferNs(26), 2);
  // 2^53 bytes in 2^53 / 25 ns, which a product of 64 bits would not hold.
  EXPECT_EQ(link.TransferNs(int64_t{1} << 53), 360'287'970'189'640);
}

TEST(HostLinkTest, AStepsDirectionsFollowEachOther) {
  const HostLink link{100, 3'000'000'000};
  StepPlan plan;
  plan.swapped_out = {Swapped(1), Swapped(2)};
  EXPECT_EQ(link.BytesOf(plan.swapped_out), 300);
  EXPECT_EQ(link.StepNs(plan), 100);
  plan.swapped_in = {Swapped(1)};  // 33.3 ns
  EXPECT_EQ(link.StepNs(plan), 134);
  EXPECT_EQ((HostLink{100, 0}.StepNs(plan)), 0);
}

TraceRequest Row(int64_t input, int64_t output) {
  TraceRequest row;
  row.input_length = input;
  row.output_length = output;
  return row;
}

// Two requests of 8 tokens in 5 blocks of 4, steps of 1,000 ns. Without a cache
// both hold 2 blocks; step 2 wants a third of each: one finds none and is the
// victim, with 8 computed tokens.
struct Ran {
  PreemptionSummary preemption;
  RequestSummary requests;
  int64_t end_ns = 0;
  std::vector<int64_t> step_ns;
};

class StepTimes final : public StepObserver {
 public:
  void OnStep(const StepRecord& record, const Engine&) override {
    ns.push_back(record.end_ns - record.start_ns);
  }
  std::vector<int64_t> ns;
};

Ran RunIn(vllm::PreemptionMode mode) {
  vllm::Settings settings;
  settings.num_gpu_blocks = 6;
  settings.block_size = 4;
  settings.enable_prefix_caching = false;
  settings.preemption_mode = mode;
  settings.host_blocks = 2;
  auto engine = vllm::VllmEngine::Create(settings);
  EXPECT_TRUE(engine.ok()) << engine.status();
  FixedCost cost(1000);
  SimulatorOptions options;
  options.block_tokens = 4;
  options.host_link = {10, 1'000'000'000};  // 10 ns a block
  Simulator simulator(engine->get(), &cost, options);
  const Slo slo;
  RequestMetrics requests(slo);
  PreemptionMetrics preemption(options.host_link, &requests);
  StepTimes times;
  simulator.AddObserver(&requests);
  simulator.AddObserver(&preemption);
  simulator.AddObserver(&times);
  VectorTraceReader trace({Row(8, 3), Row(8, 3)});
  EXPECT_TRUE(simulator.Run(&trace).ok());
  return {preemption.Summary(), requests.Summary(), simulator.now_ns(),
          times.ns};
}

TEST(PreemptionTest, ASwapCostsItsCopies) {
  const Ran ran = RunIn(vllm::PreemptionMode::kSwap);
  // Steps 2 and 3 are the first request's alone; 4 and 5 the second's, whose
  // 8 tokens are not computed again.
  EXPECT_EQ(ran.step_ns, std::vector<int64_t>({1000, 1020, 1000, 1020, 1000}));
  EXPECT_EQ(ran.preemption.by_swap, 1);
  EXPECT_EQ(ran.preemption.by_recompute, 0);
  EXPECT_EQ(ran.preemption.swapped_tokens, 8);
  EXPECT_EQ(ran.preemption.bytes_out, 20);
  EXPECT_EQ(ran.preemption.bytes_in, 20);
  EXPECT_EQ(ran.preemption.transfer_ns, 40);
  EXPECT_EQ(ran.preemption.peak_host_bytes, 20);
  EXPECT_EQ(ran.preemption.recompute_ns, 0);
  EXPECT_EQ(ran.requests.preemptions, 1);
  EXPECT_EQ(ran.requests.recomputed_tokens, 0);
}

TEST(PreemptionTest, ARecomputeCostsItsShareOfTheStep) {
  const Ran ran = RunIn(vllm::PreemptionMode::kRecompute);
  EXPECT_EQ(ran.step_ns, std::vector<int64_t>({1000, 1000, 1000, 1000, 1000}));
  EXPECT_EQ(ran.preemption.by_recompute, 1);
  EXPECT_EQ(ran.preemption.transfer_ns, 0);
  EXPECT_EQ(ran.requests.recomputed_tokens, 8);
  EXPECT_EQ(ran.preemption.recompute_ns, 888);  // 8 of 9 tokens of step 4
}

Report ReportOf(const Ran& ran, const std::string& mode) {
  Report report;
  report.set_end_ns(ran.end_ns);
  report.set_recomputed_tokens(ran.requests.recomputed_tokens);
  FillPreemption(ran.preemption, mode, 20, &report);
  return report;
}

TEST(PreemptionTest, TheReportSaysWhatIsCheaperAndWhereThatTurns) {
  Report swap = ReportOf(RunIn(vllm::PreemptionMode::kSwap), "swap");
  const Report recompute =
      ReportOf(RunIn(vllm::PreemptionMode::kRecompute), "recompute");
  EXPECT_THAT(PreemptionText(swap, ByteUnits::kBinary),
              HasSubstr("Preemption by swap"));
  EXPECT_EQ(PreemptionText(recompute, ByteUnits::kBinary), "");
  FillPreemptionComparison(recompute, 1'000'000'000, &swap);
  const PreemptionComparison& both = swap.preemption_comparison();
  EXPECT_EQ(both.cheaper(), "recompute");
  EXPECT_EQ(both.saved_ns(), 40);
  EXPECT_DOUBLE_EQ(both.bytes_per_swapped_token(), 5);
  EXPECT_DOUBLE_EQ(both.swap_ns_per_token(), 5);
  EXPECT_DOUBLE_EQ(both.recompute_ns_per_token(), 111);
  EXPECT_NEAR(both.break_even_bytes_per_second(), 1e9 * 5 / 111, 1e-3);
  EXPECT_THAT(PreemptionText(swap, ByteUnits::kBinary),
              HasSubstr("Recomputing is cheaper here, by 40 ns of model time"));
}

}  // namespace
}  // namespace kvsim
