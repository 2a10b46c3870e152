#include "engines/block_size_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engines/block_overhead.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

ModelSpec Load(const std::string& name) {
  absl::StatusOr<ModelSpec> model = LoadModel(name);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// 40 GiB of cache on one rank, as in the worked examples.
CapacityQuestion On40GiB(const ModelSpec& model) {
  CapacityQuestion question;
  question.model = &model;
  question.kv_memory = GiB(40);
  question.max_num_seqs = 256;
  return question;
}

BlockSizeSurvey Survey(const CapacityQuestion& question,
                       std::vector<Tokens> sizes) {
  absl::StatusOr<BlockSizeSurvey> survey =
      SurveyBlockSizes(question, std::move(sizes));
  EXPECT_TRUE(survey.ok()) << survey.status();
  return *std::move(survey);
}

const SurveyedBlockSize& Size(const BlockSizeSurvey& survey, int64_t asked) {
  for (const SurveyedBlockSize& size : survey.sizes) {
    if (size.asked == Tokens(asked)) return size;
  }
  ADD_FAILURE() << asked << " is not among the sizes";
  return survey.sizes[0];
}

// Llama-3.1-8B keeps 32 layers x 2 x 8 heads x 128 x 2 B = 131,072 B a token:
// a block of 16 is 2 MiB, 20,480 of them are 40 GiB; one of 256 is 32 MiB, 1,280
// of them. One block is the null block. A request of 1,000 tokens takes
// ceil(1000 / 16) = 63 of 20,479: 325 fit; of 256 it takes 4 of 1,279: 319.
TEST(BlockSizeSurvey, DenseModelOn40GiB) {
  const ModelSpec model = Load("llama-3.1-8b");
  CapacityQuestion question = On40GiB(model);
  question.contexts = {Tokens(1000)};
  const BlockSizeSurvey survey =
      Survey(question, {Tokens(8), Tokens(16), Tokens(256)});
  ASSERT_EQ(survey.sizes.size(), 3u);
  EXPECT_FALSE(survey.state_mode.has_value());
  EXPECT_FALSE(Size(survey, 8).accepted);

  const SurveyedBlockSize& fine = Size(survey, 16);
  EXPECT_TRUE(fine.is_default);
  EXPECT_EQ(fine.note, "");
  EXPECT_EQ(fine.answer.pool.num_blocks, Blocks(20480));
  EXPECT_EQ(fine.answer.pool.kv_cache_tokens, Tokens(327680));
  EXPECT_EQ(fine.answer.contexts[0].count.resident, 325);
  EXPECT_EQ(fine.hit_unit, Tokens(16));
  EXPECT_EQ(fine.padding, Bytes(0));
  // 131,072 / 16 = 8,192 entries of 4 B for each of 256 requests.
  EXPECT_EQ(fine.table, MiB(8));

  const SurveyedBlockSize& coarse = Size(survey, 256);
  EXPECT_FALSE(coarse.is_default);
  EXPECT_EQ(coarse.answer.pool.num_blocks, Blocks(1280));
  EXPECT_EQ(coarse.answer.pool.kv_cache_tokens, Tokens(327680));
  EXPECT_EQ(coarse.answer.contexts[0].count.resident, 319);
  EXPECT_EQ(coarse.table, KiB(512));
}

// 1,000 tokens leave 8 of the 63rd block of 16 empty, 24 of the fourth of 256.
TEST(BlockSizeSurvey, TailSlackIsTheRestOfTheLastBlock) {
  const ModelSpec model = Load("llama-3.1-8b");
  const BlockSizeSurvey survey =
      Survey(On40GiB(model), {Tokens(16), Tokens(256)});
  const auto slack = [&](int64_t asked, int64_t length) {
    return TailSlackOf(Size(survey, asked).answer.pool, Tokens(length));
  };
  EXPECT_EQ(slack(16, 1000).tokens, 8);
  EXPECT_EQ(slack(16, 1000).bytes, MiB(1));
  EXPECT_EQ(slack(256, 1000).tokens, 24);
  EXPECT_EQ(slack(256, 1000).bytes, MiB(3));
  EXPECT_EQ(slack(256, 1024).tokens, 0);
  EXPECT_EQ(slack(256, 0).tokens, 0);
}

// Qwen3-Next-80B stores 2,048 B a token and layer and states of 1,097,728 B: 16
// tokens grow to 16 x ceil(1,097,728 / 32,768) = 544, 64 to 64 x 9 = 576, 256 to
// 256 x 3 = 768; 1,024 hold a state as they are.
TEST(BlockSizeSurvey, HybridBlocksGrowFromWhatIsAsked) {
  const ModelSpec model = Load("qwen3-next-80b");
  const BlockSizeSurvey survey = Survey(
      On40GiB(model), {Tokens(16), Tokens(64), Tokens(256), Tokens(1024)});
  EXPECT_EQ(survey.state_mode, StateMode::kAlign);
  EXPECT_TRUE(survey.prefix_caching);
  EXPECT_EQ(Size(survey, 16).block, Tokens(544));
  EXPECT_EQ(Size(survey, 64).block, Tokens(576));
  EXPECT_EQ(Size(survey, 256).block, Tokens(768));
  EXPECT_EQ(Size(survey, 1024).block, Tokens(1024));
  EXPECT_THAT(Size(survey, 16).note, HasSubstr("becomes 544"));
  EXPECT_EQ(Size(survey, 1024).note, "");

  const SurveyedBlockSize& chosen = Size(survey, 16);
  EXPECT_EQ(chosen.answer.pool.num_blocks, Blocks(3212));
  EXPECT_EQ(chosen.answer.pool.kv_cache_tokens, Tokens(1725423));
  EXPECT_EQ(chosen.hit_unit, Tokens(544));
  // Pages of 544 x 2,048 = 1,114,112 B pad a state by 16,384 B: 12 layers in
  // each of 3 groups, one block of each.
  EXPECT_EQ(chosen.padding, Bytes(3 * 12 * 16384));
  // 576 x 2,048 = 1,179,648 B: 81,920 B.
  EXPECT_EQ(Size(survey, 64).padding, Bytes(3 * 12 * 81920));
  // Tables of 4 groups, by position: ceil(262,144 / 544) = 482.
  EXPECT_EQ(chosen.table, Bytes(int64_t{4} * 482 * 256 * 4));
}

// Kimi-Linear's latents start at 128 tokens: 128 x ceil(2,170,880 / 147,456) =
// 1,920; 256 x ceil(2,170,880 / 294,912) = 2,048.
TEST(BlockSizeSurvey, HybridLatentsStartAt128) {
  const ModelSpec model = Load("kimi-linear-48b");
  const BlockSizeSurvey survey =
      Survey(On40GiB(model), {Tokens(16), Tokens(128), Tokens(256)});
  EXPECT_EQ(Size(survey, 16).block, Tokens(1920));
  EXPECT_EQ(Size(survey, 128).block, Tokens(1920));
  EXPECT_EQ(Size(survey, 256).block, Tokens(2048));
  EXPECT_EQ(Size(survey, 16).answer.pool.num_blocks, Blocks(2774));
  // 2,170,880 / 1,152 = 1,884.4: 1,888 is the least multiple of 16 that holds a
  // state. Blocks of 7 x 1,888 x 1,152 = 15,224,832 B: 2,821 in 40 GiB.
  EXPECT_EQ(Size(survey, 1888).block, Tokens(1888));
  EXPECT_EQ(Size(survey, 1888).answer.pool.num_blocks, Blocks(2821));
  // Windows of states are no rows: slack is of the one latent group.
  EXPECT_EQ(TailSlackOf(Size(survey, 16).answer.pool, Tokens(2000)).tokens,
            2 * 1920 - 2000);
}

// Without prefix caching a request has one state, at no position.
TEST(BlockSizeSurvey, StatesWithoutCachingNeedNoWideTable) {
  const ModelSpec model = Load("qwen3-next-80b");
  CapacityQuestion question = On40GiB(model);
  question.prefix_caching = false;
  const BlockSizeSurvey survey = Survey(question, {Tokens(16)});
  EXPECT_FALSE(survey.prefix_caching);
  EXPECT_EQ(survey.state_mode, StateMode::kNone);
  EXPECT_EQ(Size(survey, 16).table, Bytes(int64_t{482 + 3} * 256 * 4));
}

// Mistral's 32 layers all have windows, whose blocks follow the kernels.
TEST(BlockSizeSurvey, WindowsDoNotFollow) {
  const ModelSpec model = Load("mistral-7b");
  const BlockSizeSurvey survey = Survey(On40GiB(model), {Tokens(64)});
  EXPECT_EQ(Size(survey, 64).block, Tokens(16));
  EXPECT_THAT(Size(survey, 64).note, HasSubstr("windows"));
}

// 131,072 tokens of 128 KiB are 16 GiB, more than 8: no size starts.
TEST(BlockSizeSurvey, ARefusedStartIsNoSizesMerit) {
  const ModelSpec model = Load("llama-3.1-8b");
  CapacityQuestion question = On40GiB(model);
  question.kv_memory = GiB(8);
  const BlockSizeSurvey survey = Survey(question, {Tokens(64)});
  ASSERT_EQ(survey.sizes.size(), 2u);
  EXPECT_FALSE(survey.sizes[0].accepted);
  EXPECT_THAT(survey.sizes[1].note, HasSubstr("does not start"));
}

TEST(BlockSizeSurvey, ErrorsNameFlagAndValue) {
  const ModelSpec model = Load("llama-3.1-8b");
  const auto error = [](const CapacityQuestion& question,
                        std::vector<Tokens> sizes) {
    return std::string(
        SurveyBlockSizes(question, std::move(sizes)).status().message());
  };
  CapacityQuestion question = On40GiB(model);
  EXPECT_THAT(error(question, {Tokens(0)}), HasSubstr("--block-sizes 0"));
  question.engine = "sglang";
  EXPECT_THAT(error(question, {}), HasSubstr("--engine 'sglang'"));
  question = On40GiB(model);
  question.num_gpu_blocks = Blocks(100);
  EXPECT_THAT(error(question, {}), HasSubstr("100"));
  question = On40GiB(model);
  question.previous_engine = true;
  EXPECT_THAT(error(question, {}), HasSubstr("V0"));
  question = On40GiB(model);
  question.tensor = 3;
  EXPECT_THAT(error(question, {}), HasSubstr("3"));
  const ModelSpec states = Load("mamba-codestral-7b");
  EXPECT_THAT(error(On40GiB(states), {}), HasSubstr("no layer has attention"));
}

}  // namespace
}  // namespace kvsim
