// Figures are those of 40 GiB of KV memory on one rank; where no derivation
// stands, they are the worked examples of vLLM's own planner
// (engines/vllm/worked_examples_test.cc).
#include "engines/plan_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "models/gpu_catalogue.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A model and a question about it: 40 GiB on an H100.
struct Asked {
  ModelSpec model;
  CapacityQuestion question;

  explicit Asked(const std::string& name, int64_t length = 0) {
    absl::StatusOr<ModelSpec> loaded = LoadModel(name);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    model = *std::move(loaded);
    question.model = &model;
    question.gpu = *FindGpu("H100");
    question.kv_memory = Bytes(42949672960);
    if (length > 0) question.max_model_len = Tokens(length);
  }
};

PlanComparison Compared(const CapacityQuestion& a, const CapacityQuestion& b) {
  absl::StatusOr<PlanComparison> comparison = ComparePlans(a, b);
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return *std::move(comparison);
}

const ComparedFigure& Figure(const PlanComparison& comparison,
                             const std::string& key) {
  static const auto& missing = *new ComparedFigure{PlanFigure{}, PlanFigure{}};
  for (const ComparedFigure& figure : comparison.figures) {
    if (figure.Either().key == key) return figure;
  }
  ADD_FAILURE() << "no figure " << key;
  return missing;
}

void ExpectCounts(const PlanComparison& comparison, const std::string& key,
                  int64_t a, int64_t b) {
  const ComparedFigure& figure = Figure(comparison, key);
  EXPECT_EQ(std::get<int64_t>(figure.a->value), a) << key;
  EXPECT_EQ(std::get<int64_t>(figure.b->value), b) << key;
}

// The settings that moved a figure, in order.
std::vector<std::string> CausesOf(const PlanComparison& comparison,
                                  const std::string& key) {
  std::vector<std::string> causes;
  for (const size_t step : Figure(comparison, key).steps) {
    causes.push_back(comparison.steps[step].setting);
  }
  return causes;
}

std::vector<std::string> MovedBy(const ComparisonStep& step) {
  std::vector<std::string> keys;
  for (const FigureMove& move : step.moves) keys.push_back(move.Either().key);
  return keys;
}

const ComparisonStep& StepOf(const PlanComparison& comparison,
                             const std::string& setting) {
  static const auto& missing = *new ComparisonStep;
  for (const ComparisonStep& step : comparison.steps) {
    if (step.setting == setting) return step;
  }
  ADD_FAILURE() << "no step " << setting;
  return missing;
}

TEST(PlanComparison, EqualQuestionsHaveEqualFigures) {
  const Asked llama("llama-2-7b");
  const PlanComparison comparison = Compared(llama.question, llama.question);
  EXPECT_THAT(comparison.steps, IsEmpty());
  EXPECT_THAT(comparison.unexplained, IsEmpty());
  for (const ComparedFigure& figure : comparison.figures) {
    EXPECT_TRUE(figure.Equal()) << figure.Either().key;
  }
}

// Half the bytes, twice the blocks.
TEST(PlanComparison, Fp8HalvesTheBlock) {
  const Asked a("llama-2-7b");
  CapacityQuestion b = a.question;
  b.kv_cache_dtype = KvCacheDtype::kFp8;
  const PlanComparison comparison = Compared(a.question, b);
  ASSERT_THAT(comparison.steps, SizeIs(1));
  EXPECT_EQ(comparison.steps[0].setting, "--kv-cache-dtype");
  EXPECT_EQ(comparison.steps[0].from, "auto");
  EXPECT_EQ(comparison.steps[0].to, "fp8");
  EXPECT_THAT(comparison.unexplained, IsEmpty());
  ExpectCounts(comparison, "bytes_per_block", 8388608, 4194304);
  ExpectCounts(comparison, "num_blocks", 5120, 10240);
  ExpectCounts(comparison, "kv_cache_tokens", 81920, 163840);
  EXPECT_THAT(CausesOf(comparison, "num_blocks"),
              ElementsAre("--kv-cache-dtype"));
  EXPECT_TRUE(Figure(comparison, "blocks_per_request").Equal());
}

// One batch of 8,192 tokens in flight up to 0.23, two since: a request takes
// 11,654 blocks (8,192 of history, 6 x 577) and then 14,726 (6 x 1,089).
TEST(PlanComparison, BatchesInFlightOfAWindowedHybrid) {
  Asked a("gemma-3-27b", 131072);
  CapacityQuestion b = a.question;
  a.question.engine_version = "0.23.0";
  b.engine_version = "0.27.1";
  const PlanComparison comparison = Compared(a.question, b);
  ExpectCounts(comparison, "blocks_per_request", 11654, 14726);
  ExpectCounts(comparison, "kv_cache_tokens", 368540, 291658);
  ExpectCounts(comparison, "num_blocks", 32768, 32768);
  EXPECT_THAT(CausesOf(comparison, "blocks_per_request"),
              ElementsAre("batches-in-flight"));
  const ComparisonStep& batches = StepOf(comparison, "batches-in-flight");
  EXPECT_EQ(batches.from, "1");
  EXPECT_EQ(batches.to, "2");
  EXPECT_THAT(batches.seen, HasSubstr("1 last seen in 0.23.0"));
  EXPECT_THAT(batches.rule, HasSubstr("in flight"));
  // One context rank: whether hybrids may have several says nothing here.
  EXPECT_THAT(StepOf(comparison, "context-parallel-hybrids").moves, IsEmpty());
  EXPECT_THAT(MovedBy(StepOf(comparison, "--engine-version")),
              ElementsAre("engine"));
  EXPECT_THAT(comparison.unexplained, IsEmpty());
}

// 2,774 blocks of four groups: 2,774 // 4 x 1,920 = 1,330,560 tokens by the old
// line; 547 blocks of history and a state of each of three groups are 550, two
// states 553; int(2,774 / 553 x 1,048,576) = 5,259,945 by the new line.
TEST(PlanComparison, TwoRulesMoveTheConcurrencyOfAHybridOneAfterTheOther) {
  Asked a("kimi-linear-48b", 1048576);
  CapacityQuestion b = a.question;
  a.question.engine_version = "0.19.2";
  const PlanComparison comparison = Compared(a.question, b);
  ExpectCounts(comparison, "num_blocks", 2774, 2774);
  ExpectCounts(comparison, "blocks_per_request", 550, 553);
  ExpectCounts(comparison, "kv_cache_tokens", 1330560, 5259945);
  EXPECT_THAT(CausesOf(comparison, "blocks_per_request"),
              ElementsAre("hybrid-prefix-caching"));
  EXPECT_THAT(CausesOf(comparison, "kv_cache_tokens"),
              ElementsAre("token-line"));
  EXPECT_THAT(StepOf(comparison, "batches-in-flight").moves, IsEmpty());
  EXPECT_THAT(comparison.unexplained, IsEmpty());
}

// Whole tuples take 22 x 47,808 B a block, packed pages 1,002,240 B:
// 42,949,672,960 // 1,051,776 = 40,835 and 42,853 blocks.
TEST(PlanComparison, PackedPoolOfCompressedAttention) {
  Asked a("deepseek-v4-flash", 1048576);
  CapacityQuestion b = a.question;
  a.question.engine_version = "0.22.1";
  const PlanComparison comparison = Compared(a.question, b);
  ExpectCounts(comparison, "bytes_per_block", 1051776, 1002240);
  ExpectCounts(comparison, "num_blocks", 40835, 42853);
  EXPECT_THAT(CausesOf(comparison, "num_blocks"),
              ElementsAre("compressed-pool"));
  EXPECT_EQ(StepOf(comparison, "compressed-pool").from, "tuple");
  EXPECT_EQ(StepOf(comparison, "compressed-pool").to, "packed");
  EXPECT_THAT(comparison.unexplained, IsEmpty());
}

// The latent is whole on every rank: two more ranks change no rank's pool.
TEST(PlanComparison, TensorRanksDoNotDivideALatent) {
  Asked a("deepseek-v3");
  CapacityQuestion b = a.question;
  a.question.tensor = 2;
  b.tensor = 4;
  const PlanComparison comparison = Compared(a.question, b);
  ASSERT_THAT(comparison.steps, SizeIs(1));
  EXPECT_THAT(MovedBy(comparison.steps[0]), ElementsAre("split", "num_gpus"));
  EXPECT_THAT(comparison.steps[0].rule, HasSubstr("latent row is whole"));
  ExpectCounts(comparison, "num_blocks", 38199, 38199);
  EXPECT_THAT(comparison.notes_b, Contains(HasSubstr("4 copies")));
}

// 163,840 tokens in blocks of 64: 2,560 blocks, a quarter over four ranks;
// 9,549 / 640 x 163,840 = 2,444,544 tokens.
TEST(PlanComparison, ContextRanksCoverMoreTokensWithABlock) {
  Asked a("deepseek-v3");
  a.question.block_size = Tokens(64);
  a.question.tensor = 4;
  CapacityQuestion b = a.question;
  b.decode_context = 4;
  const PlanComparison comparison = Compared(a.question, b);
  ExpectCounts(comparison, "blocks_per_request", 2560, 640);
  ExpectCounts(comparison, "kv_cache_tokens", 611136, 2444544);
  ExpectCounts(comparison, "bytes_per_block", 4497408, 4497408);
  EXPECT_THAT(CausesOf(comparison, "kv_cache_tokens"),
              ElementsAre("--decode-context-parallel-size"));
}

// Four context ranks need four tensor ranks: the tensor size waits.
TEST(PlanComparison, ASwitchThatIsImpossibleAloneWaits) {
  Asked a("deepseek-v3");
  CapacityQuestion b = a.question;
  a.question.tensor = 4;
  a.question.decode_context = 4;
  const PlanComparison comparison = Compared(a.question, b);
  ASSERT_THAT(comparison.steps, SizeIs(2));
  EXPECT_EQ(comparison.steps[0].setting, "--decode-context-parallel-size");
  EXPECT_EQ(comparison.steps[1].setting, "--tensor-parallel-size");
  EXPECT_THAT(comparison.unexplained, IsEmpty());
}

// Eight stages do not fill six cards, six do not fill eight.
TEST(PlanComparison, SwitchesThatNeedEachOtherAreOneStep) {
  Asked a("llama-2-7b");
  CapacityQuestion b = a.question;
  a.question.num_gpus = a.question.pipeline = 8;
  b.num_gpus = b.pipeline = 6;
  const PlanComparison comparison = Compared(a.question, b);
  ASSERT_THAT(comparison.steps, SizeIs(1));
  EXPECT_EQ(comparison.steps[0].setting,
            "--num-gpus with --pipeline-parallel-size");
  EXPECT_THAT(comparison.unexplained, IsEmpty());
}

// Any two versions, with a card so that memory is modelled: every difference
// has a named cause.
TEST(PlanComparison, VersionsDifferByNothingUnexplained) {
  const char* kVersions[] = {"0.11.0", "0.16.0", "0.19.2", "0.20.1",
                             "0.23.0", "0.27.1", "0.31.0"};
  for (const char* name : {"llama-3.1-8b", "qwen3-next-80b", "gemma-3-27b"}) {
    Asked a(name, 32768);
    a.question.kv_memory.reset();
    a.question.num_gpus = 4;
    for (const char* from : kVersions) {
      for (const char* to : kVersions) {
        CapacityQuestion b = a.question;
        a.question.engine_version = from;
        b.engine_version = to;
        EXPECT_THAT(Compared(a.question, b).unexplained, IsEmpty())
            << name << " " << from << " " << to;
      }
    }
  }
}

// SGLang's charge of Kimi-Linear is 8,064 B a token and 43,417,600 B a state
// slot: 468 slots and one more, 2,803,210 tokens.
TEST(PlanComparison, EnginesHaveRulesInsteadOfSteps) {
  Asked a("kimi-linear-48b", 1048576);
  CapacityQuestion b = a.question;
  b.engine = "sglang";
  const PlanComparison comparison = Compared(a.question, b);
  EXPECT_FALSE(comparison.same_engine);
  EXPECT_THAT(comparison.steps, IsEmpty());
  ExpectCounts(comparison, "kv_cache_tokens", 5259945, 2803210);
  const ComparedFigure& blocks = Figure(comparison, "num_blocks");
  EXPECT_THAT(blocks.rule_a,
              HasSubstr("42,949,672,960 B // 15,482,880 B = 2,774"));
  EXPECT_THAT(blocks.rule_b, HasSubstr("2,803,210 tokens in pages of 1"));
  EXPECT_THAT(Figure(comparison, "kv_cache_tokens").rule_b,
              HasSubstr("state 469 x 41.41 MiB"));
  const ComparedFigure& states =
      Figure(comparison, "side_pools.state.num_blocks");
  EXPECT_FALSE(states.a.has_value());
  EXPECT_EQ(std::get<int64_t>(states.b->value), 469);
}

TEST(PlanComparison, OneEnginesOwnSettingsAreSteps) {
  Asked a("deepseek-v3");
  a.question.engine = "sglang";
  CapacityQuestion b = a.question;
  sglang::Settings settings;
  settings.page_size = 64;
  b.engine_settings = settings;
  const PlanComparison comparison = Compared(a.question, b);
  ASSERT_THAT(comparison.steps, SizeIs(1));
  EXPECT_EQ(comparison.steps[0].setting, "--page-size");
  // 611,191 tokens of 70,272 B; whole pages of 64 are 611,136.
  ExpectCounts(comparison, "kv_cache_tokens", 611191, 611136);
  ExpectCounts(comparison, "block_tokens", 1, 64);
  EXPECT_THAT(comparison.unexplained, IsEmpty());
}

TEST(PlanComparison, AnErrorNamesTheSide) {
  const Asked a("llama-2-7b");
  CapacityQuestion b = a.question;
  b.tensor = 3;
  EXPECT_THAT(std::string(ComparePlans(a.question, b).status().message()),
              testing::StartsWith("B: --tensor-parallel-size 3"));
  EXPECT_THAT(std::string(ComparePlans(b, a.question).status().message()),
              testing::StartsWith("A: "));
}

}  // namespace
}  // namespace kvsim
