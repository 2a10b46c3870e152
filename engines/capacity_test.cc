#include "engines/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGiB = 1073741824;

// The first article's machine: 16 cards of 141 GB, 1.56 TB of weights, nothing
// else in memory.
CapacityQuestion ArticleMachine(const ModelSpec& model) {
  CapacityQuestion question;
  question.model = &model;
  question.gpu_memory = Bytes(141000000000);
  question.num_gpus = 16;
  question.gpu_memory_utilization = 1.0;
  question.weight_bytes = Bytes(1560000000000);
  question.non_kv_memory = Bytes(0);
  question.contexts = {Tokens(1048576)};
  return question;
}

int64_t ResidentOnArticleMachine(int64_t index_key_heads,
                                 int64_t decode_context, double utilization) {
  const ModelSpec model = *LoadModel("kimi-k3.1-pro");
  CapacityQuestion question = ArticleMachine(model);
  question.index_key_heads = index_key_heads;
  question.decode_context = decode_context;
  question.gpu_memory_utilization = utilization;
  const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
  EXPECT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->parallel.tensor, 16);
  return answer->contexts[0].count.resident;
}

// 141 GB - 1.56 TB / 16 = 43.5 GB a card. 24 layers of 576 x 2 + 32 x 132 B are
// 135 GB a sequence: 16 x 43.5 / 135 = 5.1 when sharded, none on one card.
TEST(FirstArticle, FiveRequestsOnlyWhenTheCacheIsSharded) {
  EXPECT_EQ(ResidentOnArticleMachine(32, 16, 1.0), 5);
  EXPECT_EQ(ResidentOnArticleMachine(32, 1, 1.0), 0);
}

// With the one index key of every engine a sequence is 32.3 GB.
TEST(FirstArticle, OneIndexKeyHoldsTwentyOne) {
  EXPECT_EQ(ResidentOnArticleMachine(1, 16, 1.0), 21);
  EXPECT_EQ(ResidentOnArticleMachine(1, 1, 1.0), 1);
}

// 0.92 x 141 - 97.5 = 32.2 GB a card: less than one whole sequence.
TEST(FirstArticle, AtTheDefaultUtilizationFifteen) {
  EXPECT_EQ(ResidentOnArticleMachine(1, 16, 0.92), 15);
  EXPECT_EQ(ResidentOnArticleMachine(1, 1, 0.92), 0);
}

// TP16 refuses a 1M request with 32 keys; the answer says so, and that context
// parallelism would hold five.
TEST(FirstArticle, TheAnswerNamesTheWayOut) {
  const ModelSpec model = *LoadModel("kimi-k3.1-pro");
  CapacityQuestion question = ArticleMachine(model);
  question.index_key_heads = 32;
  const CapacityAnswer answer = *AnswerCapacity(question);
  ASSERT_TRUE(answer.pool.refused.has_value());
  bool found = false;
  for (const Alternative& alternative : answer.alternatives) {
    if (alternative.change != "--decode-context-parallel-size 16") continue;
    found = true;
    EXPECT_THAT(alternative.resident, ElementsAre(5));
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(answer.warnings, Contains(HasSubstr("16 copies")));
  EXPECT_THAT(answer.warnings,
              Contains(HasSubstr("--index-key-heads 32 is an assumption")));
}

CapacityQuestion OnH100(const ModelSpec& model) {
  CapacityQuestion question;
  question.model = &model;
  question.gpu = *FindGpu("H100");
  question.engine_version = "0.19.0";
  question.gpu_memory_utilization = 0.95;
  return question;
}

Bytes SumOfParts(const CapacityAnswer& answer, const std::string& whole) {
  Bytes sum(0);
  for (const MemoryAccount& account : answer.accounts) {
    if (account.part_of == whole) sum += account.bytes;
  }
  return sum;
}

Bytes AccountOf(const CapacityAnswer& answer, const std::string& name) {
  for (const MemoryAccount& account : answer.accounts) {
    if (account.name == name) return account.bytes;
  }
  return Bytes(-1);
}

TEST(Accounts, AddUpToTheCardAndToThePool) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  const CapacityAnswer answer = *AnswerCapacity(OnH100(model));
  // Every part is whole bytes: exact.
  EXPECT_EQ(SumOfParts(answer, ""), FindGpu("H100")->engine_total);
  EXPECT_EQ(SumOfParts(answer, "KV cache"), AccountOf(answer, "KV cache"));
  EXPECT_EQ(AccountOf(answer, "null block"), answer.pool.bytes_per_block);
}

TEST(Accounts, AddUpWhenTheWeightsDoNotFit) {
  const ModelSpec model = *LoadModel("llama-3.1-70b");
  const CapacityAnswer answer = *AnswerCapacity(OnH100(model));
  EXPECT_EQ(SumOfParts(answer, ""), FindGpu("H100")->engine_total);
}

// 131.4 GiB of bf16 on a card that may use 75.2.
TEST(AnswerCapacity, WeightsLargerThanMemorySaysByHowMuch) {
  const ModelSpec model = *LoadModel("llama-3.1-70b");
  const CapacityAnswer answer = *AnswerCapacity(OnH100(model));
  ASSERT_TRUE(answer.pool.refused.has_value());
  EXPECT_THAT(answer.pool.refused->message,
              AllOf(HasSubstr("the weights take 131.4"),
                    HasSubstr("56.19 GiB more than the 75.23 GiB"),
                    HasSubstr("--gpu-memory-utilization")));
  EXPECT_EQ(answer.contexts[0].count.resident, 0);
}

// Llama-3.1-8B under v0.19: 58.11 GiB of cache were printed; the band of
// +- 0.1 GiB moves the 29.05 requests of 16 GiB by less than one.
TEST(AnswerCapacity, StatesTheBandOfAModelledMemory) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  CapacityQuestion question = OnH100(model);
  question.weight_bytes = Bytes(static_cast<int64_t>(14.99 * kGiB));
  question.contexts = {Tokens(131072), Tokens(128)};
  const CapacityAnswer answer = *AnswerCapacity(question);
  EXPECT_GT(answer.kv_band, Bytes(0));
  EXPECT_THAT(answer.kv_band_basis, HasSubstr("a Hopper card"));
  const ContextAnswer& small = answer.contexts[1];
  EXPECT_LT(small.low.resident, small.count.resident);
  EXPECT_GT(small.high.resident, small.count.resident);
  question.non_kv_memory = Bytes(2 * kGiB);
  EXPECT_EQ(AnswerCapacity(question)->kv_band, Bytes(0));
}

// Four numbers for Gemma-3 on 40 GiB at 131,072 tokens: 32,768 / 14,726 by the
// engine's line; 8,192 + 6 x 66 = 8,588 blocks in steady decode, of 32,767
// usable; 14,726 for the last to be admitted beside 2 x 8,588.
TEST(AnswerCapacity, FourConcurrenciesOfAHybrid) {
  const ModelSpec model = *LoadModel("gemma-3-27b");
  CapacityQuestion question;
  question.model = &model;
  question.kv_memory = Bytes(40 * kGiB);
  question.contexts = {Tokens(131072)};
  const CapacityAnswer answer = *AnswerCapacity(question);
  const Concurrency& count = answer.contexts[0].count;
  EXPECT_NEAR(count.engine_line, 32768.0 / 14726.0, 1e-12);
  EXPECT_EQ(count.steady_blocks, Blocks(8588));
  EXPECT_EQ(count.resident, 3);
  EXPECT_EQ(count.admitted, 3);
  // 10 layers x 131,072 x 8 KiB + 52 x 1,024 x 8 KiB = 10.41 GiB.
  EXPECT_NEAR(count.ideal, 40.0 / (10.0 + 52.0 / 128.0), 1e-9);
  EXPECT_EQ(answer.fixed_blocks, Blocks(6 * 66));
  EXPECT_EQ(answer.one_token_blocks, Blocks(7));
}

TEST(AnswerCapacity, SharedPrefixIsHeldOnce) {
  const ModelSpec model = *LoadModel("llama-2-7b");
  CapacityQuestion question;
  question.model = &model;
  question.kv_memory = Bytes(40 * kGiB);
  question.contexts = {Tokens(4096)};
  question.shared_prefix = Tokens(2048);
  // 5,119 usable; 128 shared + n x 128.
  EXPECT_EQ(AnswerCapacity(question)->contexts[0].count.resident, 38);
}

TEST(AnswerCapacity, BlocksDirectly) {
  const ModelSpec model = *LoadModel("llama-2-7b");
  CapacityQuestion question;
  question.model = &model;
  question.num_gpu_blocks = Blocks(1000);
  const CapacityAnswer answer = *AnswerCapacity(question);
  EXPECT_EQ(answer.pool.num_blocks, Blocks(1000));
  EXPECT_EQ(answer.pool.kv_cache_tokens, Tokens(16000));
  EXPECT_EQ(AccountOf(answer, "KV cache"), Bytes(int64_t{1000} * 8388608));
  EXPECT_EQ(answer.binds, "--num-gpu-blocks");
}

// 32 GPUs of TP8: four engines, each with its own pool.
TEST(AnswerCapacity, SpareGpusRunReplicas) {
  const ModelSpec model = *LoadModel("llama-3.1-70b");
  CapacityQuestion question = OnH100(model);
  question.num_gpus = 32;
  question.tensor = 8;
  question.contexts = {Tokens(131072)};
  const CapacityAnswer answer = *AnswerCapacity(question);
  EXPECT_EQ(answer.replicas, 4);
  EXPECT_EQ(answer.contexts[0].cluster_resident,
            4 * answer.contexts[0].count.resident);
}

TEST(AnswerCapacity, AlternativesSayWhyTheyDoNotApply) {
  const ModelSpec model = *LoadModel("llama-3.1-70b");
  CapacityQuestion question = OnH100(model);
  question.num_gpus = 8;
  const CapacityAnswer answer = *AnswerCapacity(question);
  ASSERT_EQ(answer.alternatives.size(), 3u);
  EXPECT_EQ(answer.alternatives[0].change, "--kv-cache-dtype fp8");
  EXPECT_THAT(answer.alternatives[0].note, IsEmpty());
  // Eight heads on eight ranks: nothing is replicated.
  EXPECT_THAT(answer.alternatives[1].note, HasSubstr("8 KV heads"));
  EXPECT_THAT(answer.alternatives[2].change,
              AllOf(HasSubstr("--tensor-parallel-size 16"),
                    HasSubstr("9 does not divide 64 attention heads")));
}

// A billion tokens: 62.5 million blocks of Llama-2; the cache of one sequence
// is 10^9 x 524,288 B.
TEST(AnswerCapacity, ContextsBeyondInt32) {
  const ModelSpec model = *LoadModel("llama-2-7b");
  CapacityQuestion question;
  question.model = &model;
  question.kv_memory = Bytes(int64_t{100} << 40);  // 100 TiB
  question.contexts = {Tokens(1000000000), Tokens(1000000000000)};
  const CapacityAnswer answer = *AnswerCapacity(question);
  EXPECT_EQ(answer.contexts[0].count.steady_blocks, Blocks(62500000));
  EXPECT_EQ(answer.contexts[0].sequence_bytes,
            Bytes(int64_t{1000000000} * 524288));
  EXPECT_EQ(answer.contexts[1].count.steady_blocks, Blocks(62500000000));
  EXPECT_EQ(answer.contexts[1].count.resident, 0);
}

class BadQuestion : public ::testing::Test {
 protected:
  BadQuestion() : model_(*LoadModel("llama-3.1-8b")) {
    question_ = OnH100(model_);
  }

  std::string Message() const {
    return std::string(AnswerCapacity(question_).status().message());
  }

  ModelSpec model_;
  CapacityQuestion question_;
};

TEST_F(BadQuestion, BlockSizeZero) {
  question_.block_size = Tokens(0);
  EXPECT_THAT(Message(), HasSubstr("--block-size 0"));
}

TEST_F(BadQuestion, TensorRanksThatDoNotDivide) {
  question_.tensor = 3;
  EXPECT_THAT(Message(), HasSubstr("--tensor-parallel-size 3 does not divide "
                                   "32 attention heads"));
}

TEST_F(BadQuestion, TensorRanksThatNeitherDivideNorReplicate) {
  // 24 heads and 8 KV heads: 12 ranks divide the one and not the other.
  model_.layers.resize(1);
  model_.layers[0].attention[0].query_heads = 24;
  question_.tensor = 12;
  EXPECT_THAT(Message(), HasSubstr("--tensor-parallel-size 12 does not fit 8 "
                                   "KV heads"));
}

TEST_F(BadQuestion, UtilizationZeroAboveOneOrNan) {
  for (double utilization : {0.0, 1.5, -1.0, std::nan("")}) {
    question_.gpu_memory_utilization = utilization;
    EXPECT_THAT(Message(), HasSubstr("--gpu-memory-utilization"));
  }
}

TEST_F(BadQuestion, NegativeMemory) {
  question_.gpu_memory = Bytes(-1);
  EXPECT_THAT(Message(), HasSubstr("--gpu-memory -1"));
  question_.kv_memory = Bytes(-7);
  EXPECT_THAT(Message(), HasSubstr("--kv-memory -7"));
}

TEST_F(BadQuestion, NoMemoryAtAll) {
  question_.gpu.reset();
  EXPECT_THAT(Message(), HasSubstr("--gpu"));
}

TEST_F(BadQuestion, ContextsOutOfRange) {
  question_.contexts = {Tokens(0)};
  EXPECT_THAT(Message(), HasSubstr("--context 0"));
  question_.contexts = {Tokens((int64_t{1} << 40) + 1)};
  EXPECT_THAT(Message(), HasSubstr("--context 1099511627777"));
}

TEST_F(BadQuestion, GpusThatDoNotFormEngines) {
  question_.num_gpus = 6;
  question_.tensor = 4;
  EXPECT_THAT(Message(), HasSubstr("--num-gpus 6: one engine (TP4)"));
  question_.num_gpus = 0;
  EXPECT_THAT(Message(), HasSubstr("--num-gpus 0"));
}

TEST_F(BadQuestion, MoreStagesThanLayers) {
  question_.pipeline = 64;
  EXPECT_THAT(Message(), HasSubstr("--pipeline-parallel-size 64: the model has "
                                   "only 32 layers"));
}

TEST_F(BadQuestion, UnknownEngineAndVersion) {
  question_.engine_version = "newest";
  EXPECT_THAT(Message(), HasSubstr("--engine-version 'newest'"));
  question_.engine = "paged";
  EXPECT_THAT(Message(), HasSubstr("--engine 'paged' is unknown"));
}

TEST_F(BadQuestion, DraftsWithoutAModelForThem) {
  question_.speculative_tokens = 2;
  EXPECT_THAT(Message(), HasSubstr("--num-speculative-tokens 2"));
  question_.speculative_tokens = -1;
  EXPECT_FALSE(AnswerCapacity(question_).ok());
}

TEST_F(BadQuestion, SequencesOutOfRange) {
  question_.max_num_seqs = 0;
  EXPECT_THAT(Message(), HasSubstr("--max-num-seqs 0"));
}

}  // namespace
}  // namespace kvsim
