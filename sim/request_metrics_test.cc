#include "sim/request_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/fake_batches.h"
#include "sim/fake_engine.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

class RequestMetricsTest : public ::testing::Test {
 protected:
  void Arrive(RequestId id, int64_t due_ns, int64_t prompt,
              bool queued = true) {
    TraceRequest row;
    row.input_length = prompt;
    metrics_.OnArrival({id, due_ns, due_ns, &row, 100, queued});
  }

  // A synchronous step of 10 ns that gives each sampling request one token.
  void Step(StepPlan plan, std::vector<RequestId> finished = {},
            std::vector<RequestId> aborted = {}) {
    std::vector<int32_t> sampled;
    for (const ScheduledRequest& work : plan.scheduled) {
      sampled.push_back(work.samples ? 1 + work.num_drafts : 0);
    }
    StepRecord record;
    record.start_ns = now_ns_;
    record.end_ns = now_ns_ += 10;
    record.scheduled = true;
    record.plan = record.processed = &plan;
    record.num_sampled = sampled;
    record.finished = finished;
    record.aborted = aborted;
    metrics_.OnStep(record, engine_);
  }

  StepPlan Admit(StepPlan plan, RequestId id, int64_t hit = 0) {
    plan.admitted.push_back({id, hit});
    return plan;
  }
  StepPlan Resume(StepPlan plan, RequestId id, int64_t hit = 0) {
    plan.resumed.push_back({id, hit});
    return plan;
  }
  StepPlan Preempt(StepPlan plan, RequestId id) {
    plan.preempted.push_back(id);
    return plan;
  }

  int64_t now_ns_ = 100;
  FakeEngine engine_;
  RequestMetrics metrics_{
      Slo{.ttft_ns = 30, .tpot_ns = std::nullopt, .e2e_ns = std::nullopt}};
};

TEST_F(RequestMetricsTest, TimesOneRequestFromArrivalToEnd) {
  Arrive(0, 95, 20);
  Step(Admit(Batch({Chunk(0, 4, 10, false)}), 0, 4));  // 100 to 110
  Step(Batch({Chunk(0, 14, 6, true)}));                // first token at 120
  Step(Batch({Decode(0, 20)}));
  now_ns_ += 5;                       // nobody asked for time; it still passes
  Step(Batch({Decode(0, 21)}), {0});  // 135 to 145
  const RequestSummary summary = metrics_.Summary();
  EXPECT_EQ(summary.finished, 1);
  EXPECT_EQ(summary.waiting.p50_ns, 5);
  EXPECT_EQ(summary.ttft.p50_ns, 25);
  EXPECT_EQ(summary.tpot.p50_ns, 12);  // floor((145 - 120) / 2)
  EXPECT_EQ(summary.e2e.p50_ns, 50);
  EXPECT_EQ(summary.prompt_tokens, 20);
  EXPECT_EQ(summary.hit_tokens, 4);
  EXPECT_EQ(summary.output_tokens, 3);
  EXPECT_EQ(summary.scheduled_tokens, 18);
  EXPECT_EQ(summary.scheduled_requests, 4);
  EXPECT_EQ(summary.recomputed_tokens, 0);
}

TEST_F(RequestMetricsTest, CountsWhatAPreemptionLostAndTheCacheDidNotKeep) {
  Arrive(0, 100, 20);
  Step(Admit(Batch({Chunk(0, 0, 20, true)}), 0));
  Step(Batch({Decode(0, 20)}));
  Step(Preempt(Batch({}), 0));
  // 20 prompt rows and the first output's row were lost, 16 are still cached.
  // The second output was never computed, so of 6 rows 5 are computed again.
  Step(Resume(Batch({Chunk(0, 16, 2, false)}), 0, 16));
  Step(Batch({Chunk(0, 18, 4, true)}));
  EXPECT_EQ(metrics_.Summary().recomputed_tokens, 5);
  EXPECT_EQ(metrics_.Summary().resume_hit_tokens, 16);
  EXPECT_EQ(metrics_.Summary().hit_tokens, 0);
  EXPECT_EQ(metrics_.Summary().preemptions, 1);
}

TEST_F(RequestMetricsTest, CountsLostChunksOfAPromptAndTwoPreemptionsTwice) {
  Arrive(0, 100, 50);
  Step(Admit(Batch({Chunk(0, 0, 30, false)}), 0));
  Step(Preempt(Batch({}), 0));
  Step(Resume(Batch({Chunk(0, 0, 20, false)}), 0));
  EXPECT_EQ(metrics_.Summary().recomputed_tokens, 20);
  Step(Preempt(Batch({}), 0));
  // The first loss of 30 rows still stands.
  Step(Resume(Batch({Chunk(0, 0, 40, false)}), 0));
  EXPECT_EQ(metrics_.Summary().recomputed_tokens, 50);
  EXPECT_EQ(metrics_.Summary().preemptions, 2);
  EXPECT_EQ(metrics_.Summary().requests_preempted, 1);
}

TEST_F(RequestMetricsTest, CountsRequestsThatNeverFit) {
  Arrive(0, 0, 1'000'000, false);
  Arrive(1, 0, 10);
  Step(Batch({}), {}, {1});
  const RequestSummary summary = metrics_.Summary();
  EXPECT_EQ(summary.requests, 2);
  EXPECT_EQ(summary.too_long, 1);
  EXPECT_EQ(summary.aborted, 1);
  EXPECT_EQ(summary.NeverFit(), 2);
  EXPECT_EQ(summary.finished, 0);
}

TEST_F(RequestMetricsTest, GoodputCountsWholeRequestsAndLimitsAreInclusive) {
  Arrive(0, 80, 10);  // TTFT 30: just met
  Arrive(1, 79, 10);  // TTFT 31: missed
  StepPlan plan = Batch({Chunk(0, 0, 10, true), Chunk(1, 0, 10, true)});
  plan.admitted = {{0, 0}, {1, 0}};
  Step(plan, {0, 1});
  EXPECT_EQ(metrics_.Summary().slo_requests, 1);
  EXPECT_EQ(metrics_.Summary().slo_output_tokens, 1);
  EXPECT_EQ(metrics_.Summary().tpot.count, 0);  // one output has no TPOT
}

TEST(DistributionTest, PercentilesAreMeasuredValues) {
  std::vector<int64_t> values;
  for (int64_t i = 200; i >= 1; --i) values.push_back(i);
  const Distribution d = Distribution::Of(values);
  EXPECT_EQ(d.p50_ns, 100);  // 100 of 200 values are at or below 100
  EXPECT_EQ(d.p90_ns, 180);
  EXPECT_EQ(d.p99_ns, 198);
  EXPECT_EQ(d.max_ns, 200);
  EXPECT_EQ(d.mean_ns, 100);  // 100.5 rounds down
  EXPECT_EQ(Distribution::Of(std::vector<int64_t>{7}).p99_ns, 7);
  EXPECT_EQ(Distribution::Of({}), Distribution{});
}

TEST(SloTest, ReadsItsFlagAndRefusesTheRest) {
  const auto slo = ParseSlo("tpot=50ms,ttft=2s");
  ASSERT_TRUE(slo.ok()) << slo.status();
  EXPECT_EQ(slo->ttft_ns, 2'000'000'000);
  EXPECT_EQ(slo->tpot_ns, 50'000'000);
  EXPECT_FALSE(slo->e2e_ns.has_value());
  EXPECT_FALSE(Slo{}.Any());
  for (const char* text : {"", "ttft", "ttft=", "ttft=2", "itl=3ms",
                           "ttft=1s,ttft=2s", "ttft=-1s", "ttft=nans"}) {
    const auto refused = ParseSlo(text);
    EXPECT_FALSE(refused.ok()) << text;
    EXPECT_THAT(std::string(refused.status().message()),
                ::testing::AnyOf(HasSubstr("accepted"), HasSubstr(text)));
  }
}

}  // namespace
}  // namespace kvsim
