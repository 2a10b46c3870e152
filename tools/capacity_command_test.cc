#include "tools/capacity_command.h"

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

Outcome Capacity(std::vector<std::string> arguments) {
  return Kvsim("capacity", std::move(arguments));
}

nlohmann::json CapacityJsonOf(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome outcome = Capacity(std::move(arguments));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

// Llama-2-7B on 40 GiB: 5,120 blocks of 32 x 262,144 B, 20 requests of 4,096.
TEST(CapacityCommand, JsonCarriesTheFieldsOthersRelyOn) {
  const nlohmann::json json =
      CapacityJsonOf({"--model", "llama-2-7b", "--kv-memory", "40GiB"});
  EXPECT_EQ(json["num_blocks"], 5120);
  EXPECT_EQ(json["block_tokens"], 16);
  EXPECT_EQ(json["page_bytes"], 262144);
  EXPECT_EQ(json["bytes_per_block"], 8388608);
  EXPECT_EQ(json["kv_cache_tokens"], 81920);
  EXPECT_EQ(json["max_concurrency"], 20.0);
  EXPECT_EQ(json["blocks_per_request"], 256);
  EXPECT_EQ(json["log_lines"][0],
            "GPU KV cache size: 81,920 tokens, Maximum concurrency for 4,096 "
            "tokens per request: 20.00x");
  EXPECT_EQ(json["groups"][0]["kind"], "full_attention");
  EXPECT_EQ(json["groups"][0]["layers"].size(), 32u);
  EXPECT_EQ(json["per_rank"][0]["kv_memory_bytes"], 42949672960);
  EXPECT_EQ(json["accounts"][0]["name"], "KV cache");
  EXPECT_TRUE(json["warnings"].is_array());
  EXPECT_FALSE(json.contains("refused"));
}

TEST(CapacityCommand, ARefusedStartIsAResult) {
  const nlohmann::json json =
      CapacityJsonOf({"--model", "glm-5.2", "--kv-memory", "40GiB"});
  EXPECT_EQ(json["refused"]["needed_bytes"], int64_t{16384} * 5928192);
  EXPECT_EQ(json["refused"]["max_len_that_fits"], 463616);
  EXPECT_THAT(std::string(json["refused"]["message"]), HasSubstr("90.46 GiB"));
}

TEST(CapacityCommand, TheFirstArticlesCase) {
  const std::vector<std::string> machine = {"--model",
                                            "kimi-k3.1-pro",
                                            "--gpu-memory",
                                            "141GB",
                                            "--num-gpus",
                                            "16",
                                            "--gpu-memory-utilization",
                                            "1.0",
                                            "--weight-bytes",
                                            "1.56TB",
                                            "--non-kv-memory",
                                            "0",
                                            "--index-key-heads",
                                            "32",
                                            "--context",
                                            "1M"};
  std::vector<std::string> sharded = machine;
  sharded.insert(sharded.end(), {"-dcp", "16"});
  EXPECT_EQ(CapacityJsonOf(sharded)["contexts"][0]["resident"], 5);
  EXPECT_EQ(CapacityJsonOf(machine)["contexts"][0]["resident"], 0);
}

TEST(CapacityCommand, TextNamesAllFourConcurrencies) {
  const Outcome outcome =
      Capacity({"--model", "gemma-3-27b", "--kv-memory", "40GiB", "--context",
                "128K,8192", "--max-model-len", "128K"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("resident"), HasSubstr("admitted"),
                                 HasSubstr("engine line"), HasSubstr("ideal")));
  EXPECT_THAT(outcome.out, HasSubstr("GPU KV cache size: 291,658 tokens"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(CapacityCommand, EngineSpellingsOfParallelSizes) {
  for (const char* flag : {"-tp", "--tp", "--tensor-parallel-size"}) {
    const nlohmann::json json = CapacityJsonOf(
        {"--model", "llama-3.1-70b", "--kv-memory", "40GiB", flag, "8"});
    EXPECT_EQ(json["num_blocks"], 65536) << flag;
  }
  const nlohmann::json json =
      CapacityJsonOf({"--model", "llama-3.1-70b", "--kv-memory", "40GiB",
                      "-tp=8", "-pp", "2"});
  EXPECT_EQ(json["per_rank"].size(), 2u);
}

TEST(CapacityCommand, ConcurrencyInvertsTheQuestion) {
  const nlohmann::json json =
      CapacityJsonOf({"--model", "deepseek-v3.2", "--gpu", "H200", "--context",
                      "128K", "--concurrency", "20"});
  EXPECT_EQ(json["deployments"][0]["num_gpus"], 8);
  EXPECT_GE(json["deployments"][0]["resident"][0], 20);
}

struct BadInput {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(CapacityCommand, BadInputNamesFlagAndValue) {
  const BadInput kBad[] = {
      {{"--block-size", "0"}, "--block-size 0"},
      {{"--block-size", "-16"}, "--block-size '-16'"},
      {{"-tp", "3"}, "--tensor-parallel-size 3"},
      {{"--gpu-memory-utilization", "0"}, "--gpu-memory-utilization 0"},
      {{"--gpu-memory-utilization", "1.5"}, "--gpu-memory-utilization '1.5'"},
      {{"--gpu-memory-utilization", "nan"}, "--gpu-memory-utilization 'nan'"},
      {{"--gpu-memory", "-80GiB"}, "--gpu-memory '-80GiB'"},
      {{"--gpu-memory", "80G"}, "--gpu-memory '80G'"},
      {{"--gpu-memory", "0"}, "--gpu-memory 0"},
      {{"--weight-bytes", "many"}, "--weight-bytes 'many'"},
      {{"--context", "128K,,1M"}, "--context '128K,,1M'"},
      {{"--context", "0"}, "--context 0"},
      {{"--context", "99999999999999999999"}, "--context"},
      {{"--max-model-len", "0"}, "--max-model-len 0"},
      {{"--max-num-seqs", "0"}, "--max-num-seqs 0"},
      {{"--gpu", "H210"}, "--gpu 'H210'"},
      {{"--kv-cache-dtype", "fp9"}, "--kv-cache-dtype 'fp9'"},
      {{"--concurrency", "0"}, "--concurrency 0"},
      {{"--num-gpus", "0"}, "--num-gpus 0"},
      {{"--engine", "paged"}, "--engine 'paged'"},
      {{"--engine-version", "soon"}, "--engine-version 'soon'"},
  };
  for (const BadInput& bad : kBad) {
    std::vector<std::string> arguments = {"--model", "llama-3.1-8b"};
    if (bad.arguments[0] != "--gpu") {
      arguments.insert(arguments.end(), {"--gpu", "H100"});
    }
    arguments.insert(arguments.end(), bad.arguments.begin(),
                     bad.arguments.end());
    const Outcome outcome = Capacity(arguments);
    EXPECT_EQ(outcome.code, kExitBadInput) << bad.message;
    EXPECT_THAT(outcome.err, HasSubstr(bad.message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST(CapacityCommand, UnknownGpuOffersTheNearest) {
  EXPECT_THAT(Capacity({"--model", "llama-3.1-8b", "--gpu", "H210"}).err,
              HasSubstr("H200"));
}

TEST(CapacityCommand, NoMemoryIsBadInput) {
  const Outcome outcome = Capacity({"--model", "llama-3.1-8b"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("--gpu-memory"));
}

TEST(CapacityCommand, HugeMemoryDoesNotOverflow) {
  const nlohmann::json json =
      CapacityJsonOf({"--model", "llama-3.1-8b", "--gpu-memory", "100TiB",
                      "--context", "1000000000"});
  EXPECT_EQ(json["contexts"][0]["steady_blocks"], 62500000);
}

TEST(CapacityCommand, WeightsLargerThanMemoryAreARefusal) {
  const nlohmann::json json =
      CapacityJsonOf({"--model", "llama-3.1-70b", "--gpu", "H100"});
  EXPECT_THAT(std::string(json["refused"]["message"]),
              HasSubstr("GiB more than"));
  EXPECT_EQ(json["refused"]["max_len_that_fits"], 0);
}

}  // namespace
}  // namespace kvsim
