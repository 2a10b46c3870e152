#include "engines/flag_merge.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

TEST(FlagMergeTest, AFlagFillsWhatTheCommandLeavesOpen) {
  FlagMerge merge("sglang");
  int64_t ranks = 1;
  std::optional<int64_t> length;
  merge.Set("--tensor-parallel-size", std::optional<int64_t>(8), int64_t{1},
            &ranks);
  merge.Set("--max-model-len", std::optional<int64_t>(4096), &length);
  EXPECT_TRUE(merge.status().ok());
  EXPECT_EQ(ranks, 8);
  EXPECT_EQ(length, 4096);
  merge.Set("--max-model-len", std::optional<int64_t>(4096), &length);
  EXPECT_TRUE(merge.status().ok());
}

TEST(FlagMergeTest, ContradictionsAreErrors) {
  FlagMerge merge("sglang");
  int64_t ranks = 4;
  merge.Set("--tensor-parallel-size", std::optional<int64_t>(8), int64_t{1},
            &ranks);
  EXPECT_EQ(merge.status().message(),
            "--tensor-parallel-size 8 contradicts 4 in the engine's command");
  EXPECT_EQ(ranks, 4);
}

enum class Color { kAny, kRed, kBlue };
absl::string_view ColorName(Color color) {
  return color == Color::kRed ? "red" : color == Color::kBlue ? "blue" : "any";
}

TEST(FlagMergeTest, NamedValuesContradictByName) {
  FlagMerge merge("sglang");
  Color color = Color::kAny;
  merge.SetNamed("--color", Color::kRed, Color::kAny, ColorName, &color);
  EXPECT_EQ(color, Color::kRed);
  merge.SetNamed("--color", Color::kAny, Color::kAny, ColorName, &color);
  EXPECT_TRUE(merge.status().ok());
  merge.SetNamed("--color", Color::kBlue, Color::kAny, ColorName, &color);
  EXPECT_EQ(merge.status().message(),
            "--color blue contradicts red in the engine's command");
}

TEST(FlagMergeTest, FlagsThatMeanNothingAreErrors) {
  FlagMerge merge("llama.cpp");
  merge.Unused("--index-key-heads", false);
  EXPECT_TRUE(merge.status().ok());
  merge.Unused("--index-key-heads", true);
  EXPECT_EQ(merge.status().message(),
            "--index-key-heads: --engine llama.cpp has no such setting; give "
            "its own flags after --");
}

}  // namespace
}  // namespace kvsim
