#include "engines/deployment_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engines/capacity.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

CapacityQuestion ArticleCards(const ModelSpec& model) {
  CapacityQuestion question;
  question.model = &model;
  question.gpu_memory = Bytes(141000000000);
  question.gpu_memory_utilization = 1.0;
  question.weight_bytes = Bytes(1560000000000);
  question.non_kv_memory = Bytes(0);
  question.contexts = {Tokens(1048576)};
  return question;
}

// 1.56 TB do not fit on 8 cards of 141 GB; 16 hold one sequence a card.
TEST(FindDeployments, FewestGpusSimplestFirst) {
  const ModelSpec model = *LoadModel("kimi-k3.1-pro");
  const auto found = *FindDeployments(ArticleCards(model), 1);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].num_gpus, 16);
  EXPECT_EQ(found[0].parallel.ToString(), "TP16");
  EXPECT_EQ(found[0].resident[0], 1);
}

TEST(FindDeployments, MoreRequestsTakeContextRanks) {
  const ModelSpec model = *LoadModel("kimi-k3.1-pro");
  const auto found = *FindDeployments(ArticleCards(model), 21);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].num_gpus, 16);
  EXPECT_EQ(found[0].parallel.ToString(), "TP16 DCP16");
  EXPECT_EQ(found[0].resident[0], 21);
}

// What it finds is what the question itself answers there, and half the GPUs
// do not suffice.
TEST(FindDeployments, AgreesWithTheDirectAnswer) {
  const ModelSpec model = *LoadModel("llama-3.1-70b");
  CapacityQuestion question;
  question.model = &model;
  question.gpu = *FindGpu("H100");
  question.contexts = {Tokens(131072), Tokens(8192)};
  for (int64_t wanted : {1, 5, 12, 30}) {
    const auto found = *FindDeployments(question, wanted);
    ASSERT_FALSE(found.empty()) << wanted;
    CapacityQuestion direct = question;
    direct.num_gpus = found[0].num_gpus;
    direct.tensor = found[0].parallel.tensor;
    direct.pipeline = found[0].parallel.pipeline;
    direct.decode_context = found[0].parallel.decode_context;
    const CapacityAnswer answer = *AnswerCapacity(direct);
    EXPECT_EQ(answer.contexts[0].count.resident, found[0].resident[0]);
    EXPECT_GE(answer.contexts[0].count.resident, wanted);
    EXPECT_GE(answer.contexts[1].count.resident, wanted);
  }
}

TEST(FindDeployments, NothingHoldsABillionRequests) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  CapacityQuestion question;
  question.model = &model;
  question.gpu = *FindGpu("H100");
  EXPECT_THAT(*FindDeployments(question, 1000000000), IsEmpty());
}

TEST(FindDeployments, RefusesWhatHoldsForOneNumberOfGpusOnly) {
  const ModelSpec model = *LoadModel("llama-3.1-8b");
  CapacityQuestion question;
  question.model = &model;
  question.gpu = *FindGpu("H100");
  EXPECT_THAT(std::string(FindDeployments(question, 0).status().message()),
              HasSubstr("--concurrency 0"));
  question.kv_memory = Bytes(1 << 30);
  EXPECT_THAT(std::string(FindDeployments(question, 1).status().message()),
              HasSubstr("--kv-memory"));
}

}  // namespace
}  // namespace kvsim
