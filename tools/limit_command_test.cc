#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// 40 requests of 64 tokens, one every 100 ms, 5 outputs each.
std::string TracePath() {
  const std::string path = testing::TempDir() + "/limit.jsonl";
  std::ofstream file(path);
  for (int i = 0; i < 40; ++i) {
    file << "{\"timestamp\": " << i * 100
         << ", \"input_length\": 64, \"output_length\": 5, \"hash_ids\": ["
         << i + 1 << "]}\n";
  }
  return path;
}

Outcome Limit(std::vector<std::string> more) {
  more.insert(more.begin(), {"--trace", TracePath(), "--step-us", "20000"});
  return Kvsim("limit", std::move(more));
}

Json LimitJson(std::vector<std::string> more) {
  more.push_back("--json");
  const Outcome outcome = Limit(std::move(more));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return Json::parse(outcome.out);
}

// One request at a time takes 5 steps of 20 ms: exactly the 100 ms between two
// arrivals. At any higher rate the queue grows and the last first token is late.
TEST(LimitCommandTest, TheRateAtWhichAQueueBeginsToGrow) {
  const Json json = LimitJson({"--find", "rate", "--num-gpu-blocks", "100",
                               "--max-num-seqs", "1", "--slo", "ttft=20ms",
                               "--attain", "100%", "--precision", "0"});
  EXPECT_EQ(json["holds"], 1.0);
  EXPECT_EQ(json["fails"], 1.001);
  EXPECT_THAT(json["probes"].back()["broken"].dump(),
              HasSubstr("within the SLO"));
}

// A request of 64 + 5 tokens holds five blocks of 16; with the null block six.
TEST(LimitCommandTest, TheSmallestPoolThatServesEveryRequest) {
  const Json json = LimitJson(
      {"--find", "memory", "--num-gpu-blocks", "4096", "--precision", "0"});
  EXPECT_EQ(json["holds"], 6);
  EXPECT_EQ(json["fails"], 5);
  for (const Json& probe : json["probes"]) {
    EXPECT_EQ(probe["holds"].get<bool>(), probe["value"].get<int64_t>() >= 6);
    EXPECT_EQ(probe["value"], probe["num_blocks"]);
  }
}

// The prompt's four blocks in each of two groups and the null block; before the fifth
// of full attention is needed, the window has given two back.
TEST(LimitCommandTest, TheSmallestPoolOfAWindowBesideFullAttention) {
  const Json json = LimitJson({"--find", "memory", "--num-gpu-blocks", "4096",
                               "--precision", "0", "--groups", "full;swa:32"});
  EXPECT_EQ(json["holds"], 9);
  EXPECT_EQ(json["fails"], 8);
}

TEST(LimitCommandTest, MemoryIsGivenInBytesWhenTheyAreKnown) {
  const Outcome outcome =
      Limit({"--find", "memory", "--kv-memory", "1GiB", "--kv-bytes-per-token",
             "65536", "--precision", "0"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("smallest number of blocks that holds: 6 "
                                     "(6.00 MiB on each rank)"));
  EXPECT_THAT(outcome.out, HasSubstr("40 requests can never fit"));
}

// All 40 arrive at once; four blocks hold the prompt, the fifth is needed for
// the first output, so that 12 of them in 51 blocks cannot all go on.
TEST(LimitCommandTest, ConcurrencyWithoutPreemptions) {
  const Json json = LimitJson({"--find", "concurrency", "--num-gpu-blocks",
                               "51", "--rate-scale", "1000", "--max-preempted",
                               "0%", "--precision", "0"});
  EXPECT_EQ(json["holds"], 10);
  EXPECT_EQ(json["fails"], 11);
}

TEST(LimitCommandTest, SaysSoWhenNothingHoldsOrEverythingDoes) {
  const Outcome nothing =
      Limit({"--find", "concurrency", "--num-gpu-blocks", "5"});
  EXPECT_EQ(nothing.code, kExitOk);
  EXPECT_THAT(nothing.out, HasSubstr("Nothing holds: at 1 still 40 requests"));
  const Outcome all = Limit({"--find", "rate", "--num-gpu-blocks", "4096"});
  EXPECT_EQ(all.code, kExitOk);
  EXPECT_THAT(all.out, HasSubstr("1000.000, the end of the range searched"));
}

TEST(LimitCommandTest, WrongUsageAndBadInput) {
  EXPECT_EQ(Limit({"--num-gpu-blocks", "100"}).code, kExitWrongUsage);
  EXPECT_EQ(Limit({"--find", "luck", "--num-gpu-blocks", "100"}).code,
            kExitWrongUsage);
  EXPECT_EQ(Limit({"--find", "rate"}).code, kExitWrongUsage);  // no pool
  EXPECT_EQ(
      Limit({"--find", "rate", "--num-gpu-blocks", "100", "--attain", "99%"})
          .code,
      kExitWrongUsage);
  EXPECT_EQ(
      Limit({"--find", "rate", "--num-gpu-blocks", "100", "--rate-scale", "2"})
          .code,
      kExitWrongUsage);
  const Outcome bad = Limit(
      {"--find", "rate", "--num-gpu-blocks", "100", "--slo", "ttft=fast"});
  EXPECT_EQ(bad.code, kExitBadInput);
  EXPECT_THAT(bad.err, HasSubstr("ttft=fast"));
}

}  // namespace
}  // namespace kvsim
