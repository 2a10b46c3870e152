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
using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr char kAgents[] = "traces/sample/agents.jsonl";

Outcome Tune(Words more) {
  more.insert(more.begin(), "checkpoints");
  return Kvsim("tune", std::move(more));
}

Json TuneJson(Words more) {
  more.push_back("--json");
  const Outcome outcome = Tune(std::move(more));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return Json::parse(outcome.out);
}

const Json& Point(const Json& json, const std::string& policy) {
  for (const Json& point : json["points"]) {
    if (point["policy"] == policy) return point;
  }
  ADD_FAILURE() << policy << " is not among the points";
  return json["points"][0];
}

// One prompt of 2^20 + 1 tokens.
std::string MillionPath() {
  std::string ids = "0";
  for (int i = 1; i <= (1 << 20) / 512; ++i) ids += "," + std::to_string(i);
  return WriteTestFile("million.jsonl",
                       R"({"timestamp": 0, "input_length": 1048577, )"
                       R"("output_length": 1, "hash_ids": [)" +
                           ids + "]}\n");
}

Words Kimi(const std::string& trace, Words more) {
  more.insert(more.begin(),
              {"--model", "kimi-linear-48b", "--kv-memory", "60GiB", "--trace",
               trace, "--max-model-len", "2M"});
  return more;
}

// The second article: about ceil(T / C) checkpoints for T tokens, each of 20 layers of
// 32 heads of 128 x 128 numbers: 40 MiB in fp32, 20 MiB in bf16. The engine keeps the
// last 3 inputs of three convolutions of 32 x 128 channels beside them in bf16:
// 20 · 3 · 3 · 4096 · 2 = 1,474,560 B. int8 has one fp32 scale a head.
TEST(TuneCheckpoints, AMillionTokensKeepOneStateEvery4096) {
  const int64_t conv = 20 * 3 * 3 * 4096 * 2;
  const std::vector<std::pair<std::string, int64_t>> dtypes = {
      {"float32", (int64_t{40} << 20) + conv},
      {"bfloat16", (int64_t{20} << 20) + conv},
      {"int8", (int64_t{10} << 20) + 20 * 32 * 4 + conv}};
  for (const auto& [dtype, each] : dtypes) {
    const Json json =
        TuneJson(Kimi(MillionPath(), {"--policies", "every:4096,none",
                                      "--state-dtypes", dtype}));
    const Json& every = Point(json, "every:4096");
    EXPECT_EQ(every["checkpoints"], 256) << dtype;
    EXPECT_EQ(every["bytes_each"], each) << dtype;
    // The last of them is kept while the last token is computed.
    EXPECT_EQ(every["peak_bytes"], 256 * each) << dtype;
    EXPECT_EQ(Point(json, "none")["peak_bytes"], 0) << dtype;
    EXPECT_EQ(json["spacing"][5]["tokens"], 1048576);
    EXPECT_EQ(json["spacing"][5]["every_tokens"], 4096);
    EXPECT_EQ(json["spacing"][5]["checkpoints"], 256);
    EXPECT_EQ(json["spacing"][5]["bytes"], 256 * each);
  }
}

Words Small(Words more) {
  more.insert(more.begin(),
              {"--groups", "full;mamba*3", "--num-gpu-blocks", "600",
               "--kv-bytes-per-token", "1000", "--block-size", "64", "--trace",
               kAgents, "--limit", "300"});
  return more;
}

TEST(TuneCheckpoints, NobodyHitsMoreThanTheBound) {
  const Json json = TuneJson(Small({"--arrivals", "timestamps"}));
  EXPECT_GT(json["points"].size(), 10u);
  for (const Json& point : json["points"]) {
    ASSERT_TRUE(point["error"].is_null()) << point;
    EXPECT_LE(point["hit_tokens"], point["bound_tokens"]) << point;
    EXPECT_EQ(point["hit_tokens"].get<int64_t>() +
                  point["recomputed_tokens"].get<int64_t>(),
              json["reusable_tokens"]);
  }
  EXPECT_EQ(Point(json, "none")["hit_tokens"], 0);
  EXPECT_EQ(Point(json, "none")["mean_bytes"], 0);
  EXPECT_GT(Point(json, "dense")["checkpoints"],
            Point(json, "every:256")["checkpoints"]);
  // What the engine does is prompt ends and branch points.
  EXPECT_EQ(Point(json, "engine")["hit_tokens"],
            Point(json, "prompt-end+branch-points")["hit_tokens"]);
  EXPECT_GT(Point(json, "engine")["hit_tokens"], 0);
}

TEST(TuneCheckpoints, ThreadsChangeNothing) {
  const Outcome one = Tune(Small({"--jobs", "1", "--json"}));
  const Outcome four = Tune(Small({"--jobs", "4", "--json"}));
  EXPECT_EQ(one.code, kExitOk) << one.err;
  EXPECT_EQ(one.out, four.out);
}

TEST(TuneCheckpoints, SaysWhatItFound) {
  const Outcome outcome = Tune(Small({}));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("Checkpoint policies for the groups given"),
            HasSubstr("branch-points"), HasSubstr("no policy hits more"),
            HasSubstr("ceil(tokens / every)"), HasSubstr("knee")));
}

TEST(TuneCheckpoints, RefusesWhatItCannotAnswer) {
  const auto error = [](const Outcome& outcome) {
    EXPECT_NE(outcome.code, kExitOk);
    return outcome.err;
  };
  EXPECT_THAT(error(Tune(Small({"--policies", "every"}))),
              AllOf(HasSubstr("--policies 'every'"), HasSubstr("or engine")));
  EXPECT_THAT(error(Tune({"--num-gpu-blocks", "600", "--trace", kAgents})),
              HasSubstr("no recurrent layers"));
  EXPECT_THAT(error(Tune(Small({"--state-dtypes", "int8"}))),
              AllOf(HasSubstr("--state-dtypes 'int8'"), HasSubstr("--model")));
  EXPECT_THAT(error(Tune(Kimi(kAgents, {"--state-dtypes", "int3"}))),
              AllOf(HasSubstr("--state-dtypes 'int3'"), HasSubstr("int8")));
  EXPECT_THAT(error(Tune(Small({"--jobs", "0"}))), HasSubstr("--jobs '0'"));
}

}  // namespace
}  // namespace kvsim
