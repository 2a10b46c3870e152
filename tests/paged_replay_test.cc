// Whole runs whose page operations are performed: every row and state that is read is
// the right one, and an allocator that makes a mistake is caught.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/vllm/engine.h"
#include "kernels/memory_paging_backend.h"
#include "kernels/null_paging_backend.h"
#include "sim/fixed_cost.h"
#include "sim/page_op_stream.h"
#include "sim/paging_work.h"
#include "sim/simulator.h"
#include "tests/faulty_engine.h"
#include "tools/paged_groups.h"
#include "traces/synthetic_trace.h"
#include "traces/test_traces.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using vllm::CacheGroup;
using vllm::GroupKind;

CacheGroup Full(int64_t block = 16) { return {.block_tokens = block}; }
CacheGroup Window(int64_t window, int64_t block = 16) {
  return {.kind = GroupKind::kSlidingWindow,
          .block_tokens = block,
          .window = window};
}
CacheGroup Chunk(int64_t chunk, int64_t block = 16) {
  return {
      .kind = GroupKind::kChunkedLocal, .block_tokens = block, .chunk = chunk};
}
CacheGroup State(int64_t block = 16, StateMode mode = StateMode::kAlign) {
  return {
      .kind = GroupKind::kRecurrent, .block_tokens = block, .state_mode = mode};
}

// Operations without those that say who owns what: a backend that has to find
// everything in the bytes.
class BytesOnlyBackend final : public PagingBackend {
 public:
  explicit BytesOnlyBackend(PagingBackend* backend) : backend_(backend) {}
  const char* name() const override { return backend_->name(); }
  std::span<const PoolShape> pools() const override {
    return backend_->pools();
  }
  absl::Status Execute(std::span<const PageOp> ops) override {
    std::vector<PageOp> kept;
    for (const PageOp& op : ops) {
      if (KindOf(op) != PageOpKind::kAssignBlocks &&
          KindOf(op) != PageOpKind::kReleaseBlocks) {
        kept.push_back(op);
      }
    }
    return backend_->Execute(kept);
  }
  const TrafficByKind& Totals() const override { return backend_->Totals(); }

 private:
  PagingBackend* backend_;
};

// What every step asks of paging, told from its plan.
class WorkCounter final : public StepObserver {
 public:
  explicit WorkCounter(const std::vector<PagedGroup>& groups)
      : groups_(groups) {}
  void OnStep(const StepRecord& record, const Engine&) override {
    if (record.processed == nullptr) return;
    for (const PagingAmounts& group :
         PagingWorkOf(*record.processed, groups_)) {
      for (size_t i = 0; i < group.size(); ++i) sum_[i] += group[i];
    }
    resumed += static_cast<int64_t>(record.processed->resumed.size());
    forks += static_cast<int64_t>(record.forks.size());
  }
  int64_t Items(PagingPart part) const {
    return sum_[static_cast<size_t>(part)].items;
  }
  int64_t resumed = 0, forks = 0;

 private:
  const std::vector<PagedGroup>& groups_;
  PagingAmounts sum_;
};

struct Ran {
  absl::Status status;
  TrafficByKind totals;
  int64_t rows = 0, states = 0;
  bool struck = false;
  EngineCounts counts;
  std::vector<PagedGroup> groups;
  std::optional<WorkCounter> work;

  const Traffic& Of(PageOpKind kind) const {
    return totals[static_cast<size_t>(kind)];
  }
};

struct Scene {
  vllm::Settings settings;
  SimulatorOptions options;
  AllocatorBug bug = AllocatorBug::kNone;
  int64_t from_step = 0;
  bool bytes_only = false;
  bool null_backend = false;
  int64_t row_bytes = 16;
};

std::unique_ptr<PagingBackend> BackendFor(const Scene& scene,
                                          const vllm::Settings& settings,
                                          std::vector<PagedGroup>* groups) {
  std::vector<PoolShape> pools;
  int64_t block_bytes = 0;
  for (const PagedGroup& group : *groups) {
    block_bytes = std::max(
        block_bytes, group.holds_rows() ? group.block_tokens * scene.row_bytes
                                        : scene.row_bytes);
  }
  for (const PagedGroup& group : *groups) {
    const bool rows = group.holds_rows();
    pools.push_back(
        {.name = absl::StrCat("group ", pools.size()),
         .contents = rows ? PoolContents::kRows : PoolContents::kStates,
         .num_blocks = static_cast<int32_t>(settings.num_gpu_blocks),
         .num_host_blocks = static_cast<int32_t>(settings.host_blocks),
         .block_tokens = rows ? static_cast<int32_t>(group.block_tokens) : 1,
         .row_bytes = rows ? scene.row_bytes : block_bytes,
         .block_bytes = block_bytes});
  }
  if (scene.null_backend) return std::make_unique<NullPagingBackend>(pools);
  auto device = PagingDevice::Create(pools, HostKernels(), MakeHostMemory());
  EXPECT_TRUE(device.ok()) << device.status();
  return std::make_unique<MemoryPagingBackend>(pools, *std::move(device));
}

Ran Play(const Scene& scene, TraceReader* trace) {
  const auto settings = scene.settings.Normalized();
  EXPECT_TRUE(settings.ok()) << settings.status();
  auto engine = vllm::VllmEngine::Create(*settings);
  EXPECT_TRUE(engine.ok()) << engine.status();
  FaultyEngine faulty(engine->get(), scene.bug, scene.from_step);
  Ran ran;
  ran.groups = PagedGroupsOf(*settings, {}, false);
  const std::unique_ptr<PagingBackend> backend =
      BackendFor(scene, *settings, &ran.groups);
  BytesOnlyBackend bytes_only(backend.get());
  PageOpStream stream(
      {ran.groups,
       settings->enable_prefix_caching ? settings->HashTokens() : 0},
      scene.bytes_only ? &bytes_only : backend.get());
  ran.work.emplace(ran.groups);
  SimulatorOptions options = scene.options;
  options.block_tokens = settings->HashTokens();
  options.max_model_len = settings->max_model_len;
  options.asynchronous = settings->async_scheduling;
  options.num_speculative_tokens = settings->num_speculative_tokens;
  FixedCost cost(20'000'000);
  Simulator simulator(&faulty, &cost, options);
  simulator.AddObserver(&stream);
  simulator.AddObserver(&*ran.work);
  EXPECT_TRUE(simulator.Run(trace).ok());
  ran.status = stream.status();
  ran.totals = backend->Totals();
  ran.rows = stream.rows_verified();
  ran.states = stream.states_verified();
  ran.struck = faulty.struck();
  ran.counts = (*engine)->Counts();
  return ran;
}

// Sixty conversations that share four system prompts.
class Conversations final : public TraceReader {
 public:
  Conversations() : trace_(Options()) {}
  absl::StatusOr<bool> Next(TraceRequest* row) override {
    return trace_.Next(row);
  }
  std::span<const TraceProblem> problems() const override { return {}; }
  bool can_continue() const override { return false; }
  TraceFormat format() const override { return TraceFormat::kMooncake; }
  bool has_sessions() const override { return false; }

 private:
  static SyntheticOptions Options() {
    SyntheticOptions options;
    options.sessions = 60;
    options.session_interval_ms = 300;
    options.system_tokens = 150;
    options.turns = 3;
    options.turn_tokens = 60;
    options.output_tokens = 40;
    options.think_ms = 1000;
    options.max_input = 1500;
    options.hash_block = 16;
    return options;
  }
  SyntheticTrace trace_;
};

Scene SmallPool(std::vector<CacheGroup> groups) {
  Scene scene;
  scene.settings.num_gpu_blocks = 260;
  scene.settings.max_num_seqs = 16;
  scene.settings.max_num_batched_tokens = 256;
  scene.settings.max_model_len = 2000;
  scene.settings.reserve_full_sequence = false;
  scene.settings.groups = std::move(groups);
  return scene;
}

// --- clean runs -----------------------------------------------------------------

struct Case {
  const char* name;
  Scene scene;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class PagedReplay : public ::testing::TestWithParam<Case> {};

TEST_P(PagedReplay, EveryByteReadIsTheRightOne) {
  Conversations trace;
  const Ran ran = Play(GetParam().scene, &trace);
  EXPECT_TRUE(ran.status.ok()) << ran.status;
  EXPECT_GT(ran.rows + ran.states, 10'000);
  // The run has what it is here for.
  const vllm::Settings& settings = GetParam().scene.settings;
  if (settings.preemption_mode == vllm::PreemptionMode::kSwap) {
    EXPECT_GT(ran.Of(PageOpKind::kSwapBlocks).items, 0);
  } else {
    EXPECT_GT(ran.work->resumed, 0);
  }
  if (GetParam().scene.options.sequences.width > 1) {
    EXPECT_GT(ran.work->forks, 0);
    EXPECT_GT(ran.Of(PageOpKind::kCopyBlock).ops, 0);
  }
  for (const PagedGroup& group : ran.groups) {
    if (group.holds_rows() || group.state_mode != StateMode::kAlign) continue;
    EXPECT_GT(ran.Of(PageOpKind::kRestoreState).ops, 0);
  }
  // Whatever was given out came back.
  EXPECT_EQ(ran.Of(PageOpKind::kAssignBlocks).items,
            ran.Of(PageOpKind::kReleaseBlocks).items);
  EXPECT_EQ(ran.counts.free_blocks,
            GetParam().scene.settings.num_gpu_blocks - 1);
}

// Two tellings of the same work: from tables, and from plans alone.
TEST_P(PagedReplay, PlansTellTheSameWork) {
  Conversations trace;
  const Ran ran = Play(GetParam().scene, &trace);
  ASSERT_TRUE(ran.status.ok()) << ran.status;
  EXPECT_EQ(ran.work->Items(PagingPart::kWriteTokens),
            ran.Of(PageOpKind::kWriteTokens).items);
  EXPECT_EQ(ran.work->Items(PagingPart::kSwapOut) +
                ran.work->Items(PagingPart::kSwapIn),
            ran.Of(PageOpKind::kSwapBlocks).items);
  EXPECT_EQ(ran.work->Items(PagingPart::kCopyBlocks),
            ran.Of(PageOpKind::kCopyBlock).ops);
  if (GetParam().scene.settings.num_speculative_tokens == 0) {
    EXPECT_EQ(ran.work->Items(PagingPart::kCopyStates),
              ran.Of(PageOpKind::kRestoreState).items);
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  cases.push_back({"full", SmallPool({})});
  cases.push_back({"windows", SmallPool({Full(), Window(64), Window(100)})});
  cases.push_back({"chunks", SmallPool({Full(), Chunk(64)})});
  cases.push_back({"states", SmallPool({Full(), State(), State()})});
  cases.push_back(
      {"every_state", SmallPool({Full(), State(16, StateMode::kAll)})});
  cases.push_back({"all_kinds", SmallPool({Full(), Window(64), State()})});
  Scene uncached = SmallPool({Full(), State(2000, StateMode::kNone)});
  uncached.settings.enable_prefix_caching = false;
  cases.push_back({"no_cache", uncached});
  Scene dense = SmallPool({Full(), Window(64), State()});
  dense.settings.retention_interval.reset();
  cases.push_back({"dense_checkpoints", dense});
  Scene fine = SmallPool({Full(32), State(32)});
  fine.settings.block_size = 32;
  fine.settings.prefix_match_unit = 16;
  cases.push_back({"partial_hits", fine});
  Scene drafts = SmallPool({Full(), State()});
  drafts.settings.num_speculative_tokens = 3;
  cases.push_back({"drafts", drafts});
  Scene window_drafts = SmallPool({Full(), Window(64)});
  window_drafts.settings.num_speculative_tokens = 2;
  window_drafts.settings.speculative_method = vllm::SpeculativeMethod::kNgram;
  cases.push_back({"drafts_from_the_prompt", window_drafts});
  Scene async = SmallPool({Full(), Window(64), State()});
  async.settings.async_scheduling = true;
  cases.push_back({"async", async});
  Scene swap = SmallPool({Full(), Window(64), State()});
  swap.settings.preemption_mode = vllm::PreemptionMode::kSwap;
  swap.settings.host_blocks = 300;
  cases.push_back({"swap", swap});
  Scene samples = SmallPool({Full(), Window(64), State()});
  samples.options.sequences = {Sequences::Kind::kForkedSamples, 3};
  cases.push_back({"samples", samples});
  Scene beams = SmallPool({Full(), State()});
  beams.options.sequences = {Sequences::Kind::kBeams, 4};
  cases.push_back({"beams", beams});
  Scene everything = SmallPool({Full(), Window(64), State()});
  everything.settings.preemption_mode = vllm::PreemptionMode::kSwap;
  everything.settings.host_blocks = 100;
  everything.settings.num_speculative_tokens = 2;
  everything.options.sequences = {Sequences::Kind::kForkedSamples, 2};
  cases.push_back({"forks_swaps_drafts", everything});
  Scene policy = SmallPool({Full(), State()});
  policy.settings.checkpoints = *vllm::ParseCheckpointPolicy("every:64+value");
  cases.push_back({"checkpoint_policy", policy});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Runs, PagedReplay, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

// --- mistakes -------------------------------------------------------------------

class CaughtBug : public ::testing::Test {
 protected:
  static Ran PlayWith(AllocatorBug bug, Scene scene) {
    Conversations trace;
    scene.bug = bug;
    scene.from_step = 20;
    Ran ran = Play(scene, &trace);
    EXPECT_TRUE(ran.struck);
    EXPECT_EQ(ran.status.code(), absl::StatusCode::kDataLoss);
    return ran;
  }
  static Scene Forking() {
    Scene scene = SmallPool({});
    scene.options.sequences = {Sequences::Kind::kForkedSamples, 2};
    return scene;
  }
};

TEST_F(CaughtBug, DoubleOwnerThroughAStaleFree) {
  EXPECT_THAT(
      std::string(
          PlayWith(AllocatorBug::kStaleFree, SmallPool({})).status.message()),
      AllOf(HasSubstr("assign_blocks in pool \"group 0\": block "),
            HasSubstr(" is given to sequence "), HasSubstr(" while sequence "),
            HasSubstr(" owns it; last written by sequence ")));
}

TEST_F(CaughtBug, FreedBlockStillInATable) {
  EXPECT_THAT(
      std::string(
          PlayWith(AllocatorBug::kStaleTable, SmallPool({})).status.message()),
      AllOf(HasSubstr("assign_blocks in pool \"group 0\": block "),
            HasSubstr(" owns it; last written by sequence ")));
}

TEST_F(CaughtBug, CopyOnWriteSourceOverwritten) {
  EXPECT_THAT(
      std::string(
          PlayWith(AllocatorBug::kLostCopy, Forking()).status.message()),
      AllOf(HasSubstr("write_tokens in pool \"group 0\": block "),
            HasSubstr(" is written by sequence "), HasSubstr(" owns it")));
}

// The same three without a word about owners: found when the wrong bytes are read.
TEST_F(CaughtBug, TheBytesAloneTell) {
  for (const AllocatorBug bug :
       {AllocatorBug::kStaleFree, AllocatorBug::kStaleTable,
        AllocatorBug::kLostCopy}) {
    Scene scene = bug == AllocatorBug::kLostCopy ? Forking() : SmallPool({});
    scene.bytes_only = true;
    EXPECT_THAT(std::string(PlayWith(bug, scene).status.message()),
                AllOf(HasSubstr("gather_sequence in pool \"group 0\": block "),
                      HasSubstr(", position "), HasSubstr(" of sequence "),
                      HasSubstr(": expected 0x"), HasSubstr(", found 0x"),
                      HasSubstr("; last written by sequence "),
                      HasSubstr("(write_tokens, operation ")));
  }
}

// --- a public trace -------------------------------------------------------------

// 2,000 requests of a production trace in too small a pool.
TEST(PagedMooncake, EveryByteReadIsTheRightOne) {
  const std::string path = PublicTrace("mooncake_conversation.jsonl");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  for (const bool hybrid : {false, true}) {
    TraceOptions options;
    options.limit = 2000;
    auto trace = OpenTrace(path, options);
    ASSERT_TRUE(trace.ok()) << trace.status();
    Scene scene;
    scene.settings.num_gpu_blocks = hybrid ? 24'000 : 12'000;
    scene.settings.reserve_full_sequence = false;
    scene.settings.max_num_batched_tokens = 8192;
    scene.settings.max_model_len = 200'000;
    if (hybrid) {
      scene.settings.groups = {Full(), Window(1024), State()};
      scene.settings.preemption_mode = vllm::PreemptionMode::kSwap;
      scene.settings.host_blocks = 20'000;
      scene.options.sequences = {Sequences::Kind::kForkedSamples, 2};
    }
    const Ran ran = Play(scene, trace->get());
    EXPECT_TRUE(ran.status.ok()) << ran.status;
    EXPECT_GT(ran.rows, 20'000'000);
    if (hybrid) {
      EXPECT_GT(ran.work->forks, 0);
      EXPECT_GT(ran.states, 0);
      EXPECT_GT(ran.Of(PageOpKind::kSwapBlocks).items, 0);
      EXPECT_GT(ran.Of(PageOpKind::kRestoreState).items, 0);
    } else {
      EXPECT_GT(ran.work->resumed, 0);
    }
  }
}

}  // namespace
}  // namespace kvsim
