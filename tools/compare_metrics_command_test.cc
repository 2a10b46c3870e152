#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Outcome Compare(const std::string& metrics, std::vector<std::string> more) {
  const std::string trace = WriteTestFile(
      "compare.jsonl",
      R"({"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
)");
  std::vector<std::string> arguments = {
      "--trace", trace,       "--num-gpu-blocks",
      "201",     "--metrics", WriteTestFile("server.txt", metrics)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Kvsim("compare-metrics", arguments);
}

// Each prompt holds 64 blocks of 200, and a 65th for its outputs: 32.5 % at most.
// The second hits 1,008 of the 2,048 tokens of both.
TEST(CompareMetricsTest, SetsTheReplayBesideTheServer) {
  const Outcome outcome = Compare(
      "vllm:kv_cache_usage_perc 0.25\nvllm:num_preemptions_total 2\n"
      "vllm:prefix_cache_queries_total 100\nvllm:prefix_cache_hits_total 50\n",
      {"--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["server"], "vLLM /metrics");
  const auto figure = [&](const std::string& name) {
    for (const Json& line : json["figures"]) {
      if (line["name"] == name) return line;
    }
    return Json();
  };
  EXPECT_EQ(figure("cache usage")["server"], 0.25);
  EXPECT_EQ(figure("cache usage, most")["server"], nullptr);
  EXPECT_EQ(figure("cache usage, most")["replay"], 65.0 / 200);
  EXPECT_EQ(figure("prefix hit rate")["server"], 0.5);
  EXPECT_EQ(figure("prefix hit rate")["replay"], 1008.0 / 2048);
  EXPECT_EQ(figure("preemptions")["server"], 2.0);
  EXPECT_EQ(figure("preemptions")["replay"], 0.0);
}

TEST(CompareMetricsTest, TextNamesBothSides) {
  const Outcome outcome = Compare(
      "Engine 000: Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: "
      "30.0%, "
      "Prefix cache hit rate: 49.2%\n",
      {});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Server: vLLM log, 1 lines"));
  EXPECT_THAT(outcome.out, HasSubstr("49.2 %"));
  EXPECT_THAT(outcome.out, HasSubstr("+0.0 points"));
}

TEST(CompareMetricsTest, BadInput) {
  const Outcome outcome = Compare("nothing here\n", {});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("server.txt: found no figures"));
  EXPECT_EQ(
      Compare("vllm:num_preemptions_total 2\n", {"--metrics", "/none"}).code,
      kExitWrongUsage);  // given twice
}

}  // namespace
}  // namespace kvsim
