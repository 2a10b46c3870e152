// Page operations of small runs, worked out by hand. Blocks have 4 tokens; the pool
// hands out 1, 2, 3, …
#include "sim/page_op_stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using Keeps = PagedGroup::Keeps;

// Keeps what it is told to do, with stamps left out; refuses the op it is told to.
class Notebook final : public PagingBackend {
 public:
  explicit Notebook(size_t pools) : pools_(pools) {}
  const char* name() const override { return "notebook"; }
  std::span<const PoolShape> pools() const override { return pools_; }
  absl::Status Execute(std::span<const PageOp> ops) override {
    for (PageOp op : ops) {
      if (static_cast<int64_t>(this->ops.size()) == refused) {
        return absl::DataLossError("op 0: as told");
      }
      if (auto* write = std::get_if<WriteTokens>(&op)) {
        stamps.insert(stamps.end(), write->stamps.begin(), write->stamps.end());
        write->stamps.clear();
      } else if (auto* gather = std::get_if<GatherSequence>(&op)) {
        gather->stamps.clear();
      } else if (auto* update = std::get_if<UpdateState>(&op)) {
        states.emplace_back(update->before, update->after);
        update->before = update->after = std::nullopt;
      } else if (auto* restore = std::get_if<RestoreState>(&op)) {
        restore->stamp = std::nullopt;
      }
      this->ops.push_back(std::move(op));
    }
    return absl::OkStatus();
  }
  const TrafficByKind& Totals() const override { return totals_; }

  std::vector<PageOp> ops;
  std::vector<Stamp> stamps;  // of all rows written
  std::vector<std::pair<std::optional<Stamp>, std::optional<Stamp>>> states;
  int64_t refused = -1;

 private:
  std::vector<PoolShape> pools_;
  TrafficByKind totals_;
};

TraceRequest Row(int64_t input, int64_t output,
                 std::vector<uint64_t> hash_ids = {}) {
  TraceRequest row;
  row.input_length = input;
  row.output_length = output;
  if (!hash_ids.empty()) {
    row.hash_block = 4;
    row.hash_ids = std::move(hash_ids);
  }
  return row;
}

class PageOpStreamTest : public ::testing::Test {
 protected:
  PageOpStreamTest() {
    settings_.num_gpu_blocks = 20;
    settings_.block_size = 4;
    settings_.enable_prefix_caching = false;
    groups_ = {{.keeps = Keeps::kAll, .block_tokens = 4}};
  }
  void Run(std::vector<TraceRequest> rows) {
    notebook_ = std::make_unique<Notebook>(groups_.size());
    notebook_->refused = refused_;
    auto engine = vllm::VllmEngine::Create(settings_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    PageOpStream stream({groups_, 0}, notebook_.get());
    FixedCost cost(1000);
    SimulatorOptions options;
    options.block_tokens = 4;
    Simulator simulator(engine->get(), &cost, options);
    simulator.AddObserver(&stream);
    VectorTraceReader trace(std::move(rows));
    ASSERT_TRUE(simulator.Run(&trace).ok());
    status_ = stream.status();
    rows_verified_ = stream.rows_verified();
  }

  vllm::Settings settings_;
  std::vector<PagedGroup> groups_;
  int64_t refused_ = -1;
  std::unique_ptr<Notebook> notebook_;
  absl::Status status_;
  int64_t rows_verified_ = 0;
};

// A prompt of 6 tokens and three outputs, of which the last is never computed: rows 0
// to 7.
TEST_F(PageOpStreamTest, APromptAndItsOutputs) {
  Run({Row(6, 3)});
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_EQ(notebook_->ops,
            (std::vector<PageOp>{
                AssignBlocks{.blocks = {1, 2}},
                WriteTokens{.slots = {4, 5, 6, 7, 8, 9}},
                WriteTokens{.first_position = 6, .slots = {10}},
                WriteTokens{.first_position = 7, .slots = {11}},
                GatherSequence{.end_position = 8, .block_table = {1, 2}},
                ReleaseBlocks{.blocks = {1, 2}}}));
  EXPECT_EQ(rows_verified_, 8);
}

// The second chunk reads the first.
TEST_F(PageOpStreamTest, AChunkGathersTheContextBeforeIt) {
  settings_.max_num_batched_tokens = 5;
  Run({Row(7, 1)});
  EXPECT_EQ(
      notebook_->ops,
      (std::vector<PageOp>{
          AssignBlocks{.blocks = {1, 2}}, WriteTokens{.slots = {4, 5, 6, 7, 8}},
          GatherSequence{.end_position = 5, .block_table = {1, 2}},
          WriteTokens{.first_position = 5, .slots = {9, 10}},
          GatherSequence{.end_position = 7, .block_table = {1, 2}},
          ReleaseBlocks{.blocks = {1, 2}}}));
}

// Two prompts of one batch: the second one hits the block that the first one writes,
// and gets it when it is written.
TEST_F(PageOpStreamTest, AHitIsSharedAndReadFirst) {
  settings_.enable_prefix_caching = true;
  Run({Row(6, 1, {7}), Row(6, 1, {7})});
  EXPECT_EQ(
      notebook_->ops,
      (std::vector<PageOp>{
          AssignBlocks{.sequence = 0, .blocks = {1, 2}},
          AssignBlocks{.sequence = 1, .blocks = {3}},
          WriteTokens{.sequence = 0, .slots = {4, 5, 6, 7, 8, 9}},
          AssignBlocks{.sequence = 1, .shared = true, .blocks = {1}},
          GatherSequence{
              .sequence = 1, .end_position = 4, .block_table = {1, 3}},
          WriteTokens{.sequence = 1, .first_position = 4, .slots = {12, 13}},
          GatherSequence{
              .sequence = 0, .end_position = 6, .block_table = {1, 2}},
          ReleaseBlocks{.sequence = 0, .blocks = {1, 2}},
          GatherSequence{
              .sequence = 1, .end_position = 6, .block_table = {1, 3}},
          ReleaseBlocks{.sequence = 1, .blocks = {1, 3}}}));
  // Equal tokens have equal stamps, their own tails others.
  const std::vector<Stamp>& stamps = notebook_->stamps;
  ASSERT_EQ(stamps.size(), 8);
  EXPECT_NE(stamps[4], stamps[6]);
  EXPECT_NE(stamps[5], stamps[7]);
}

// Without a cache the state has one block; it is advanced there, from nothing at first.
TEST_F(PageOpStreamTest, AStateAdvancesInPlace) {
  settings_.groups = {{.kind = vllm::GroupKind::kRecurrent,
                       .block_tokens = 131072,
                       .state_mode = StateMode::kNone}};
  settings_.block_size = 131072;
  groups_ = {{.keeps = Keeps::kState,
              .block_tokens = 131072,
              .state_mode = StateMode::kNone}};
  Run({Row(6, 2)});
  EXPECT_EQ(
      notebook_->ops,
      (std::vector<PageOp>{
          AssignBlocks{.blocks = {1}}, UpdateState{.position = 6, .running = 1},
          UpdateState{.position = 7, .source = 1, .running = 1},
          ReleaseBlocks{.blocks = {1}}}));
  ASSERT_EQ(notebook_->states.size(), 2);
  EXPECT_FALSE(notebook_->states[0].first.has_value());
  EXPECT_EQ(notebook_->states[0].second, notebook_->states[1].first);
}

// In align mode a chunk that leaves its block takes the state along: 3 and 4 tokens
// stand in the first block, the fifth goes on in the next.
TEST_F(PageOpStreamTest, AStateMovesToTheNextBlock) {
  settings_.enable_prefix_caching = true;
  settings_.groups = {{.kind = vllm::GroupKind::kRecurrent,
                       .block_tokens = 4,
                       .state_mode = StateMode::kAlign}};
  groups_ = {{.keeps = Keeps::kState,
              .block_tokens = 4,
              .state_mode = StateMode::kAlign}};
  Run({Row(3, 3)});
  EXPECT_EQ(
      notebook_->ops,
      (std::vector<PageOp>{
          AssignBlocks{.blocks = {1}}, UpdateState{.position = 3, .running = 1},
          UpdateState{.position = 4, .source = 1, .running = 1},
          AssignBlocks{.blocks = {2}},
          RestoreState{.position = 4, .checkpoint = 1, .running = 2},
          UpdateState{.position = 5, .source = 2, .running = 2},
          ReleaseBlocks{.blocks = {1, 2}}}));
}

TEST_F(PageOpStreamTest, StopsAtTheFirstErrorAndNamesTheStep) {
  refused_ = 2;  // the first decoded row, in the second step
  Run({Row(6, 3)});
  EXPECT_EQ(status_.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status_.message(), "step 1, op 0: as told");
  EXPECT_EQ(notebook_->ops.size(), 2);
}

}  // namespace
}  // namespace kvsim
