#include "sim/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/report_json.h"
#include "sim/report_text.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A pool of 1 GiB of which three quarters are live at the peak.
PoolSummary Pool() {
  PoolSummary pool;
  pool.steps = 100;
  pool.end_ns = 10'000'000'000;
  pool.idle_ns = 2'500'000'000;
  pool.peak_running = 87;
  pool.mean_running = 23.314;
  pool.limit_ns[static_cast<size_t>(AdmissionLimit::kNoneWaiting)] =
      2'500'000'000;
  pool.limit_ns[static_cast<size_t>(AdmissionLimit::kBlocks)] = 5'000'000'000;
  pool.evictions = 30;
  pool.allocations = 40;
  pool.ledger_peak.pool_bytes = int64_t{1} << 30;
  pool.ledger_peak[Account::kLive] = int64_t{3} << 28;
  pool.ledger_peak[Account::kFree] = int64_t{1} << 28;
  pool.ledger_mean = pool.ledger_peak;
  return pool;
}

RequestSummary Requests() {
  RequestSummary requests;
  requests.requests = 12;
  requests.finished = 9;
  requests.too_long = 1;
  requests.aborted = 2;
  requests.prompt_tokens = 1000;
  requests.hit_tokens = 250;
  requests.preemptions = 5;
  requests.requests_preempted = 4;
  requests.recomputed_tokens = 77;
  requests.slo_requests = 6;
  requests.slo_output_tokens = 1200;
  requests.ttft = {9,          20'000'000, 10'000'000,
                   30'000'000, 40'000'000, 50'000'000};
  return requests;
}

Report MakeReport() {
  Report report;
  report.mutable_manifest()->set_trace("t.jsonl");
  report.set_num_blocks(1000);
  report.set_block_tokens(16);
  report.set_ledger_unit("bytes");
  FillRequests(Requests(), &report);
  FillPool(Pool(), &report);
  FillGoodput(Requests(), "ttft=1s", &report);
  AddContiguous({.reservation = Reservation::kOracle,
                 .finished = 9,
                 .peak_running = 12,
                 .mean_running = 8.5,
                 .used = 0.5},
                &report);
  return report;
}

TEST(ReportTest, JsonHasTheNamesThatScriptsReadZerosIncluded) {
  const auto json = nlohmann::json::parse(ReportJson(MakeReport()));
  for (const char* name :
       {"requests", "finished", "never_fit", "hit_tokens", "preemptions",
        "recomputed_tokens", "peak_running", "mean_running", "evictions",
        "ledger_peak", "ledger_mean", "wall_ns"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  EXPECT_EQ(json["never_fit"], "3");
  EXPECT_EQ(json["unfinished"], "0");
  EXPECT_EQ(json["ledger_peak"].size(), kNumAccounts);
  EXPECT_EQ(json["ledger_peak"][6]["account"], "live");
  EXPECT_EQ(json["ledger_peak"][6]["bytes"], "805306368");
  EXPECT_EQ(json["ledger_peak"][6]["share"], 0.75);
  EXPECT_EQ(json["limits"].size(), kNumAdmissionLimits + 1);
}

TEST(ReportTest, AccountsSumToThePool) {
  const Report report = MakeReport();
  int64_t sum = 0;
  for (const LedgerLine& line : report.ledger_peak()) sum += line.bytes();
  EXPECT_EQ(sum, report.pool_bytes());
}

TEST(ReportTest, TextSaysUnitsSharesAndCauses) {
  const std::string text = ReportText(MakeReport());
  EXPECT_THAT(text, HasSubstr("1 longer than the engine allows, "
                              "2 larger than the pool"));
  EXPECT_THAT(text, HasSubstr("23.31"));
  // Half of the time blocks were missing: the largest cause stands first.
  EXPECT_THAT(text, HasSubstr("blocks         50.0 %  5.00 s  "
                              "this step's blocks did not fit\n"
                              "  none_waiting   25.0 %  2.50 s  "));
  EXPECT_THAT(text, Not(HasSubstr("max_sequences")));
  EXPECT_THAT(text, HasSubstr("live    0.750 GiB   75.0 %"));
  EXPECT_THAT(text, Not(HasSubstr("window_slack")));
  EXPECT_THAT(text, HasSubstr("goodput at ttft=1s: 6 requests (50.0 %), "
                              "0.60 requests/s, 120.0 output tokens/s"));
  EXPECT_THAT(text, HasSubstr("oracle"));
}

// Of a pool of 1,000 bytes: 300 of two recurrent groups are page padding.
PoolSummary PoolOfGroups() {
  PoolSummary pool = Pool();
  pool.ledger_mean = {};
  pool.ledger_mean.pool_bytes = 1000;
  pool.ledger_mean[Account::kRemainder] = 40;
  pool.ledger_mean[Account::kPagePadding] = 300;
  pool.ledger_mean[Account::kTailSlack] = 200;
  pool.groups.resize(3);
  pool.groups[0].mean[Account::kPagePadding] = 180;
  pool.groups[0].peak[Account::kIdle] = 70;
  pool.groups[0].peak[Account::kStateCurrent] = 30;
  pool.groups[1].mean[Account::kPagePadding] = 120;
  pool.groups[2].mean[Account::kTailSlack] = 200;
  for (LedgerPair& group : pool.groups) {
    group.peak.pool_bytes = group.peak.Sum();
    group.mean.pool_bytes = group.mean.Sum();
  }
  return pool;
}

TEST(ReportTest, GroupsStandBesideTheWhole) {
  Report report;
  FillPool(PoolOfGroups(), &report);
  const GroupFacts state = {"recurrent", 7, 1920, 0, "align"};
  FillGroups(PoolOfGroups(), {state, state, {"full", 7, 1920, 0, ""}}, &report);
  ASSERT_EQ(report.groups_size(), 3);
  EXPECT_EQ(report.groups(0).held_peak(), 30);
  EXPECT_EQ(report.groups(0).held_mean(), 180);
  EXPECT_EQ(report.groups(0).peak(0).account(), "idle");
  EXPECT_EQ(report.groups(0).peak(0).bytes(), 70);
  EXPECT_DOUBLE_EQ(report.groups(0).peak(0).share(), 0.07);
  const std::string text = ReportText(report, ByteUnits::kBinary);
  EXPECT_THAT(text, HasSubstr("2 x recurrent (align), blocks of 1,920 tokens, "
                              "14 layers"));
}

TEST(ReportTest, NamesTheLargestWasteAndItsFlag) {
  Report report;
  FillPool(PoolOfGroups(), &report);
  const GroupFacts state = {"recurrent", 7, 1920, 0, "align"};
  FillGroups(PoolOfGroups(), {state, state, {"full", 7, 1920, 0, ""}}, &report);
  EXPECT_EQ(report.largest_waste().account(), "page_padding");
  EXPECT_EQ(report.largest_waste().kind(), "recurrent");
  EXPECT_EQ(report.largest_waste().bytes(), 300);
  EXPECT_DOUBLE_EQ(report.largest_waste().share(), 0.3);
  EXPECT_EQ(report.largest_waste().setting(), "--block-size");
  EXPECT_THAT(ReportText(report, ByteUnits::kBinary),
              HasSubstr("of page_padding of recurrent groups, 30.0 % of the "
                        "pool on average.\n  --block-size changes it: "));
}

// Without groups the whole pool is one.
TEST(ReportTest, APoolOfOneGroupHasItsWasteToo) {
  Report report;
  PoolSummary pool = PoolOfGroups();
  pool.groups.clear();
  pool.ledger_mean[Account::kPagePadding] = 0;
  FillPool(pool, &report);
  FillGroups(pool, {{"full", 0, 16, 0, ""}}, &report);
  EXPECT_EQ(report.groups_size(), 0);
  EXPECT_EQ(report.largest_waste().account(), "tail_slack");
  EXPECT_EQ(report.largest_waste().kind(), "full");
}

TEST(ReportTest, WithoutBytesTheLedgerCountsTokens) {
  Report report = MakeReport();
  report.set_ledger_unit("tokens");
  const std::string text = ReportText(report);
  EXPECT_THAT(text, HasSubstr("805,306,368"));
  EXPECT_THAT(text, Not(HasSubstr("GiB")));
}

TEST(ReportTest, AnInterruptedRunSaysSo) {
  Report report = MakeReport();
  EXPECT_THAT(ReportText(report), Not(HasSubstr("INTERRUPTED")));
  report.set_interrupted(true);
  EXPECT_THAT(ReportText(report), HasSubstr("INTERRUPTED"));
}

TEST(ReportTest, AnEmptyRunPrints) {
  EXPECT_THAT(ReportText(Report()), HasSubstr("n/a"));
}

TEST(ReportTest, HitsKeepTheirNames) {
  HitReport report;
  FillHits({.measured_tokens = 200, .hit_tokens = 50}, &report);
  const auto json = nlohmann::json::parse(ReportJson(report));
  EXPECT_EQ(json["measured_tokens"], "200");
  EXPECT_EQ(json["hit_tokens"], "50");
  EXPECT_EQ(json["hit_rate"], 0.25);
  EXPECT_THAT(HitReportText(report), HasSubstr("25.000 %"));
}

}  // namespace
}  // namespace kvsim
