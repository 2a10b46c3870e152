#include "sim/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/chrome_trace.h"
#include "sim/fake_batches.h"
#include "sim/fake_engine.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TimelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "/timeline_test.out";
    file_ = *OutputFile::Open(path_);
    engine_.ledger.pool_bytes = 100;
    engine_.ledger[Account::kLive] = 60;
    engine_.ledger[Account::kFree] = 40;
  }
  std::string Content() {
    EXPECT_TRUE(file_->Close().ok());
    std::stringstream content;
    content << std::ifstream(path_).rdbuf();
    return content.str();
  }
  // Request 7 arrives at 900 ns, is admitted, preempted, resumed and finishes.
  void Run(StepObserver& observer) {
    TraceRequest row;
    observer.OnArrival({7, 900, 1000, &row, 5, true});
    StepPlan admit = Batch({Chunk(7, 0, 16, true)});
    admit.admitted = {{7, 0}};
    Step(observer, admit, 1000, 2500, {});
    StepPlan preempt;
    preempt.preempted = {7};
    preempt.limit = AdmissionLimit::kPreemption;
    Step(observer, preempt, 2500, 3000, {});
    StepPlan resume = Batch({Decode(7, 16)});
    resume.resumed = {{7, 16}};
    Step(observer, resume, 3000, 4001, {7});
  }
  void Step(StepObserver& observer, const StepPlan& plan, int64_t start_ns,
            int64_t end_ns, std::vector<RequestId> finished) {
    StepRecord record;
    record.step = step_++;
    record.start_ns = start_ns;
    record.end_ns = end_ns;
    record.scheduled = true;
    record.plan = &plan;
    record.after_schedule.running = static_cast<int64_t>(plan.scheduled.size());
    record.finished = finished;
    observer.OnStep(record, engine_);
  }

  std::string path_;
  std::unique_ptr<OutputFile> file_;
  FakeEngine engine_;
  int64_t step_ = 0;
};

TEST_F(TimelineTest, WritesOneRowPerStepUnderItsHeader) {
  Timeline timeline(file_.get());
  Run(timeline);
  const std::string text = Content();
  EXPECT_THAT(text, StartsWith("step,start_ns,end_ns,tokens,"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "\n0,1000,2500,16,1,1,0,0,1,0,0,0,16,0,0,none_waiting,0,0,40,0,0,"
          "0,60,0,0,0,0,0,0,0\n"));
  EXPECT_THAT(text,
              HasSubstr("\n1,2500,3000,0,0,0,0,0,0,0,1,0,0,0,0,preemption,"));
  EXPECT_THAT(
      text, HasSubstr("\n2,3000,4001,1,1,1,0,0,0,1,0,1,0,1,17,none_waiting,"));
  // Every line has the header's number of columns.
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 29) << line;
  }
}

TEST_F(TimelineTest, GroupsFollowWithTheirOwnColumns) {
  engine_.groups.resize(2);
  engine_.groups[1][Account::kLive] = 77;
  Timeline timeline(file_.get(), 2);
  Run(timeline);
  const std::string text = Content();
  EXPECT_THAT(text, HasSubstr(",state_checkpoint,g0:idle,g0:slot_padding,"));
  EXPECT_THAT(text, HasSubstr("g1:state_checkpoint\n"));
  // The last of 14 accounts, then eleven of each group: idle, two paddings, live.
  EXPECT_THAT(text,
              HasSubstr(",0,0,0,0,0,0,0,0,0,0,0,0,0,0,77,0,0,0,0,0,0,0\n"));
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 29 + 22) << line;
  }
}

TEST_F(TimelineTest, TheChromeTraceIsJsonWithEveryPhaseClosed) {
  ChromeTrace trace(file_.get());
  Run(trace);
  trace.Finish();
  const auto json = nlohmann::json::parse(Content());
  std::string phases;
  int counters = 0;
  for (const auto& event : json["traceEvents"]) {
    const std::string ph = event["ph"];
    if (ph == "b" || ph == "e") {
      phases += ph + " " + std::string(event["name"]) + " " +
                std::to_string(event["ts"].get<double>()) + "\n";
    }
    counters += ph == "C" ? 1 : 0;
  }
  EXPECT_EQ(phases,
            "b waiting 0.900000\ne waiting 1.000000\nb running 1.000000\n"
            "e running 2.500000\nb preempted 2.500000\n"
            "e preempted 3.000000\nb running 3.000000\n"
            "e running 4.001000\n");
  // Running 1, 0, 1 and the pool once: counters are written on change.
  EXPECT_EQ(counters, 4);
}

TEST_F(TimelineTest, AFullDiskIsReportedAtTheEnd) {
  auto full = OutputFile::Open("/dev/full");
  ASSERT_TRUE(full.ok());
  Timeline timeline(full->get());
  Run(timeline);
  EXPECT_THAT(std::string((*full)->Close().message()),
              HasSubstr("/dev/full: No space left"));
}

}  // namespace
}  // namespace kvsim
