#include "tools/layout_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Outcome Layout(std::vector<std::string> arguments) {
  return Kvsim("layout", std::move(arguments));
}

json LayoutJson(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome outcome = Layout(std::move(arguments));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  return json::parse(outcome.out);
}

TEST(LayoutCommandTest, JsonHasTheContractsFields) {
  const json report =
      LayoutJson({"--model", "deepseek-v3.2", "--context", "131072,1048576"});
  EXPECT_EQ(report["bytes_per_token"], 78324);  // 61 x (1152 + 132)
  EXPECT_EQ(report["fixed_bytes"], 0);
  ASSERT_EQ(report["contexts"].size(), 2u);
  EXPECT_EQ(report["contexts"][0]["tokens"], 131072);
  EXPECT_EQ(report["contexts"][1]["bytes"], 78324LL * 1048576);
  int64_t sum = 0;
  for (const json& tensor : report["contexts"][1]["tensors"]) {
    EXPECT_TRUE(tensor.contains("name"));
    sum += tensor["bytes"].get<int64_t>();
  }
  EXPECT_EQ(sum, 78324LL * 1048576);
  EXPECT_EQ(report["layers"].size(), 61u);
  EXPECT_EQ(report["layers"][0]["tensors"][0]["name"], "latent");
  EXPECT_FALSE(report["warnings"].empty());
  EXPECT_EQ(report["assumptions"], "engines");
  EXPECT_EQ(report["compared_with"]["assumptions"], "article");
  EXPECT_EQ(report["compared_with"]["bytes_per_token"], 85888);
}

TEST(LayoutCommandTest, FractionsOfABytePerTokenStay) {
  const json report = LayoutJson({"--model", "deepseek-v4-pro"});
  EXPECT_EQ(report["bytes_per_token"], 5609.25);
}

TEST(LayoutCommandTest, AsArticleAndBinaryContexts) {
  const json report = LayoutJson(
      {"--model", "kimi-k3.1-pro", "--context", "128K,1M", "--as-article"});
  EXPECT_EQ(report["assumptions"], "article");
  EXPECT_EQ(report["contexts"][0]["tokens"], 131072);
  EXPECT_EQ(report["contexts"][1]["bytes"], 123LL << 30);
}

TEST(LayoutCommandTest, FlagsReachTheLayout) {
  EXPECT_EQ(LayoutJson({"--model", "kimi-k3.1-pro", "--index-key-heads",
                        "32"})["bytes_per_token"],
            24 * (1152 + 32 * 132));
  EXPECT_EQ(LayoutJson({"--model", "deepseek-v3", "--kv-cache-dtype",
                        "fp8_ds_mla"})["bytes_per_token"],
            61 * 656);
  EXPECT_EQ(LayoutJson({"--model", "deepseek-v3.2", "--index-key-dtype",
                        "fp4"})["bytes_per_token"],
            61 * (1152 + 68));
  EXPECT_EQ(LayoutJson({"--model", "deepseek-v3", "--mtp"})["bytes_per_token"],
            62 * 1152);
  EXPECT_EQ(LayoutJson({"--model", "glm-5.2",
                        "--index-keys-on-shared-layers"})["bytes_per_token"],
            100152);
  EXPECT_EQ(LayoutJson({"--model", "llama-2-7b", "--hf-overrides",
                        R"({"num_hidden_layers": 1})"})["bytes_per_token"],
            16384);
  EXPECT_EQ(LayoutJson({"--model", "qwen3-next-80b", "--mamba-ssm-cache-dtype",
                        "float32"})["fixed_bytes"],
            77266944);
}

TEST(LayoutCommandTest, TextNamesUnitsAndBothSides) {
  const Outcome outcome =
      Layout({"--model", "kimi-k3.1-pro", "--context", "1M"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("30,816 B of full history"),
            HasSubstr("69 x KDA 96 x 128 x 128"), HasSubstr("recurrent_state"),
            HasSubstr("30.51 GiB"), HasSubstr("article assumes"),
            HasSubstr("123.00 GiB"), HasSubstr("Note: ")));
}

TEST(LayoutCommandTest, ContextZeroAndTheLongest) {
  const json report =
      LayoutJson({"--model", "llama-2-7b", "--context", "0,1000000000"});
  EXPECT_EQ(report["contexts"][0]["bytes"], 0);
  EXPECT_EQ(report["contexts"][1]["bytes"], 524288LL * 1000000000);
}

TEST(LayoutCommandTest, BadInputExitsWith1AndNamesTheFlag) {
  struct Case {
    std::vector<std::string> arguments;
    const char* text;
  };
  for (const Case& c : std::vector<Case>{
           {{"--model", "no-such"}, "no-such"},
           {{"--model", "llama-2-7b", "--context", "12x"}, "--context"},
           {{"--model", "llama-2-7b", "--context", "-1"}, "--context"},
           {{"--model", "llama-2-7b", "--context", "128K,"}, "--context"},
           {{"--model", "llama-2-7b", "--context", "9223372036854775808"},
            "--context"},
           {{"--model", "llama-2-7b", "--context", "5000000000"},
            "4,294,967,296"},
           {{"--model", "llama-2-7b", "--kv-cache-dtype", "fp9"},
            "--kv-cache-dtype"},
           {{"--model", "deepseek-v3", "--kv-cache-dtype", "nvfp4"},
            "accepted"},
           {{"--model", "glm-5.2", "--index-key-heads", "0"},
            "--index-key-heads"},
           {{"--model", "glm-5.2", "--index-key-heads", "many"},
            "--index-key-heads"},
           {{"--model", "llama-2-7b", "--hf-overrides", "{"},
            "--hf-overrides"}}) {
    const Outcome outcome = Layout(c.arguments);
    EXPECT_EQ(outcome.code, kExitBadInput) << c.text;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(c.text));
  }
}

TEST(LayoutCommandTest, WrongUsageExitsWith2) {
  EXPECT_EQ(Layout({}).code, kExitWrongUsage);
  EXPECT_EQ(Layout({"--model", "llama-2-7b", "--", "--foo"}).code,
            kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
