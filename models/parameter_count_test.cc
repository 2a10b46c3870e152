// Counted weights against published totals. Published figures are the model
// cards'; "48B" and the like are rounded names.

#include "models/parameter_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/model_loader.h"
#include "models/printed_figure.h"

namespace kvsim {
namespace {

double CountedBillions(const std::string& model) {
  return static_cast<double>(CountParameters(*LoadModel(model)).total()) / 1e9;
}

double WeightGiB(const std::string& model, bool mtp) {
  return static_cast<double>(WeightBytes(*LoadModel(model), mtp)) /
         (1024.0 * 1024 * 1024);
}

TEST(ParameterCountTest, ReproducesPublishedTotalsToTheDigit) {
  EXPECT_TRUE(PrintsAs(CountedBillions("llama-2-7b"), "6.738"));
  EXPECT_TRUE(PrintsAs(CountedBillions("llama-3.1-8b"), "8.030"));
  EXPECT_TRUE(PrintsAs(CountedBillions("llama-3.1-70b"), "70.554"));
  EXPECT_TRUE(PrintsAs(CountedBillions("qwen3-8b"), "8.191"));
  EXPECT_TRUE(PrintsAs(CountedBillions("gpt-oss-120b"), "116.829"));
  EXPECT_TRUE(PrintsAs(CountedBillions("gemma-3-27b"), "27.01"));
  EXPECT_TRUE(PrintsAs(CountedBillions("deepseek-v3"), "671.03"));
  EXPECT_TRUE(PrintsAs(CountedBillions("deepseek-v3.2"), "671.88"));
  EXPECT_TRUE(PrintsAs(CountedBillions("kimi-linear-48b"), "49.12"));
  EXPECT_TRUE(PrintsAs(CountedBillions("kimi-k3"), "2779.5"));
  EXPECT_TRUE(PrintsAs(CountedBillions("qwen3-next-80b"), "79.67"));
}

// Totals that model cards publish, and where a public table counted the same
// weights from the config, its figure to the printed digit.
struct Published {
  const char* model;
  double billions;
  const char* counted;  // "": no figure (or, for MiniMax-M3, no indexers)
};

constexpr Published kPublished[] = {
    {"llama-2-70b", 70, "68.98"},
    {"llama-3.1-8b", 8.03, "8.030"},
    {"llama-3.1-70b", 70.6, "70.554"},
    {"llama-3.3-70b", 70.6, "70.554"},
    {"llama-3.1-405b", 405, "405.853"},
    {"mistral-7b", 7.25, ""},
    {"mistral-7b-v0.3", 7.25, "7.248"},
    {"mistral-nemo-12b", 12.2, "12.248"},
    {"mixtral-8x7b", 46.7, "46.703"},
    {"mixtral-8x22b", 141, "140.62"},
    {"qwen2.5-1.5b", 1.54, "1.544"},
    {"qwen2.5-7b", 7.61, "7.616"},
    {"qwen2.5-14b", 14.7, "14.770"},
    {"qwen2.5-32b", 32.5, "32.764"},
    {"qwen2.5-72b", 72.7, "72.706"},
    {"qwen3-0.6b", 0.6, "0.596"},
    {"qwen3-1.7b", 1.7, "1.721"},
    {"qwen3-4b", 4, "4.022"},
    {"qwen3-8b", 8.2, "8.191"},
    {"qwen3-14b", 14.8, "14.768"},
    {"qwen3-32b", 32.8, "32.762"},
    {"qwen3-30b-a3b", 30.5, "30.532"},
    {"qwen3-235b-a22b", 235, "235.094"},
    {"qwen3-coder-480b", 480, "480.155"},
    {"qwen3-next-80b", 80, "79.67"},
    {"deepseek-v2-lite", 15.7, "15.71"},
    {"deepseek-v2", 236, "235.74"},
    {"deepseek-v3", 671, "671.03"},
    {"deepseek-r1", 671, "671.03"},
    {"deepseek-v3.2", 671, "671.88"},
    {"deepseek-v4-flash", 284, ""},
    {"deepseek-v4-pro", 1600, ""},
    {"kimi-k2", 1040, "1026.4"},
    {"kimi-k2.5", 1040, "1026.4"},
    {"kimi-k3", 2800, "2779.5"},
    {"qwen3.5-9b", 9, "8.95"},
    {"qwen3.5-27b", 27, "26.90"},
    {"qwen3.6-27b", 27, "26.90"},
    {"qwen3.6-35b-a3b", 35, "34.66"},
    {"qwen3.5-122b-a10b", 122, "122.11"},
    {"qwen3.5-397b-a17b", 397, "396.35"},
    {"qwen3.8-2.4t-a95b", 2400, "2419.8"},
    {"glm-4.5", 355, "352.8"},
    {"glm-4.6", 355, "352.8"},
    {"glm-4.7", 355, "352.8"},
    {"glm-4.7-flash", 30, "29.94"},
    {"glm-5", 744, "743.9"},
    {"glm-5.1", 744, "743.9"},
    {"glm-5.2", 744, ""},
    {"minimax-m2.5", 230, "228.69"},
    {"minimax-m2.7", 230, "228.69"},
    {"minimax-m3", 427, ""},
    {"minimax-m1", 456, ""},
    {"minimax-text-01", 456, ""},
    {"gpt-oss-20b", 20.9, "20.915"},
    {"gpt-oss-120b", 116.8, "116.829"},
    {"gemma-2-27b", 27.2, "27.227"},
    {"gemma-3-27b", 27.4, "27.01"},
    {"gemma-4-31b", 31, ""},
    {"llama-4-scout", 109, "107.77"},
    {"llama-4-maverick", 400, "400.7"},
    {"mimo-v2-flash", 309, "308.78"},
    {"step-3.5-flash", 196, "196.9"},
    {"hy3", 295, "295.03"},
    {"nemotron-3-super", 120, "120.67"},
    {"nemotron-3-ultra", 550, ""},
    {"phi-4", 14.7, "14.66"},
    {"phi-4-mini", 3.8, "3.836"},
    {"phi-3-mini-4k", 3.8, "3.821"},
    {"command-a", 111, "111.06"},
    {"hunyuan-a13b", 80, "80.39"},
    {"exaone-4.0-32b", 32, "32.0"},
};

TEST(ParameterCountTest, IsWithinTwoPercentOfEveryPublishedTotal) {
  for (const Published& row : kPublished) {
    EXPECT_NEAR(CountedBillions(row.model), row.billions, 0.02 * row.billions)
        << row.model;
  }
}

TEST(ParameterCountTest, CountsWhatOthersCounted) {
  for (const Published& row : kPublished) {
    if (row.counted[0] == '\0') continue;
    EXPECT_TRUE(PrintsAs(CountedBillions(row.model), row.counted))
        << row.model << " " << CountedBillions(row.model);
  }
}

// Published figures that the count misses by more than two percent.
TEST(ParameterCountTest, MissesHaveACause) {
  struct Miss {
    const char* model;
    double billions;
    double counted;
  };
  for (const Miss& miss :
       {// Names that round: the counts are the public table's too.
        Miss{"llama-2-7b", 7, 6.738}, Miss{"kimi-linear-48b", 48, 49.12},
        Miss{"nemotron-3-nano", 30, 31.58}, Miss{"olmo-3-7b", 7, 7.30},
        // The name rounds, and the vision tower is not counted.
        Miss{"gemma-4-26b-a4b", 26, 25.2},
        // Towers and eight prediction layers are not counted.
        Miss{"inkling", 975, 946.6}}) {
    const double counted = CountedBillions(miss.model);
    EXPECT_NEAR(counted, miss.counted, 0.002 * counted) << miss.model;
    EXPECT_GT(std::abs(counted - miss.billions), 0.02 * miss.billions)
        << miss.model;
  }
}

TEST(ParameterCountTest, PartsAddUpForLlama) {
  // Llama-2-7B by hand: 4 x 4096^2 and 3 x 4096 x 11008 per layer, two
  // embeddings of 32000 x 4096, 2 norms per layer and a last one.
  const ParameterCount count = CountParameters(*LoadModel("llama-2-7b"));
  EXPECT_EQ(count.attention, 32LL * 4 * 4096 * 4096);
  EXPECT_EQ(count.dense_ffn, 32LL * 3 * 4096 * 11008);
  EXPECT_EQ(count.routed_experts, 0);
  EXPECT_EQ(count.embedding, 32000 * 4096);
  EXPECT_EQ(count.head, 32000 * 4096);
  EXPECT_EQ(count.norms_and_routers, 65 * 4096);
}

TEST(ParameterCountTest, TiedHeadIsCountedOnce) {
  EXPECT_EQ(CountParameters(*LoadModel("gemma-3-27b")).head, 0);
}

TEST(ParameterCountTest, WeightBytesFollowTheQuantizationRecord) {
  // Checkpoint sizes: bf16 and mxfp4 exactly, fp8 within 1 % (block scales).
  EXPECT_TRUE(PrintsAs(WeightGiB("llama-3.1-8b", false), "14.96"));
  EXPECT_TRUE(PrintsAs(WeightGiB("llama-3.1-70b", false), "131.42"));
  EXPECT_TRUE(PrintsAs(WeightGiB("gpt-oss-120b", false), "60.7"));
  EXPECT_NEAR(WeightGiB("deepseek-v3", true), 641.30, 0.01 * 641.30);
  EXPECT_NEAR(WeightGiB("deepseek-v3.2", true), 642.14, 0.01 * 642.14);
  // fp4 experts and fp8 elsewhere.
  EXPECT_NEAR(WeightGiB("deepseek-v4-pro", true), 805.34, 0.01 * 805.34);
  EXPECT_NEAR(WeightGiB("deepseek-v4-flash", true), 155.43, 0.05 * 155.43);
}

// What engines printed as the size of loaded weights per rank ("Model loading
// took ... GiB"), tensor parallel, against the count divided by the ranks.
struct Loaded {
  const char* model;
  const char* quantization;  // merged into the config; "" for none
  int ranks;
  double gib;
};

constexpr char kFp8[] = R"({"quantization_config": {"quant_method": "fp8"}})";
constexpr char kInt4[] =
    R"({"quantization_config": {"quant_method": "awq", "bits": 4}})";
constexpr char kNvfp4[] =
    R"({"quantization_config": {"quant_method": "modelopt",
        "quant_algo": "NVFP4"}})";

constexpr Loaded kLoaded[] = {
    {"llama-3.1-8b", "", 1, 14.99},      {"llama-3.1-8b", "", 2, 7.51},
    {"llama-3.1-8b", "", 4, 3.77},       {"llama-3.1-8b", kFp8, 1, 8.49},
    {"llama-3.1-8b", kInt4, 1, 5.38},    {"llama-3.3-70b", kFp8, 2, 33.88},
    {"llama-3.3-70b", kFp8, 4, 16.96},   {"llama-3.1-70b", kInt4, 1, 37.09},
    {"qwen2.5-7b", "", 1, 14.25},        {"qwen2.5-7b", "", 2, 7.12},
    {"qwen2.5-7b", "", 4, 3.55},         {"qwen2.5-7b", kFp8, 1, 8.14},
    {"qwen2.5-72b", "", 2, 67.80},       {"qwen2.5-72b", "", 4, 34.01},
    {"qwen3-0.6b", "", 1, 1.12},         {"qwen3-8b", "", 1, 15.27},
    {"qwen3-14b", "", 1, 27.52},         {"qwen3-32b", "", 1, 61.03},
    {"qwen3-32b", "", 2, 30.59},         {"qwen3-30b-a3b", "", 1, 56.88},
    {"qwen3-235b-a22b", kFp8, 4, 55.19}, {"qwen3-next-80b", "", 2, 74.28},
    {"qwen3-next-80b", "", 4, 37.99},    {"qwen3.5-27b", "", 1, 51.1},
    {"mixtral-8x7b", "", 2, 43.51},      {"phi-4", "", 1, 27.39},
    {"deepseek-v2-lite", "", 1, 29.43},  {"deepseek-v3", "", 8, 79.74},
    {"gemma-2-27b", "", 1, 50.72},       {"gemma-3-27b", "", 1, 51.45},
    {"llama-4-scout", "", 4, 53.12},     {"gpt-oss-20b", "", 1, 13.64},
    {"gpt-oss-20b", "", 2, 7.01},        {"gpt-oss-120b", "", 1, 64.38},
    {"minimax-m2.5", "", 4, 53.75},      {"glm-5.1", kNvfp4, 8, 55.67},
    {"kimi-k2.5", "", 8, 68.5},
};

// The public table's own rule has a median of 0.4 %, a 90th percentile of
// 5.5 % and a maximum of 8.7 % over these 37 cases. What it misses: padded
// MXFP4 experts (gpt-oss), vision towers, and MLA projections and indexers kept
// whole on every rank.
TEST(ParameterCountTest, PrintedLoadSizesAreAsFarOffAsTheRule) {
  std::vector<double> errors;
  for (const Loaded& row : kLoaded) {
    const ModelSpec spec = *LoadModel(row.model, row.quantization);
    const double gib = static_cast<double>(WeightBytes(spec)) /
                       (1024.0 * 1024 * 1024) / row.ranks;
    errors.push_back(std::abs(gib - row.gib) / row.gib);
    EXPECT_LE(errors.back(), 0.088) << row.model << " x" << row.ranks << " "
                                    << gib << " printed " << row.gib;
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_EQ(errors.size(), 37u);
  EXPECT_LE(errors[errors.size() / 2], 0.0045);
  EXPECT_LE(errors[errors.size() * 9 / 10], 0.06);
}

}  // namespace
}  // namespace kvsim
