#include "engines/vllm/block_size_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/model_loader.h"

namespace kvsim::vllm {
namespace {

using ::testing::HasSubstr;

ModelSpec Load(const std::string& name) {
  absl::StatusOr<ModelSpec> model = LoadModel(name);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// FlashAttention, Triton and FlashInfer read blocks of 16.
TEST(BlockSizeRules, DenseHeadsTakeMultiplesOf16) {
  const ModelSpec model = Load("llama-3.1-8b");
  for (const int64_t size : {16, 32, 48, 64, 256, 528, 1024}) {
    EXPECT_TRUE(JudgeBlockSize(model, {}, Tokens(size)).accepted) << size;
  }
  for (const int64_t size : {1, 8, 17, 40}) {
    const BlockSizeVerdict verdict = JudgeBlockSize(model, {}, Tokens(size));
    EXPECT_FALSE(verdict.accepted) << size;
    EXPECT_THAT(verdict.why, HasSubstr("multiples of 16 tokens"));
  }
}

TEST(BlockSizeRules, ABackendThatIsNamedIsNotReplaced) {
  const ModelSpec model = Load("deepseek-v3");
  SpecRules rules = {.sm = 90};
  EXPECT_TRUE(JudgeBlockSize(model, rules, Tokens(16)).accepted);
  rules.attention_backend = "FLASHMLA";
  EXPECT_FALSE(JudgeBlockSize(model, rules, Tokens(16)).accepted);
  EXPECT_THAT(JudgeBlockSize(model, rules, Tokens(16)).why,
              HasSubstr("FLASHMLA's blocks are multiples of 64"));
  EXPECT_TRUE(JudgeBlockSize(model, rules, Tokens(128)).accepted);
  rules.attention_backend = "CUTLASS_MLA";
  EXPECT_FALSE(JudgeBlockSize(model, rules, Tokens(64)).accepted);
  rules.attention_backend = "ROCM_AITER_MLA";
  EXPECT_TRUE(JudgeBlockSize(model, rules, Tokens(1)).accepted);
}

// 16 is no multiple of 32: FLASHINFER_MLA is passed over, the engine starts.
TEST(BlockSizeRules, BlackwellChangesTheBackendOfDenseLatents) {
  const ModelSpec model = Load("deepseek-v3");
  const SpecRules rules = {.sm = 100};
  EXPECT_THAT(JudgeBlockSize(model, rules, Tokens(16)).why,
              HasSubstr("TRITON_MLA instead"));
  EXPECT_TRUE(JudgeBlockSize(model, rules, Tokens(16)).accepted);
  EXPECT_EQ(JudgeBlockSize(model, rules, Tokens(64)).why, "");
  EXPECT_FALSE(JudgeBlockSize(model, rules, Tokens(8)).accepted);
}

TEST(BlockSizeRules, SparseAndCompressedAttentionHaveBlocksOfTheirOwn) {
  EXPECT_FALSE(JudgeBlockSize(Load("deepseek-v3.2"), {}, Tokens(32)).accepted);
  EXPECT_TRUE(JudgeBlockSize(Load("deepseek-v3.2"), {}, Tokens(128)).accepted);
  const ModelSpec flash = Load("deepseek-v4-flash");
  EXPECT_TRUE(JudgeBlockSize(flash, {}, Tokens(256)).accepted);
  EXPECT_FALSE(JudgeBlockSize(flash, {}, Tokens(512)).accepted);
}

}  // namespace
}  // namespace kvsim::vllm
