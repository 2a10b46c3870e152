// Ledgers of cache groups: with remainder, null and free blocks they are the whole
// ledger, account by account, after every step of a run.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

using vllm::CacheGroup;
using vllm::GroupKind;

CacheGroup Full(int64_t block) { return {.block_tokens = block}; }
CacheGroup Window(int64_t window, int64_t block) {
  return {.kind = GroupKind::kSlidingWindow,
          .block_tokens = block,
          .window = window};
}
CacheGroup Chunk(int64_t chunk) {
  return {.kind = GroupKind::kChunkedLocal, .chunk = chunk};
}
CacheGroup State(int64_t block) {
  return {.kind = GroupKind::kRecurrent, .block_tokens = block};
}

class SumOfGroups final : public StepObserver {
 public:
  void OnStep(const StepRecord& record, const Engine& engine) override {
    const LedgerSnapshot whole = engine.Ledger();
    LedgerSnapshot sum;
    for (const Account nobodys :
         {Account::kRemainder, Account::kNull, Account::kFree}) {
      sum[nobodys] = whole[nobodys];
      sum.pool_bytes += whole[nobodys];
    }
    sum[OfWhich::kDuplicates] = whole[OfWhich::kDuplicates];
    for (int g = 0; g < engine.NumGroups(); ++g) {
      const LedgerSnapshot group = engine.GroupLedger(g);
      EXPECT_TRUE(group.Balanced()) << "step " << record.step << " group " << g;
      sum.pool_bytes += group.pool_bytes;
      for (size_t i = 0; i < kNumAccounts; ++i) sum.bytes[i] += group.bytes[i];
      for (size_t i = 0; i < kNumOfWhich; ++i) {
        sum.of_which[i] += group.of_which[i];
      }
    }
    EXPECT_EQ(sum, whole) << "step " << record.step;
    ++steps_;
  }
  int64_t steps() const { return steps_; }

 private:
  int64_t steps_ = 0;
};

struct Case {
  const char* name;
  vllm::Settings settings;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class GroupLedgerTest : public ::testing::TestWithParam<Case> {};

TEST_P(GroupLedgerTest, GroupsSumToTheWhole) {
  const vllm::Settings& settings = GetParam().settings;
  auto engine = vllm::VllmEngine::Create(settings);
  ASSERT_TRUE(engine.ok()) << engine.status();
  auto trace = OpenTrace("tests/testdata/oracle/traces/hyb40.jsonl", {});
  ASSERT_TRUE(trace.ok()) << trace.status();
  FixedCost cost(20'000'000);
  Simulator simulator(
      engine->get(), &cost,
      {.block_tokens = (*engine)->cache().units().hash_tokens,
       .max_model_len = settings.max_model_len,
       .asynchronous = settings.async_scheduling,
       .num_speculative_tokens = settings.num_speculative_tokens});
  SumOfGroups sum;
  simulator.AddObserver(&sum);
  ASSERT_TRUE(simulator.Run(trace->get()).ok());
  EXPECT_GT(sum.steps(), 100);
}

vllm::Settings With(int64_t blocks, int64_t block_size,
                    std::vector<CacheGroup> groups) {
  vllm::Settings settings;
  settings.num_gpu_blocks = blocks;
  settings.block_size = block_size;
  settings.groups = std::move(groups);
  return settings;
}

vllm::Settings Fine(vllm::Settings settings) {
  settings.prefix_match_unit = 64;
  return settings;
}

vllm::Settings Drafting(vllm::Settings settings) {
  settings.num_speculative_tokens = 2;
  settings.async_scheduling = true;
  return settings;
}

INSTANTIATE_TEST_SUITE_P(
    Groups, GroupLedgerTest,
    ::testing::Values(
        Case{"OneGroup", With(1300, 16, {Full(16)})},
        Case{"Windows", With(1600, 16, {Full(16), Window(128, 16)})},
        Case{"SmallBlocks", With(4000, 16, {Full(64), Window(128, 16)})},
        Case{"Chunks", With(3000, 16, {Full(16), Chunk(512)})},
        Case{"States", With(120, 256, {Full(256), State(256), State(256)})},
        Case{"FineHits", Fine(With(120, 256, {Full(256), State(256)}))},
        Case{"Drafts", Drafting(With(160, 256, {Full(256), State(256)}))}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kvsim
