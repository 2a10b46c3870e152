#include "tools/compare_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Outcome Compare(std::vector<std::string> arguments) {
  return Kvsim("compare", std::move(arguments));
}

nlohmann::json CompareJson(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome outcome = Compare(std::move(arguments));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

nlohmann::json Figure(const nlohmann::json& json, const std::string& key) {
  for (const nlohmann::json& figure : json["figures"]) {
    if (figure["key"] == key) return figure;
  }
  ADD_FAILURE() << "no figure " << key;
  return {};
}

// Llama-2-7B stores 524,288 B a token, a block of 16 tokens 8 MiB: 40 GiB are
// 5,120 blocks, in fp8 twice as many.
TEST(CompareCommand, FlagsOutsideHoldForBothPlans) {
  const nlohmann::json json =
      CompareJson({"", "--kv-cache-dtype fp8", "--model", "llama-2-7b",
                   "--kv-memory", "40GiB"});
  const nlohmann::json blocks = Figure(json, "num_blocks");
  EXPECT_EQ(blocks["a"], 5120);
  EXPECT_EQ(blocks["b"], 10240);
  EXPECT_EQ(blocks["difference"], 5120);
  EXPECT_EQ(blocks["steps"], nlohmann::json({1}));
  EXPECT_EQ(json["steps"][0]["setting"], "--kv-cache-dtype");
  EXPECT_THAT(json["unexplained"], IsEmpty());
}

TEST(CompareCommand, ASidesOwnFlagGoesBeforeTheOneOfBoth) {
  const nlohmann::json json =
      CompareJson({"--kv-memory 20GiB", "", "--model", "llama-2-7b",
                   "--kv-memory", "40GiB"});
  EXPECT_EQ(Figure(json, "num_blocks")["a"], 2560);
  EXPECT_EQ(Figure(json, "num_blocks")["b"], 5120);
}

// Sides with "=", with a shorthand, without a blank, and flags in front.
TEST(CompareCommand, SidesAreLinesOfFlagsWhereverTheyStand) {
  const std::vector<std::vector<std::string>> kSpelled = {
      {"--model=llama-2-7b --kv-memory=40GiB", "--kv-memory=40GiB -tp 2",
       "--model", "llama-2-7b"},
      {"--kv-memory", "40GiB", "--model=llama-2-7b", " ", "-tp=2 --context 4K"},
      {"", "-tp=2", "--kv-memory", "40GiB", "--model", "llama-2-7b"},
  };
  for (const std::vector<std::string>& arguments : kSpelled) {
    const nlohmann::json json = CompareJson(arguments);
    EXPECT_EQ(Figure(json, "num_blocks")["a"], 5120) << arguments[0];
    EXPECT_EQ(Figure(json, "num_blocks")["b"], 10240) << arguments[0];
  }
}

// 131,072 B a token: 65,536 on one of two ranks, 32,768 on one of four. 8 GiB
// are 8,192 and 16,384 blocks of 16 tokens.
TEST(CompareCommand, PastedCommandsSayWhichEngineTheyStart) {
  const nlohmann::json json =
      CompareJson({"vllm serve meta-llama/Llama-3.1-8B \\\n -tp 2",
                   "--kv-memory 8GiB -- FOO=1 vllm serve "
                   "'meta-llama/Llama-3.1-8B' --tensor-parallel-size=4",
                   "--kv-memory", "8GiB"});
  EXPECT_EQ(Figure(json, "num_blocks")["a"], 8192);
  EXPECT_EQ(Figure(json, "num_blocks")["b"], 16384);
  EXPECT_EQ(json["steps"][0]["setting"], "--tensor-parallel-size");
  EXPECT_EQ(json["steps"].size(), 1u);

  // 40 GiB over 131,072 B are 327,680 tokens, a page of one, and a sink page.
  const nlohmann::json engines =
      CompareJson({"vllm serve meta-llama/Llama-3.1-8B",
                   "python3 -m sglang.launch_server --model-path "
                   "meta-llama/Llama-3.1-8B",
                   "--kv-memory", "40GiB"});
  EXPECT_EQ(engines["same_engine"], false);
  EXPECT_EQ(Figure(engines, "num_blocks")["b"], 327681);
  EXPECT_THAT(std::string(Figure(engines, "num_blocks")["rule_b"]),
              HasSubstr("sink page"));
}

TEST(CompareCommandFiles, ASideMayBeAFile) {
  const std::string path = WriteTestFile(
      "serve.sh",
      "#!/bin/sh\nexec vllm serve meta-llama/Llama-3.1-8B \\\n  -tp 2\n");
  const nlohmann::json json = CompareJson(
      {"@" + path, "--model llama-3.1-8b --tp 2", "--kv-memory", "8GiB"});
  for (const nlohmann::json& figure : json["figures"]) {
    EXPECT_EQ(figure["equal"], true) << figure["key"];
  }
}

TEST(CompareCommand, TextCountsEqualFiguresAndShowsThemOnRequest) {
  const std::vector<std::string> arguments = {
      "",     "--engine-version 0.19.2", "--model", "llama-2-7b", "--kv-memory",
      "40GiB"};
  const Outcome outcome = Compare(arguments);
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("figures are equal: --all shows them"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("blocks of a 1-token request")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("no effect here"),
                                 HasSubstr("log-lines: one -> two"),
                                 HasSubstr("nothing is left unexplained")));
  std::vector<std::string> all = arguments;
  all.push_back("--all");
  EXPECT_THAT(Compare(all).out, HasSubstr("blocks of a 1-token request"));
}

TEST(CompareCommand, EqualPlansNeedNoTable) {
  EXPECT_EQ(
      Compare({"", "", "--model", "llama-2-7b", "--kv-memory", "40GiB"}).out,
      "A  (the flags of both)\nB  (the flags of both)\n\n"
      "  all 37 figures are equal\n");
}

struct BadInput {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(CompareCommand, WrongUsageNamesTheSideAndTheWord) {
  const BadInput kBad[] = {
      {{"--kv-memory '40GiB", ""},
       "A: the quotation mark ' at character 13 is not closed"},
      {{"", "vllm serve \"m"},
       "B: the quotation mark \" at character 12 is not closed"},
      {{"--kv-memry 40GiB", ""},
       "A: kvsim capacity has no flag --kv-memry; the nearest are --kv-memory"},
      {{"", "vllm serve m --max-model-length 8"},
       "B: vllm serve, word 4: vllm serve has no flag --max-model-length; the "
       "nearest are --max-model-len"},
      {{"lama-2-7b", ""}, "A: 'lama-2-7b' is neither a flag"},
      {{"--tp 2 vllm serve m", ""}, "A: 'vllm' belongs to no flag"},
      {{"@/no/such/file", ""}, "A: @/no/such/file: cannot be read"},
      {{"@/", ""}, "A: @/: cannot be read"},
      {{"--json --tp 2", ""}, "A: --json stands outside"},
      {{"--from-log x.log", ""}, "A: --from-log x.log"},
      {{"", "--concurrency 4"}, "B: --concurrency 4"},
      {{"--engine sglang -- vllm serve m", ""},
       "A: --engine sglang contradicts the command, which starts vllm"},
      {{" --tp", ""}, "A: --tensor-parallel-size"},
  };
  for (const BadInput& bad : kBad) {
    std::vector<std::string> arguments = bad.arguments;
    arguments.insert(arguments.end(),
                     {"--model", "llama-2-7b", "--kv-memory", "40GiB"});
    const Outcome outcome = Compare(arguments);
    EXPECT_EQ(outcome.code, kExitWrongUsage) << bad.message << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(bad.message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST(CompareCommand, ASideWithoutAModelIsWrongUsage) {
  const Outcome outcome =
      Compare({"--tp 2", "--model llama-2-7b", "--kv-memory", "40GiB"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.err, HasSubstr("A: --model is required"));
}

TEST(CompareCommand, BadValuesAreBadInput) {
  const Outcome outcome =
      Compare({"", "--tp 3", "--model", "llama-2-7b", "--kv-memory", "40GiB"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("B: --tensor-parallel-size 3"));
  EXPECT_EQ(Compare({"", "--kv-memory 4Gi", "--model", "llama-2-7b"}).code,
            kExitBadInput);
}

TEST(CompareCommand, BothSidesAreNeeded) {
  EXPECT_EQ(Compare({"--tp 2"}).code, kExitWrongUsage);
  EXPECT_EQ(Compare({}).code, kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
