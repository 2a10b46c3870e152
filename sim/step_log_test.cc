#include "sim/step_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using Json = StepLog::Json;

class StepLogTest : public ::testing::Test {
 protected:
  StepLogTest() {
    settings_.num_gpu_blocks = 6;
    settings_.block_size = 4;
    settings_.max_model_len = 100;
  }
  // The lines of a run whose steps take 20 ms.
  std::vector<Json> Lines(std::vector<TraceRequest> rows) {
    auto engine = vllm::VllmEngine::Create(settings_);
    EXPECT_TRUE(engine.ok()) << engine.status();
    SimulatorOptions options;
    options.block_tokens = settings_.block_size;
    options.max_model_len = settings_.max_model_len;
    options.asynchronous = settings_.async_scheduling;
    FixedCost cost(20'000'000);
    Simulator simulator(engine->get(), &cost, options);
    std::vector<Json> lines;
    StepLog log(options_,
                [&lines](const Json& line) { lines.push_back(line); });
    simulator.AddObserver(&log);
    VectorTraceReader trace(std::move(rows));
    EXPECT_TRUE(simulator.Run(&trace).ok());
    log.Finish(**engine, simulator.now_ns());
    return lines;
  }
  static TraceRequest Row(int64_t arrival_ns, int64_t input, int64_t output) {
    TraceRequest row;
    row.arrival_ns = arrival_ns;
    row.input_length = input;
    row.output_length = output;
    return row;
  }

  vllm::Settings settings_;
  StepLogOptions options_;
};

// One request of 6 tokens and 2 outputs on 5 usable blocks. Step 0 takes blocks
// 1 and 2 and keys block 1 (4 of 6 tokens). Step 1 computes the seventh token in
// block 2, which is not full yet, and finishes: block 2 goes to the front, block
// 1, keyed, to the back.
//   free queue after step 0: 3 4 5          after step 1: 2 3 4 5 1
//   reference counts:        0 1 1 0 0 0                  0 0 0 0 0 0
//   keyed:                   0 1 0 0 0 0                  0 1 0 0 0 0
//   tables (length, ids):    2 1 2                        none
// The check sums are zlib's crc32 of these numbers as little-endian int32, made
// with Python: zlib.crc32(struct.pack("<3i", 3, 4, 5)) and so on.
TEST_F(StepLogTest, WritesEveryFieldOfAStep) {
  options_.detail = true;
  const std::vector<Json> lines = Lines({Row(1'500'000, 6, 2)});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].dump(), Json::parse(R"({
    "type": "step", "step": 0, "now_us": 21500, "arrived": [0],
    "tokens": 6, "nsched": 1, "running": 1, "waiting": 0, "free": 3,
    "new": [[0, 0]], "resumed": [], "preempted": [],
    "sched": [[0, 6]], "blocks": {"0": [[1, 2]]}, "ncommon": [2],
    "finished": [], "aborted": [], "free_end": 3, "running_end": 1,
    "waiting_end": 0, "alloc": 2, "evict": 0, "evict_hashes": 0,
    "cached_keys": 1,
    "crc": [3219122775, 1758355703, 3332829542, 4048392421]})")
                                 .dump());
  EXPECT_EQ(lines[1].dump(), Json::parse(R"({
    "type": "step", "step": 1, "now_us": 41500, "arrived": [],
    "tokens": 1, "nsched": 1, "running": 1, "waiting": 0, "free": 3,
    "new": [], "resumed": [], "preempted": [],
    "sched": [[0, 1]], "blocks": {}, "ncommon": [2],
    "finished": [0], "aborted": [], "free_end": 5, "running_end": 0,
    "waiting_end": 0, "alloc": 0, "evict": 0, "evict_hashes": 0,
    "cached_keys": 1,
    "crc": [529075085, 2747386400, 3332829542, 0]})")
                                 .dump());
}

TEST_F(StepLogTest, WritesRequestsAndASummaryAtTheEnd) {
  const std::vector<Json> lines = Lines({Row(0, 6, 2), Row(0, 100, 1)});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2].dump(), Json::parse(R"({
    "type": "req", "id": 0, "arrive": 0, "first": 0, "hit": 0, "done": 1,
    "pre": 0, "rehit": []})")
                                 .dump());
  EXPECT_EQ(lines[3].dump(), Json::parse(R"({
    "type": "summary", "requests": 1, "rejected": [1], "steps": 2,
    "end_us": 40000, "free_end": 5, "cached_keys_end": 1,
    "scheduled_tokens": 7, "hit_tokens": 0, "resumed_hit_tokens": 0,
    "preemptions": 0, "finished": 1, "aborted": 0, "generated": 2,
    "prompt_tokens": 6, "peak_running": 1, "min_free": 3, "sched_reqs": 2,
    "admitted": 1, "resumed": 0, "allocs": 2, "evictions": 0,
    "evicted_hashes": 0, "prefix_cache_stats": {
      "queries": 6, "hits": 0, "requests": 1, "preempted_queries": 0,
      "preempted_hits": 0, "preempted_requests": 0}})")
                                 .dump());
}

// Two requests of 8 tokens share 5 blocks: each takes 2. Both need a third for
// the ninth token: request 0 takes the last, request 1 preempts itself. It is
// resumed, with the block that it had keyed first, when request 0 has gone.
TEST_F(StepLogTest, TellsPreemptionsAndWhatResumedRequestsHit) {
  options_.detail = true;
  const std::vector<Json> lines = Lines({Row(0, 8, 3), Row(0, 8, 3)});
  const Json& second = lines[1];
  EXPECT_EQ(second["preempted"], Json::array({1}));
  EXPECT_EQ(second["blocks"], Json::parse(R"({"0": [[5]]})"));
  // Nine tokens are known by then: both full blocks hit.
  const Json& last = lines[lines.size() - 2];
  EXPECT_EQ(last["pre"], 1);
  EXPECT_EQ(last["rehit"], Json::array({8}));
  const Json& summary = lines.back();
  EXPECT_EQ(summary["resumed"], 1);
  EXPECT_EQ(summary["resumed_hit_tokens"], 8);
  EXPECT_EQ(summary["prefix_cache_stats"]["preempted_queries"], 9);
  EXPECT_EQ(summary["prefix_cache_stats"]["preempted_hits"], 8);
}

// The last step of an asynchronous run schedules nothing and says so by leaving
// the fields out.
TEST_F(StepLogTest, AStepThatOnlyDrainsHasNoScheduleFields) {
  settings_.async_scheduling = true;
  options_.detail = true;
  const std::vector<Json> lines = Lines({Row(0, 6, 2)});
  ASSERT_EQ(lines.size(), 6u);
  const Json& drain = lines[3];
  EXPECT_EQ(drain["step"], 3);
  for (const char* field :
       {"tokens", "nsched", "running", "waiting", "free", "new", "resumed",
        "preempted", "sched", "blocks", "ncommon"}) {
    EXPECT_FALSE(drain.contains(field)) << field;
    EXPECT_TRUE(lines[2].contains(field)) << field;
  }
  EXPECT_EQ(drain["now_us"], 40000);
  EXPECT_EQ(drain["free_end"], 5);
}

TEST_F(StepLogTest, WritesOnlyWhatItIsAskedFor) {
  options_.check_sums = false;
  options_.every = 2;
  options_.cache_stats = false;
  const std::vector<Json> lines = Lines({Row(0, 6, 4)});
  ASSERT_EQ(lines.size(), 4u);  // steps 0 and 2, a request, the summary
  EXPECT_EQ(lines[1]["step"], 2);
  EXPECT_FALSE(lines[0].contains("crc"));
  EXPECT_FALSE(lines[0].contains("sched"));
  EXPECT_EQ(lines.back()["steps"], 4);
  EXPECT_EQ(lines.back()["prefix_cache_stats"]["queries"], 0);
}

// 40 tokens need 10 blocks of 5.
TEST_F(StepLogTest, TellsWhatWasAborted) {
  const std::vector<Json> lines = Lines({Row(0, 40, 1)});
  EXPECT_EQ(lines[0]["aborted"], Json::array({0}));
  EXPECT_EQ(lines[1]["first"], -1);
  EXPECT_EQ(lines[1]["done"], -1);
  EXPECT_EQ(lines.back()["aborted"], 1);
  EXPECT_EQ(lines.back()["finished"], 0);
}

}  // namespace
}  // namespace kvsim
