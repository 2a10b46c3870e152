// Same input, same bytes: from run to run, with and without the memo of refused
// look-ups, and from compiler to compiler.
#include <gtest/gtest.h>

#include <cstdint>
#include <ios>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engines/vllm/engine.h"
#include "nlohmann/json.hpp"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "sim/step_log.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

struct Workload {
  const char* name;
  vllm::Settings settings;
};

// A pool that is too small for the traffic, under every kind of scheduling.
std::vector<Workload> Workloads() {
  vllm::Settings plain;
  plain.num_gpu_blocks = 60;
  plain.block_size = 8;
  plain.max_num_seqs = 12;
  plain.max_num_batched_tokens = 64;
  plain.max_model_len = 400;
  std::vector<Workload> all = {{"plain", plain},      {"async", plain},
                               {"priority", plain},   {"draft model", plain},
                               {"no cache", plain},   {"watermark", plain},
                               {"async ngram", plain}};
  all[1].settings.async_scheduling = true;
  all[2].settings.policy = vllm::SchedulingPolicy::kPriority;
  all[3].settings.num_speculative_tokens = 3;
  all[4].settings.enable_prefix_caching = false;
  all[5].settings.watermark = 0.05;
  all[6].settings.async_scheduling = true;
  all[6].settings.num_speculative_tokens = 2;
  all[6].settings.speculative_method = vllm::SpeculativeMethod::kNgram;
  return all;
}

// 150 requests of one to eight named blocks of 32 tokens and a tail of their
// own; the names are few, so that prompts share prefixes.
std::vector<TraceRequest> Rows() {
  RandomStream random(2026, "determinism_test");
  std::vector<TraceRequest> rows(150);
  int64_t now_ns = 0;
  for (TraceRequest& row : rows) {
    now_ns += random.Between(0, 40'000'000);
    row.arrival_ns = now_ns;
    row.hash_block = 32;
    const int64_t blocks = random.Between(1, 8);
    for (int64_t i = 0; i < blocks; ++i) {
      row.hash_ids.push_back(10 * static_cast<uint64_t>(i) + random.Below(2));
    }
    row.input_length = 32 * blocks - random.Between(0, 31);
    row.output_length = random.Between(1, 60);
    row.priority = random.Between(0, 2);
  }
  return rows;
}

// Every line of the run, as written.
std::string Transcript(const vllm::Settings& settings) {
  auto engine = vllm::VllmEngine::Create(settings);
  EXPECT_TRUE(engine.ok()) << engine.status();
  SimulatorOptions options;
  options.block_tokens = settings.block_size;
  options.max_model_len = settings.max_model_len;
  options.asynchronous = settings.async_scheduling;
  options.num_speculative_tokens = settings.num_speculative_tokens;
  FixedCost cost(20'000'000);
  Simulator simulator(engine->get(), &cost, options);
  std::string text;
  StepLogOptions log_options;
  log_options.detail = true;
  StepLog log(log_options, [&text](const StepLog::Json& line) {
    text += line.dump() + "\n";
  });
  simulator.AddObserver(&log);
  VectorTraceReader trace(Rows());
  EXPECT_TRUE(simulator.Run(&trace).ok());
  log.Finish(**engine, simulator.now_ns());
  return text;
}

uint64_t Fnv1a(const std::string& text, uint64_t hash) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

TEST(DeterminismTest, TwoRunsWriteTheSameBytes) {
  for (const Workload& w : Workloads()) {
    EXPECT_EQ(Transcript(w.settings), Transcript(w.settings)) << w.name;
  }
}

TEST(DeterminismTest, TheMemoOfRefusedLookUpsChangesNoByte) {
  for (const Workload& w : Workloads()) {
    vllm::Settings forgetful = w.settings;
    forgetful.remember_refusal = false;
    EXPECT_EQ(Transcript(w.settings), Transcript(forgetful)) << w.name;
  }
}

// The workloads are hard ones, or the equalities above would say little.
TEST(DeterminismTest, TheWorkloadsPreemptAndResume) {
  for (const Workload& w : Workloads()) {
    const std::string text = Transcript(w.settings);
    const auto summary =
        nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2)));
    EXPECT_GE(summary["preemptions"], 10) << w.name;
    EXPECT_EQ(summary["finished"], 150) << w.name;
  }
}

// The constant is what gcc 12 made of the seven transcripts in optimised builds;
// clang, sanitizers and debug builds must come to the same. Whoever changes a
// field of the step log or a decision of the engine derives it again by running
// this test, and says in the commit why it changed.
TEST(DeterminismTest, EveryCompilerWritesTheSameBytes) {
  constexpr uint64_t kExpected = 0x6b1027d254d53213;
  uint64_t hash = 0xcbf29ce484222325;
  for (const Workload& w : Workloads()) {
    hash = Fnv1a(Transcript(w.settings), hash);
  }
  EXPECT_EQ(hash, kExpected) << std::hex << "0x" << hash;
}

}  // namespace
}  // namespace kvsim
