#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Three prompts of four ids of 512 tokens: 1 2 3 4, 1 2 5 6, 1 2 3 4.
std::string TracePath() {
  const std::string path = testing::TempDir() + "/mrc.jsonl";
  std::ofstream(path) <<
      R"({"timestamp": 0, "input_length": 2048, "output_length": 1, "hash_ids": [1, 2, 3, 4]}
{"timestamp": 1, "input_length": 2048, "output_length": 1, "hash_ids": [1, 2, 5, 6]}
{"timestamp": 2, "input_length": 2048, "output_length": 1, "hash_ids": [1, 2, 3, 4]}
)";
  return path;
}

Outcome Mrc(std::vector<std::string> more) {
  more.insert(more.begin(), {"--trace", TracePath()});
  return Kvsim("mrc", std::move(more));
}

// At block 512 the second prompt hits 1 2 from two entries on. The third finds
// the order 1 2 5 6 3 4: two entries serve 1 2, five serve 3 as well; 4 holds
// the prompt's last token, which an engine computes.
TEST(MrcCommandTest, HitsByHand) {
  const Outcome outcome =
      Mrc({"--block-size", "512", "--sizes", "1,2,4,5,6", "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json json = Json::parse(outcome.out);
  const int64_t hits[] = {2 * 512, 4 * 512, 4 * 512, 5 * 512, 5 * 512};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(json["points"][i]["hit_tokens"], hits[i]) << i;
  }
  EXPECT_EQ(json["saturating_blocks"], 5);
  EXPECT_EQ(json["measured_tokens"], 3 * 2048);
}

TEST(MrcCommandTest, EqualsTheReplayOfEverySize) {
  for (const std::string blocks : {"1", "3", "100", "160", "5000"}) {
    const Outcome curve = Mrc({"--sizes", blocks, "--json"});
    const Outcome run =
        Kvsim("replay", {"--mode", "hits", "--trace", TracePath(), "--blocks",
                         blocks, "--block-size", "16", "--json"});
    ASSERT_EQ(run.code, kExitOk) << run.err;
    const auto hits = Json::parse(curve.out)["points"][0]["hit_tokens"];
    EXPECT_EQ(std::to_string(hits.get<int64_t>()),
              Json::parse(run.out)["hit_tokens"].get<std::string>())
        << blocks << " blocks";
  }
}

TEST(MrcCommandTest, TextNamesUnitsAndTheCeiling) {
  const Outcome outcome = Mrc({"--kv-bytes-per-token", "131072"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("blocks of 16"));
  EXPECT_THAT(outcome.out, HasSubstr("MiB"));
  EXPECT_THAT(outcome.out, HasSubstr("No cache hits more than"));
}

TEST(MrcCommandTest, SizesInBytesNeedTheBytesOfAToken) {
  EXPECT_EQ(Mrc({"--sizes", "1GiB"}).code, kExitBadInput);
  EXPECT_THAT(Mrc({"--sizes", "1GiB"}).err, HasSubstr("--kv-bytes-per-token"));
  const Outcome outcome =
      Mrc({"--sizes", "1GiB", "--kv-bytes-per-token", "131072", "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["points"][0]["blocks"], 512);
}

TEST(MrcCommandTest, CsvHasARowPerSize) {
  const std::string path = testing::TempDir() + "/mrc.csv";
  ASSERT_EQ(Mrc({"--sizes", "1,2", "--block-size", "512", "--csv", path}).code,
            kExitOk);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "blocks,tokens,bytes,hit_blocks,hit_tokens,measured_tokens\n"
            "1,512,,2,1024,6144\n"
            "2,1024,,4,2048,6144\n");
}

TEST(MrcCommandTest, NamesABadFlag) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--block-size", "0"},
                                             {"--block-size", "x"},
                                             {"--sizes", "0"},
                                             {"--sizes", "-4"},
                                             {"--measure-last", "200%"},
                                             {"--kv-bytes-per-token", "0"},
                                             {"--csv", "/nowhere/x.csv"}}) {
    const Outcome outcome = Mrc(bad);
    EXPECT_EQ(outcome.code, kExitBadInput) << bad[0] << " " << bad[1];
    EXPECT_THAT(outcome.err, HasSubstr(bad[1])) << bad[0];
  }
  EXPECT_EQ(Kvsim("mrc", {}).code, kExitWrongUsage);
  EXPECT_EQ(Mrc({"--partial-tail", "shared", "--continue-sessions"}).code,
            kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
