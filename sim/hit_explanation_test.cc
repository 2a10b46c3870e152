// What HitRules say a hit takes, held against every look-up of whole replays.

#include "sim/hit_explanation.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "sim/vector_trace_reader.h"
#include "traces/partial_tail.h"
#include "traces/request_keys.h"
#include "traces/request_tokens.h"

namespace kvsim {
namespace {

constexpr int64_t kBlock = 16;

vllm::CacheGroup Group(vllm::GroupKind kind, int64_t tokens = 0) {
  vllm::CacheGroup group;
  group.kind = kind;
  if (kind == vllm::GroupKind::kSlidingWindow) group.window = tokens;
  if (kind == vllm::GroupKind::kChunkedLocal) group.chunk = tokens;
  if (kind == vllm::GroupKind::kRecurrent) {
    group.geometry = {.row_bytes = 0, .state_bytes = kBlock};
  }
  return group;
}

struct World {
  std::string name;
  std::vector<vllm::CacheGroup> groups;
  int64_t drafts = 0;
  int64_t match_unit = 0;
  bool asynchronous = false;
};
void PrintTo(const World& world, std::ostream* out) { *out << world.name; }

std::vector<World> Worlds() {
  using Kind = vllm::GroupKind;
  const vllm::CacheGroup full = Group(Kind::kFull);
  const vllm::CacheGroup window = Group(Kind::kSlidingWindow, 40);
  const vllm::CacheGroup state = Group(Kind::kRecurrent);
  const vllm::CacheGroup chunk = Group(Kind::kChunkedLocal, 64);
  return {{"full", {full}},
          {"drafts", {full}, 2},
          {"async", {full}, 0, 0, true},
          {"window", {full, window}},
          {"window_drafts", {full, window, window}, 2},
          {"window_only", {window}},
          {"chunk", {full, chunk}},
          {"state", {full, state, state}},
          {"state_async", {full, state}, 0, 0, true},
          {"state_drafts", {full, state}, 1},
          {"state_fine", {full, state}, 0, 4},
          {"full_fine", {full}, 0, 4},
          {"three", {full, window, state}}};
}

// Sees every key and holds the hit of every admission against the rules.
class LookupCheck final : public CacheListener {
 public:
  LookupCheck(const Engine& engine, const vllm::Settings& settings,
              const std::vector<TraceRequest>& rows)
      : rules_(*engine.hit_rules()),
        num_groups_(engine.NumGroups()),
        unit_(settings.HashTokens()) {
    const vllm::CacheUnits units = settings.Units();
    hit_unit_ = units.fine_hits ? units.hash_tokens : units.scheduler_tokens;
    for (const TraceRequest& row : rows) {
      tokens_.push_back(
          std::make_unique<RequestTokens>(row, PartialTail::kUnique));
      keys_.push_back(std::make_unique<RequestKeys>(tokens_.back().get(),
                                                    settings.HashTokens()));
    }
  }

  void OnKeyed(RequestId, int group, uint64_t key) override {
    ++blocks_[{group, key}];
  }
  void OnEvicted(RequestId, int group, uint64_t key) override {
    ASSERT_GT(blocks_[std::make_pair(group, key)], 0);
    --blocks_[{group, key}];
  }
  void OnAdmitted(const AdmissionNote& note) override {
    int64_t longest = rules_.LongestHit(note.num_tokens - 1).tokens;
    while (longest > 0 && !Serves(note, longest)) longest -= hit_unit_;
    EXPECT_EQ(longest, note.hit_tokens) << "request " << note.id;
    for (int64_t alone : note.group_tokens) EXPECT_GE(alone, longest);
    admissions_ += 1;
    hits_ += note.hit_tokens > 0 ? 1 : 0;
  }

  int64_t admissions() const { return admissions_; }
  int64_t hits() const { return hits_; }

 private:
  bool Serves(const AdmissionNote& note, int64_t tokens) {
    for (int g = 0; g < num_groups_; ++g) {
      for (const HitRules::Needed& needed : rules_.NeededPrefixes(g, tokens)) {
        if (!Has(note, g, needed)) return false;
      }
    }
    return true;
  }
  bool Has(const AdmissionNote& note, int group,
           const HitRules::Needed& needed) {
    RequestKeys& keys = *keys_[static_cast<size_t>(note.id)];
    for (int64_t t = needed.tokens;
         t <= std::min(needed.or_until, note.num_tokens - 1); t += unit_) {
      const uint64_t key = keys.Prefix(t / unit_).back();
      const auto at = blocks_.find({group, key});
      if (at != blocks_.end() && at->second > 0) return true;
    }
    return false;
  }

  const HitRules& rules_;
  const int num_groups_;
  const int64_t unit_;
  int64_t hit_unit_ = 0;
  std::vector<std::unique_ptr<RequestTokens>> tokens_;
  std::vector<std::unique_ptr<RequestKeys>> keys_;
  std::map<std::pair<int, uint64_t>, int64_t> blocks_;
  int64_t admissions_ = 0, hits_ = 0;
};

// Prompts that branch off a few common beginnings, at any token.
std::vector<TraceRequest> RandomRows(RandomStream* random) {
  std::vector<TraceRequest> rows(60);
  for (size_t i = 0; i < rows.size(); ++i) {
    TraceRequest& row = rows[i];
    row.id = static_cast<int64_t>(i);
    row.arrival_ns = static_cast<int64_t>(i) * 1500;
    row.input_length = random->Between(1, 260);
    row.output_length = random->Between(1, 40);
    row.hash_block = 10;
    for (int64_t b = 0; b < row.input_length / 10; ++b) {
      row.hash_ids.push_back(random->Below(8) == 0 ? random->Below(3) : 9);
    }
  }
  return rows;
}

class HitRulesOf : public ::testing::TestWithParam<World> {};

TEST_P(HitRulesOf, SayWhatTheLookUpFinds) {
  const World& world = GetParam();
  RandomStream random(11, world.name);
  int64_t admissions = 0, hits = 0;
  for (int round = 0; round < 12; ++round) {
    vllm::Settings settings;
    settings.num_gpu_blocks = round % 3 == 0 ? 400 : 60;
    settings.block_size = kBlock;
    settings.max_model_len = 512;
    settings.max_num_batched_tokens = random.Between(40, 300);
    settings.groups = world.groups;
    settings.num_speculative_tokens = world.drafts;
    settings.async_scheduling = world.asynchronous;
    if (world.match_unit > 0) settings.prefix_match_unit = world.match_unit;
    if (round % 4 == 1) settings.retention_interval = 64;
    if (round % 4 == 2) settings.retention_interval = std::nullopt;
    const absl::StatusOr<vllm::Settings> normalized = settings.Normalized();
    ASSERT_TRUE(normalized.ok()) << normalized.status();
    auto engine = *vllm::VllmEngine::Create(*normalized);
    std::vector<TraceRequest> rows = RandomRows(&random);
    LookupCheck check(*engine, *normalized, rows);
    engine->SetCacheListener(&check);
    FixedCost cost(1000);
    SimulatorOptions options;
    options.block_tokens = normalized->HashTokens();
    options.max_model_len = normalized->max_model_len;
    options.asynchronous = world.asynchronous;
    options.num_speculative_tokens = world.drafts;
    Simulator simulator(engine.get(), &cost, options);
    VectorTraceReader reader(std::move(rows));
    ASSERT_TRUE(simulator.Run(&reader).ok());
    admissions += check.admissions();
    hits += check.hits();
  }
  EXPECT_GT(admissions, 300);
  EXPECT_GT(hits, 50);
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, HitRulesOf, ::testing::ValuesIn(Worlds()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kvsim
