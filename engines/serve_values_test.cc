#include "engines/serve_values.h"

#include <gtest/gtest.h>

#include <optional>

namespace kvsim {
namespace {

constexpr ServeFlag kFlags[] = {
    {"--size", FlagArity::kValue, FlagEffect::kModelled},
    {"--share", FlagArity::kValue, FlagEffect::kModelled},
    {"--name", FlagArity::kValue, FlagEffect::kModelled},
    {"--fast", FlagArity::kBool, FlagEffect::kModelled},
};
constexpr ServeGrammar kGrammar = {.program = "serve", .flags = kFlags};

ServeCommand Command(const std::vector<std::string>& words) {
  return *ReadServeCommand(kGrammar, words);
}

TEST(ServeValuesTest, GivenFlagsSetTheirFields) {
  const ServeCommand command =
      Command({"--size", "-1", "--share", "0.5", "--name", "a", "--no-fast"});
  ServeValues values(command);
  std::optional<int64_t> size;
  double share = 0;
  std::string name;
  bool fast = true;
  values.Integer("--size", &size);
  values.Number("--share", &share);
  values.Text("--name", &name);
  values.Switch("--fast", &fast);
  EXPECT_TRUE(values.status().ok());
  EXPECT_EQ(size, -1);
  EXPECT_EQ(share, 0.5);
  EXPECT_EQ(name, "a");
  EXPECT_FALSE(fast);
}

TEST(ServeValuesTest, WhatIsNotGivenIsLeftAlone) {
  const ServeCommand command = Command({});
  ServeValues values(command);
  int64_t size = 7;
  bool fast = true;
  values.Integer("--size", &size);
  values.Switch("--fast", &fast);
  EXPECT_EQ(size, 7);
  EXPECT_TRUE(fast);
}

TEST(ServeValuesTest, TheFirstErrorStands) {
  const ServeCommand command =
      Command({"--size", "many", "--share", "nan", "--name", "a"});
  ServeValues values(command);
  int64_t size = 7;
  double share = 0.25;
  std::string name;
  values.Integer("--size", &size);
  values.Number("--share", &share);
  values.Text("--name", &name);
  EXPECT_EQ(values.status().message(),
            "serve, word 1: --size 'many': expected an integer");
  EXPECT_EQ(size, 7);
  EXPECT_EQ(share, 0.25);
  EXPECT_EQ(name, "");
}

}  // namespace
}  // namespace kvsim
