#include "models/layout_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Warnings(const std::string& model, Tokens tokens,
                                  const LayoutOptions& options = {}) {
  const ModelSpec spec = *LoadModel(model);
  const CacheLayout layout = *BuildCacheLayout(spec, options);
  return LayoutWarnings(spec, options, layout, tokens);
}

constexpr Tokens k128K(131072);
constexpr Tokens k1M(1048576);

TEST(LayoutWarningsTest, QueryHeadsAreNotKvHeads) {
  // 32 instead of 8 heads: 4 x 16 GiB.
  EXPECT_THAT(Warnings("llama-3.1-8b", k128K),
              Contains(AllOf(HasSubstr("32 query heads instead of 8"),
                             HasSubstr("64.00 GiB"), HasSubstr("16.00 GiB"),
                             HasSubstr("4.0 times"))));
  EXPECT_THAT(Warnings("llama-2-7b", k128K),
              Not(Contains(HasSubstr("query heads"))));
}

TEST(LayoutWarningsTest, LatentsAreNotHeads) {
  // 40,960 elements instead of 576: 71.1 times.
  EXPECT_THAT(
      Warnings("deepseek-v3", k128K),
      Contains(AllOf(HasSubstr("40,960 elements"), HasSubstr("71.1 times"))));
}

TEST(LayoutWarningsTest, QueryRankIsNotCached) {
  // 61 x (512 + 1536 + 64) x 2 x 2^17 bytes = 31.45 GiB.
  EXPECT_THAT(
      Warnings("deepseek-v3", k128K),
      Contains(AllOf(HasSubstr("q_lora_rank 1536"), HasSubstr("31.45 GiB"))));
}

TEST(LayoutWarningsTest, IndexKeysAreNotForgotten) {
  // 24 x 132 x 2^20 bytes = 3.09 GiB.
  EXPECT_THAT(Warnings("kimi-k3.1-pro", k1M),
              Contains(AllOf(HasSubstr("index keys are cached too"),
                             HasSubstr("3.09 GiB"))));
}

TEST(LayoutWarningsTest, IndexKeysAreNotPerHead) {
  // V3.2 with 64 keys: 61 x (1152 + 64 x 132) x 2^20 bytes = 571.88 GiB.
  EXPECT_THAT(Warnings("deepseek-v3.2", k1M),
              Contains(AllOf(HasSubstr("each of the 64 heads"),
                             HasSubstr("571.88 GiB"))));
  // The article's 32 keys against one.
  LayoutOptions article;
  article.as_article = true;
  EXPECT_THAT(Warnings("kimi-k3.1-pro", k1M, article),
              Contains(AllOf(HasSubstr("counts 32 index keys"),
                             HasSubstr("instead of 123.00 GiB"))));
}

TEST(LayoutWarningsTest, TopKIsNotRetention) {
  // 2048 x 78,324 bytes = 152.98 MiB.
  EXPECT_THAT(
      Warnings("deepseek-v3.2", k1M),
      Contains(AllOf(HasSubstr("index_topk 2,048"), HasSubstr("152.98 MiB"))));
}

TEST(LayoutWarningsTest, SharedIndexersDifferByEngine) {
  // 100,152 bytes per token in SGLang: 97.80 GiB.
  EXPECT_THAT(Warnings("glm-5.2", k1M),
              Contains(AllOf(HasSubstr("SGLang"), HasSubstr("97.80 GiB"))));
}

TEST(LayoutWarningsTest, WindowsAreNotHistory) {
  // 62 full layers: 496 KiB x 2^17 = 62 GiB.
  EXPECT_THAT(
      Warnings("gemma-3-27b", k128K),
      Contains(AllOf(HasSubstr("last 1,024 tokens"), HasSubstr("62.00 GiB"))));
}

TEST(LayoutWarningsTest, SharedRowsAreNotDoubled) {
  EXPECT_THAT(Warnings("deepseek-v4-pro", k1M),
              Contains(HasSubstr("one row serves as key and value")));
}

TEST(LayoutWarningsTest, WeightsDtypeIsNotTheCaches) {
  EXPECT_THAT(Warnings("deepseek-v3", k128K),
              Contains(AllOf(HasSubstr("the weights' fp8"),
                             HasSubstr("8.58 GiB"), HasSubstr("4.29 GiB"))));
  EXPECT_THAT(Warnings("llama-2-7b", k128K),
              Not(Contains(HasSubstr("the weights'"))));
}

TEST(LayoutWarningsTest, Fp8BecomesPackedRowsInSparseMla) {
  LayoutOptions fp8;
  fp8.kv_cache_dtype = KvCacheDtype::kFp8;
  // 61 x 788 instead of 61 x 708 bytes: 46.94 and 42.18 GiB.
  EXPECT_THAT(Warnings("deepseek-v3.2", k1M, fp8),
              Contains(AllOf(HasSubstr("fp8_ds_mla"), HasSubstr("46.94 GiB"),
                             HasSubstr("42.18 GiB"))));
}

TEST(LayoutWarningsTest, CheckpointsMultiplyStates) {
  // 43,417,600 bytes x 255: engines keep none of the last token.
  EXPECT_THAT(Warnings("kimi-linear-48b", k1M),
              Contains(AllOf(HasSubstr("prefix checkpoint"), HasSubstr("255"),
                             HasSubstr("10.31 GiB"))));
  LayoutOptions article;
  article.as_article = true;
  EXPECT_THAT(
      Warnings("kimi-linear-48b", k1M, article),
      Contains(AllOf(HasSubstr("prefix checkpoint"), HasSubstr("256"))));
}

TEST(LayoutWarningsTest, PageAlignmentIsNamed) {
  EXPECT_THAT(Warnings("deepseek-v4-pro", k1M),
              Contains(HasSubstr("page alignment")));
}

TEST(LayoutWarningsTest, GigabytesAreSmaller) {
  EXPECT_THAT(Warnings("llama-2-7b", k128K),
              Contains(AllOf(HasSubstr("64.00 GiB"), HasSubstr("68.72 GB"))));
}

TEST(LayoutWarningsTest, ContextsBeyondTheModelsPositions) {
  EXPECT_THAT(Warnings("llama-2-7b", k128K),
              Contains(HasSubstr("beyond the model's 4,096")));
  EXPECT_THAT(Warnings("llama-2-7b", Tokens(4096)),
              Not(Contains(HasSubstr("beyond"))));
}

TEST(LayoutWarningsTest, AssumptionsAreListed) {
  EXPECT_THAT(Warnings("kimi-k3.1-pro", k1M),
              Contains(HasSubstr("not published but assumed are")));
}

}  // namespace
}  // namespace kvsim
