#include "models/unknown_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/layout_builder.h"
#include "models/model_config.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSizes[] =
    R"("model_type": "perceptron", "num_hidden_layers": 2, "hidden_size": 64,
       "num_attention_heads": 8, "num_key_value_heads": 2)";

std::string Config(const std::string& more) {
  return "{" + std::string(kSizes) + more + "}";
}

std::string Error(const std::string& more) {
  return std::string(
      ReadModelConfig(Config(more), "c.json").status().message());
}

ModelSpec Assume(AssumedAttention assume, const std::string& more) {
  const auto spec = ReadModelConfig(Config(more), "c.json", "", "", assume);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : ModelSpec();
}

TEST(UnknownFamilyTest, ErrorNamesTheNearestKindAndTheFieldBehindIt) {
  EXPECT_THAT(Error(""),
              AllOf(HasSubstr("field model_type is \"perceptron\""),
                    HasSubstr("nearest known kind: llama, because field "
                              "num_key_value_heads means"),
                    HasSubstr("--assume gqa reads it so;")));
  EXPECT_THAT(Error(R"(, "kv_lora_rank": 16)"),
              AllOf(HasSubstr("deepseek_v3, because field kv_lora_rank"),
                    HasSubstr("--assume mla reads it so")));
  // A more special field decides.
  EXPECT_THAT(Error(R"(, "kv_lora_rank": 16, "index_head_dim": 8)"),
              HasSubstr("deepseek_v32, because field index_head_dim"));
  EXPECT_THAT(Error(R"(, "kv_lora_rank": 16, "linear_attn_config": {})"),
              AllOf(HasSubstr("kimi_linear"),
                    HasSubstr("--assume gqa or mla would leave those out")));
  EXPECT_THAT(
      std::string(
          ReadModelConfig(R"({"model_type": "x"})", "c").status().message()),
      HasSubstr("no field tells what its layers store"));
}

// 2 layers x K and V x 2 heads of 64 / 8 = 8.
TEST(UnknownFamilyTest, AssumedGqaKeepsKAndVOfEveryLayer) {
  const ModelSpec spec = Assume(AssumedAttention::kGqa, "");
  EXPECT_EQ(BuildCacheLayout(spec, {})->BytesPerToken(), 2 * 2 * 2 * 8 * 2);
  EXPECT_THAT(spec.assumed_fields,
              ElementsAre(AllOf(HasSubstr("\"perceptron\""),
                                HasSubstr("--assume gqa"))));
  // An explicit list of kinds is still obeyed.
  EXPECT_EQ(Assume(AssumedAttention::kGqa,
                   R"(, "sliding_window": 4, "layer_types":
                      ["full_attention", "sliding_attention"])")
                .layers[1]
                .attention[0]
                .window,
            4);
}

TEST(UnknownFamilyTest, AssumedMlaKeepsOneLatentPerLayer) {
  const ModelSpec spec = Assume(
      AssumedAttention::kMla, R"(, "kv_lora_rank": 16, "qk_rope_head_dim": 4)");
  EXPECT_EQ(BuildCacheLayout(spec, {})->BytesPerToken(), 2 * (16 + 4) * 2);
  EXPECT_THAT(std::string(ReadModelConfig(Config(""), "c.json", "", "",
                                          AssumedAttention::kMla)
                              .status()
                              .message()),
              HasSubstr("kv_lora_rank is missing"));
}

TEST(UnknownFamilyTest, FieldsTheAssumptionPassesOverAreListed) {
  EXPECT_THAT(
      Assume(AssumedAttention::kGqa, R"(, "mamba_d_state": 16)").assumed_fields,
      ElementsAre(HasSubstr("perceptron"),
                  HasSubstr("left out: mamba_d_state")));
}

// A known family is read by its dialect whatever is assumed.
TEST(UnknownFamilyTest, KnownFamiliesIgnoreTheAssumption) {
  const auto spec = ReadModelConfig(
      R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 64,
          "num_attention_heads": 8})",
      "c", "", "", AssumedAttention::kMla);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->layers[0].attention[0].kind, AttentionKind::kFull);
  EXPECT_TRUE(spec->assumed_fields.empty());
}

TEST(AssumedAttentionTest, TextsAndTheirError) {
  EXPECT_EQ(*ParseAssumedAttention("gqa"), AssumedAttention::kGqa);
  EXPECT_EQ(*ParseAssumedAttention("mla"), AssumedAttention::kMla);
  EXPECT_EQ(*ParseAssumedAttention(""), AssumedAttention::kNone);
  EXPECT_THAT(std::string(ParseAssumedAttention("mha").status().message()),
              HasSubstr("--assume is \"mha\"; accepted: gqa, mla"));
}

}  // namespace
}  // namespace kvsim
