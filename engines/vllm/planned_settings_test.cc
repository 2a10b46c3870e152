// Whole models, planned and then replayed: what the planner says of blocks and bytes
// must be what the scheduler's groups hold. The deployments are those of the worked
// examples (40 GiB of KV memory on one rank, H100 server defaults).
#include "engines/vllm/planned_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/engine.h"
#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Deployment {
  const char* name;
  const char* model;
  const char* overrides = "";
  int64_t length = 0;  // 0: the model's
  int64_t tensor = 1, context = 1, stages = 1;
  int64_t drafts = 0;
  int64_t block = 0;
  KvCacheDtype dtype = KvCacheDtype::kAuto;
  const char* version = "";
  bool hybrid_manager = true;
  bool caching = true;
  StateMode mode = StateMode::kAlign;
};

void PrintTo(const Deployment& d, std::ostream* out) { *out << d.name; }

// Llama 4's shape, small where the cache does not look.
constexpr char kLlama4[] = R"({
    "model_type": "llama4", "architectures": ["Llama4ForConditionalGeneration"],
    "text_config": {
      "model_type": "llama4_text", "torch_dtype": "bfloat16",
      "num_hidden_layers": 48, "hidden_size": 5120, "vocab_size": 202048,
      "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "attention_chunk_size": 8192, "max_position_embeddings": 10485760,
      "intermediate_size": 8192, "intermediate_size_mlp": 16384,
      "num_local_experts": 16, "num_experts_per_tok": 1}})";

ModelSpec ModelOf(const Deployment& d) {
  absl::StatusOr<ModelSpec> model = std::string(d.model) == "llama-4"
                                        ? ReadModelConfig(kLlama4, "llama-4")
                                        : LoadModel(d.model, d.overrides);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

struct Planned {
  PoolPlan plan;
  absl::StatusOr<Settings> settings;
};

Planned Plan(const Deployment& d) {
  const ModelSpec model = ModelOf(d);
  CapacityQuestion question;
  question.model = &model;
  question.kv_memory = Bytes(42949672960);
  question.gpu = *FindGpu("H100");
  question.engine_version = d.version;
  question.kv_cache_dtype = d.dtype;
  question.speculative_tokens = d.drafts;
  question.prefix_caching = d.caching;
  question.state_mode = d.mode;
  if (d.length > 0) question.max_model_len = Tokens(d.length);
  if (d.block > 0) question.block_size = Tokens(d.block);
  question.hybrid_manager = d.hybrid_manager;
  const ParallelPlan parallel = {
      .tensor = d.tensor, .pipeline = d.stages, .decode_context = d.context};
  const absl::StatusOr<Resolved> resolved = ResolveFlags(question);
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  const absl::StatusOr<PlannedModel> planned =
      PlanModel(question, *resolved, parallel);
  EXPECT_TRUE(planned.ok()) << planned.status();
  Settings asked;
  asked.num_speculative_tokens = d.drafts;
  return {planned->pool, PlannedSettings(planned->pool, *resolved, asked)};
}

class PlannedModelTest : public ::testing::TestWithParam<Deployment> {
 protected:
  void SetUp() override {
    const Planned planned = Plan(GetParam());
    plan_ = planned.plan;
    ASSERT_TRUE(planned.settings.ok()) << planned.settings.status();
    settings_ = *planned.settings;
  }
  PoolPlan plan_;
  Settings settings_;
};

// Blocks of one request of the maximum length, from the group alone.
int64_t MostBlocks(const CacheGroup& group, const Settings& s) {
  const int64_t in_flight = s.MaxTokensInFlight();
  const int64_t length = s.max_model_len;
  switch (group.kind) {
    case GroupKind::kSlidingWindow:
      return CeilDiv(std::min(group.window - 1 + in_flight, length),
                     group.block_tokens) +
             1;
    case GroupKind::kChunkedLocal:
      return CeilDiv(std::min(group.chunk + in_flight, length),
                     group.block_tokens);
    case GroupKind::kRecurrent:
      switch (group.state_mode) {
        case StateMode::kNone:
          return 1 + s.num_speculative_tokens;
        case StateMode::kAlign:
          return 2 + s.num_speculative_tokens;
        case StateMode::kAll:
          break;
      }
      return CeilDiv(length, group.block_tokens) + s.num_speculative_tokens;
    case GroupKind::kCross:
      return CeilDiv(group.encoder_tokens, group.block_tokens);
    case GroupKind::kFull:
      break;
  }
  return CeilDiv(length, group.block_tokens);
}

TEST_P(PlannedModelTest, GroupsHaveThePlansBytes) {
  ASSERT_EQ(settings_.groups.size(), plan_.groups.size());
  for (size_t g = 0; g < plan_.groups.size(); ++g) {
    const CacheGroup& group = settings_.groups[g];
    const ::kvsim::CacheGroup& planned = plan_.groups[g];
    EXPECT_EQ(group.BlockBytes(), plan_.bytes_per_block.value());
    const int64_t used = group.geometry.state_bytes +
                         group.geometry.row_bytes * group.block_tokens;
    const int64_t kept =
        group.kind == GroupKind::kRecurrent ? group.geometry.state_bytes : used;
    EXPECT_LE(kept, planned.used.value());
    // Rows lose less than one byte a token to rounding.
    EXPECT_LT(planned.used.value() - kept, group.block_tokens);
  }
  EXPECT_EQ(settings_.num_gpu_blocks, plan_.num_blocks.value());
  const RankPool& rank = plan_.ranks[plan_.binding_rank];
  EXPECT_EQ(
      settings_.pool_bytes - settings_.num_gpu_blocks * settings_.BlockBytes(),
      rank.remainder.value());
}

TEST_P(PlannedModelTest, ARequestTakesThePlansBlocks) {
  const int64_t most =
      std::accumulate(settings_.groups.begin(), settings_.groups.end(),
                      int64_t{0}, [&](int64_t sum, const CacheGroup& group) {
                        return sum + MostBlocks(group, settings_);
                      });
  EXPECT_EQ(most, WorstCaseBlocks(plan_, plan_.max_model_len).value());
}

TEST_P(PlannedModelTest, TheEngineAcceptsTheSettings) {
  const absl::StatusOr<Settings> normalized = settings_.Normalized();
  ASSERT_TRUE(normalized.ok()) << normalized.status();
  // Nothing is left to fill in: blocks of all groups are of one size already.
  for (size_t g = 0; g < settings_.groups.size(); ++g) {
    EXPECT_EQ(normalized->groups[g].geometry.slot_padding,
              settings_.groups[g].geometry.slot_padding);
  }
  CacheUnits units;
  ASSERT_TRUE(ComputeUnits(settings_.groups, {}, &units).ok());
  // Without caching nothing is hit, and a state's block is the longest request.
  if (GetParam().caching) {
    EXPECT_EQ(units.scheduler_tokens, plan_.scheduler_block_tokens.value());
  }
}

// One request in the engine: never more blocks than the planner's worst case, and
// once it decodes no more than in the planner's steady state, but for a state each
// group keeps until it is copied.
TEST_P(PlannedModelTest, OneRequestHoldsWhatThePlannerSays) {
  auto engine = VllmEngine::Create(settings_);
  ASSERT_TRUE(engine.ok()) << engine.status();
  const int64_t prompt =
      std::min<int64_t>(settings_.max_model_len - 64, 30'000);
  const int64_t outputs = 40;
  std::vector<int64_t> tokens(static_cast<size_t>(prompt + outputs + 8));
  std::iota(tokens.begin(), tokens.end(), 0);
  TokenChain keys(tokens, (*engine)->cache().units().hash_tokens);
  (*engine)->Add(
      {.num_prompt_tokens = prompt, .max_tokens = outputs, .keys = &keys});
  StepPlan step;
  std::vector<RequestId> finished;
  int64_t peak = 0, last = 0;
  while ((*engine)->HasUnfinished()) {
    (*engine)->Schedule(&step);
    ASSERT_EQ(step.scheduled.size(), 1u);
    last = (*engine)->cache().pool().num_held();
    peak = std::max(peak, last);
    const LedgerSnapshot ledger = (*engine)->Ledger();
    ASSERT_TRUE(ledger.Balanced());
    ASSERT_EQ(ledger.pool_bytes, settings_.pool_bytes);
    const std::vector<int32_t> sampled = {step.scheduled[0].samples ? 1 : 0};
    (*engine)->Complete(step, sampled, &finished);
  }
  const Tokens length(prompt + outputs);
  EXPECT_LE(peak, WorstCaseBlocks(plan_, length).value());
  EXPECT_LE(last, SteadyBlocks(plan_, length).value() +
                      static_cast<int64_t>(plan_.groups.size()));
}

INSTANTIATE_TEST_SUITE_P(
    WorkedExamples, PlannedModelTest,
    ::testing::Values(
        Deployment{"Llama2", "llama-2-7b"}, Deployment{"Mistral", "mistral-7b"},
        Deployment{.name = "Llama70BTensor8Nvfp4",
                   .model = "llama-3.1-70b",
                   .tensor = 8,
                   .dtype = KvCacheDtype::kNvfp4},
        Deployment{.name = "DeepSeekV3",
                   .model = "deepseek-v3",
                   .drafts = 1,
                   .block = 64},
        Deployment{.name = "DeepSeekV3Context8",
                   .model = "deepseek-v3",
                   .tensor = 8,
                   .context = 8,
                   .block = 64},
        Deployment{.name = "DeepSeekV32",
                   .model = "deepseek-v3.2",
                   .dtype = KvCacheDtype::kFp8DsMla},
        Deployment{.name = "Glm52", .model = "glm-5.2", .length = 400'000},
        Deployment{.name = "KimiLinear",
                   .model = "kimi-linear-48b",
                   .length = 1048576},
        Deployment{.name = "KimiLinearTensor4",
                   .model = "kimi-linear-48b",
                   .length = 1048576,
                   .tensor = 4},
        Deployment{.name = "KimiLinearWithoutCaching",
                   .model = "kimi-linear-48b",
                   .length = 1048576,
                   .caching = false},
        Deployment{.name = "Qwen3Next", .model = "qwen3-next-80b"},
        Deployment{
            .name = "Qwen3NextTensor4", .model = "qwen3-next-80b", .tensor = 4},
        Deployment{.name = "Qwen3NextMtp",
                   .model = "qwen3-next-80b",
                   .overrides = R"({"num_nextn_predict_layers": 1})",
                   .drafts = 1},
        Deployment{"GptOss", "gpt-oss-120b"},
        Deployment{.name = "Gemma3", .model = "gemma-3-27b", .length = 131072},
        Deployment{.name = "Gemma3InMay",
                   .model = "gemma-3-27b",
                   .length = 131072,
                   .version = "2026-05-24"},
        Deployment{.name = "Gemma3TwoStages",
                   .model = "gemma-3-27b",
                   .length = 131072,
                   .stages = 2},
        Deployment{.name = "Gemma3HybridManagerOff",
                   .model = "gemma-3-27b",
                   .length = 65536,
                   .hybrid_manager = false},
        Deployment{.name = "Llama4",
                   .model = "llama-4",
                   .length = 1048576,
                   .tensor = 8},
        Deployment{.name = "DeepSeekV4Flash",
                   .model = "deepseek-v4-flash",
                   .length = 1048576},
        Deployment{.name = "DeepSeekV4FlashMtp",
                   .model = "deepseek-v4-flash",
                   .length = 1048576,
                   .drafts = 1},
        Deployment{.name = "DeepSeekV4FlashBuckets",
                   .model = "deepseek-v4-flash",
                   .length = 262144,
                   .version = "0.23.0"},
        Deployment{.name = "DeepSeekV4FlashTuples",
                   .model = "deepseek-v4-flash",
                   .length = 262144,
                   .version = "0.22.1"},
        Deployment{.name = "DeepSeekV4Pro",
                   .model = "deepseek-v4-pro",
                   .length = 1048576},
        Deployment{.name = "KimiK3", .model = "kimi-k3", .tensor = 8}),
    [](const auto& info) { return std::string(info.param.name); });

// --- what groups come out ---------------------------------------------------------

std::vector<std::string> Words(const Settings& settings) {
  std::vector<std::string> words;
  for (const CacheGroup& g : settings.groups) {
    words.push_back(std::string(GroupKindName(g.kind)) + "/" +
                    std::to_string(g.block_tokens));
    if (g.window > 0) words.back() += " w" + std::to_string(g.window);
    if (g.chunk > 0) words.back() += " c" + std::to_string(g.chunk);
  }
  return words;
}

std::vector<std::string> GroupsOf(const Deployment& d) {
  const Planned planned = Plan(d);
  EXPECT_TRUE(planned.settings.ok()) << planned.settings.status();
  return Words(*planned.settings);
}

TEST(PlannedSettings, GroupsFollowTheLayers) {
  EXPECT_THAT(GroupsOf({.name = "", .model = "kimi-linear-48b"}),
              ElementsAre("recurrent/1920", "recurrent/1920", "recurrent/1920",
                          "full/1920"));
  EXPECT_THAT(GroupsOf({.name = "", .model = "gpt-oss-120b"}),
              ElementsAre("sliding_window/16 w128", "full/16"));
  EXPECT_THAT(
      GroupsOf({.name = "", .model = "deepseek-v4-flash", .length = 1048576}),
      ElementsAre("full/256", "sliding_window/64 w128",
                  "sliding_window/64 w128", "sliding_window/4 w8",
                  "sliding_window/8 w128"));
  EXPECT_THAT(
      GroupsOf(
          {.name = "", .model = "llama-4", .length = 1048576, .tensor = 8}),
      ElementsAre("chunked_local/16 c8192", "chunked_local/16 c8192",
                  "chunked_local/16 c8192", "full/16"));
}

TEST(PlannedSettings, WithoutCachingAStateIsOneBlockForEver) {
  const Planned planned = Plan({.name = "",
                                .model = "kimi-linear-48b",
                                .length = 65536,
                                .caching = false});
  EXPECT_FALSE(planned.settings->enable_prefix_caching);
  EXPECT_EQ(planned.settings->groups[0].state_mode, StateMode::kNone);
  EXPECT_EQ(planned.settings->groups[0].block_tokens, 65536);
}

// Chunks are cut at the block that holds a state; the flag asked for 16.
TEST(PlannedSettings, ChunksEndWithTheGrownBlock) {
  EXPECT_EQ(Plan({.name = "", .model = "kimi-linear-48b"}).settings->block_size,
            1920);
}

// 64 tokens on each of eight ranks; 4,497,408 B are 8,784 a token of the sequence.
TEST(PlannedSettings, ShardedBlocksStandForTheTokensOfAllRanks) {
  const Planned planned = Plan({.name = "",
                                .model = "deepseek-v3",
                                .tensor = 8,
                                .context = 8,
                                .block = 64});
  EXPECT_EQ(planned.settings->groups[0].block_tokens, 512);
  EXPECT_EQ(planned.settings->groups[0].geometry.row_bytes, 8784);
  EXPECT_EQ(planned.settings->block_size, 512);
  EXPECT_FALSE(planned.settings->partial_hits);
  EXPECT_DOUBLE_EQ(HistoryBytesPerToken(planned.plan), 8784);
}

// A page of 2,211,840 B holds a state of 2,170,880; the third group has six of
// seven layers.
TEST(PlannedSettings, StatesAreBytesAndTheRestIsPadding) {
  const Planned planned = Plan({.name = "", .model = "kimi-linear-48b"});
  std::vector<int64_t> states, padding, slots;
  for (const CacheGroup& group : planned.settings->groups) {
    states.push_back(group.geometry.state_bytes);
    padding.push_back(group.geometry.page_padding);
    slots.push_back(group.geometry.slot_padding);
  }
  EXPECT_THAT(states, ElementsAre(7 * 2170880, 7 * 2170880, 6 * 2170880, 0));
  EXPECT_THAT(padding, ElementsAre(7 * 40960, 7 * 40960, 6 * 40960, 0));
  EXPECT_THAT(slots, ElementsAre(0, 0, 2211840, 0));
}

TEST(PlannedSettings, ARefusedStartIsAnError) {
  EXPECT_THAT(
      Plan({.name = "", .model = "glm-5.2"}).settings.status().ToString(),
      HasSubstr("refuses to start"));
}

TEST(PlannedSettings, TheFirstEngineIsNotReplayed) {
  EXPECT_THAT(Plan({.name = "", .model = "llama-2-7b", .version = "0.7.3"})
                  .settings.status()
                  .ToString(),
              HasSubstr("V0 scheduler is not replayed"));
}

}  // namespace
}  // namespace kvsim::vllm
