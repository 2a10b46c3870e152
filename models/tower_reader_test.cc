#include "models/tower_reader.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

int64_t Count(const char* config) {
  return CountTowerWeights(nlohmann::json::parse(config));
}

// SigLIP of Gemma-3: 27 x (4 x 1,152^2 + 2 x 1,152 x 4,304).
TEST(TowerReader, CountsAStackOfLayersUnderAnyOfItsNames) {
  constexpr int64_t kSiglip = 27 * (4 * 1152 * 1152 + 2 * 1152 * 4304);
  EXPECT_EQ(Count(R"({"vision_config": {"num_hidden_layers": 27,
      "hidden_size": 1152, "intermediate_size": 4304}})"),
            kSiglip);
  EXPECT_EQ(Count(R"({"vision_config": {"depth": 27, "hidden_size": 1152,
      "intermediate_size": 4304}})"),
            kSiglip);
  EXPECT_EQ(Count(R"({"vision_config": {"vt_num_hidden_layers": 27,
      "vt_hidden_size": 1152, "vt_intermediate_size": 4304}})"),
            kSiglip);
}

TEST(TowerReader, AGatedPartHasThreeMatrices) {
  EXPECT_EQ(Count(R"({"vision_config": {"num_hidden_layers": 24,
      "hidden_size": 1024, "intermediate_size": 4096, "hidden_act": "silu"}})"),
            24 * (4 * 1024 * 1024 + 3 * 1024 * 4096));
}

TEST(TowerReader, WhatIsNotDescribedIsNothing) {
  for (const char* config :
       {"{}", R"({"vision_config": null})", R"({"vision_config": [1]})",
        R"({"vision_config": {"depth": 27}})",
        R"({"vision_config": {"depth": "x", "hidden_size": 1152}})",
        R"({"vision_config": {"depth": -3, "hidden_size": 1152}})",
        R"({"vision_config": {"depth": 9223372036854775807,
            "hidden_size": 9223372036854775807}})"}) {
    EXPECT_EQ(Count(config), 0) << config;
  }
}

}  // namespace
}  // namespace kvsim
