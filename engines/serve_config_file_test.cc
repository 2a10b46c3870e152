#include "engines/serve_config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<ConfigFlag> Parse(absl::string_view text) {
  const auto flags = ParseServeConfig(text, "serve.yaml");
  EXPECT_TRUE(flags.ok()) << flags.status();
  return flags.ok() ? *flags : std::vector<ConfigFlag>();
}

std::string ErrorOf(absl::string_view text) {
  const auto flags = ParseServeConfig(text, "serve.yaml");
  return flags.ok() ? "" : std::string(flags.status().message());
}

TEST(ServeConfigFile, ReadsScalarsListsAndMappings) {
  const auto flags = Parse(
      "model: org/name  # comment\n"
      "tensor_parallel_size: 4\n"
      "allowed-origins: [a, \"b c\"]\n"
      "speculative-config:\n"
      "  method: mtp\n"
      "  num_speculative_tokens: 3\n");
  ASSERT_THAT(flags, SizeIs(4));
  EXPECT_EQ(flags[0].name, "model");
  EXPECT_THAT(flags[0].values, ElementsAre("org/name"));
  EXPECT_EQ(flags[1].line, 2);
  EXPECT_THAT(flags[1].values, ElementsAre("4"));
  EXPECT_THAT(flags[2].values, ElementsAre("a", "b c"));
  EXPECT_THAT(flags[3].values,
              ElementsAre(R"({"method":"mtp","num_speculative_tokens":3})"));
}

TEST(ServeConfigFile, TrueIsASwitchAndFalseIsAbsent) {
  const auto flags = Parse("enforce-eager: true\nx: false\ny:\nz: \"true\"\n");
  ASSERT_THAT(flags, SizeIs(4));
  EXPECT_EQ(flags[0].kind, ConfigFlag::Kind::kSwitch);
  EXPECT_EQ(flags[1].kind, ConfigFlag::Kind::kAbsent);
  EXPECT_EQ(flags[2].kind, ConfigFlag::Kind::kAbsent);
  EXPECT_THAT(flags[3].values, ElementsAre("true"));  // quoted: a text
}

TEST(ServeConfigFile, AnEmptyFileHasNoFlags) {
  EXPECT_THAT(Parse(""), IsEmpty());
}

TEST(ServeConfigFile, ErrorsNameFileAndLine) {
  EXPECT_THAT(ErrorOf("a: 1\nb: [1, 2\n"), HasSubstr("serve.yaml: line "));
  EXPECT_THAT(ErrorOf("- a\n"), HasSubstr("line 1: expected lines"));
  EXPECT_THAT(ErrorOf("? [a]\n: b\n"), HasSubstr("must be a flag's name"));
  EXPECT_THAT(ErrorOf("a: [[1, 2]]\n"), HasSubstr("a list must hold values"));
  const auto missing = ReadServeConfig("/nowhere/serve.yaml");
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("--config '/nowhere/serve.yaml'"));
}

}  // namespace
}  // namespace kvsim
