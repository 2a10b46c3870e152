#include "tools/capacity_serve.h"

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
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Outcome Capacity(std::vector<std::string> arguments) {
  return Kvsim("capacity", std::move(arguments));
}

nlohmann::json Answer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--json");
  const Outcome outcome = Capacity(std::move(arguments));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

// Llama-3.1-8B stores 131,072 B a token: a rank of two 65,536, a block of 16
// tokens 1,048,576. 8 GiB are 8,192 blocks, 131,072 tokens.
TEST(CapacityServe, TheCommandSaysWhatTheEngineRunsWith) {
  const nlohmann::json json =
      Answer({"--kv-memory", "8GiB", "--", "vllm", "serve",
              "meta-llama/Llama-3.1-8B", "-tp", "2", "--max-model-len", "8K",
              "--port", "8000", "--served-model-name", "a", "b"});
  EXPECT_EQ(json["num_blocks"], 8192);
  EXPECT_EQ(json["max_model_len"], 8192);
  EXPECT_EQ(json["log_lines"][0],
            "GPU KV cache size: 131,072 tokens, Maximum concurrency for 8,192 "
            "tokens per request: 16.00x");
}

TEST(CapacityServe, KvsimsModelGoesBeforeTheNameInTheCommand) {
  const nlohmann::json json =
      Answer({"--model", "llama-3.1-8b", "--kv-memory", "8GiB", "--", "vllm",
              "serve", "/data/checkpoints/mine"});
  EXPECT_EQ(json["model"], "llama-3.1-8b");
}

TEST(CapacityServe, AnUnknownNameSaysWhichFlagHelps) {
  const Outcome outcome = Capacity(
      {"--kv-memory", "8GiB", "--", "vllm", "serve", "org/unheard-of"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("--model takes a config.json"));
}

TEST(CapacityServe, ContradictionsNameBothFlags) {
  const Outcome outcome =
      Capacity({"--model", "llama-3.1-8b", "--kv-memory", "8GiB",
                "--max-model-len", "8K", "--", "--max-model-len=8000"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.err,
              HasSubstr("--max-model-len 8K contradicts --max-model-len '8000' "
                        "(vllm serve, word 1)"));
  // The same in other words is no contradiction.
  EXPECT_EQ(Capacity({"--model", "llama-3.1-8b", "--kv-memory", "8GiB",
                      "--max-model-len", "8K", "--", "--max-model-len=8192"})
                .code,
            kExitOk);
  EXPECT_EQ(Capacity({"--model", "llama-3.1-8b", "--kv-memory", "6GiB", "--",
                      "--kv-cache-memory-bytes", "6442450944"})
                .code,
            kExitOk);
}

TEST(CapacityServe, WrongWordsAreWrongUsage) {
  const Outcome outcome = Capacity({"--model", "llama-3.1-8b", "--kv-memory",
                                    "8GiB", "--", "--max-model-length", "8"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("vllm serve, word 1"),
                                 HasSubstr("the nearest are --max-model-len")));
  EXPECT_EQ(Capacity({"--kv-memory", "8GiB", "--", "--port", "1"}).code,
            kExitWrongUsage);  // no model anywhere
}

TEST(CapacityServe, FlagsThatAreNotModelledAreWarnings) {
  const nlohmann::json json =
      Answer({"--model", "llama-3.1-8b", "--kv-memory", "8GiB", "--",
              "--kv-offloading-size", "10", "--enforce-eager"});
  EXPECT_EQ(json["warnings"][0],
            "not modelled, and could change the cache: --kv-offloading-size "
            "'10'");
}

// 65,536 B a token (TP 2 as above): 1 GiB is 1,024 blocks, 16,384 tokens.
TEST(CapacityServe, AFittedLengthIsLogged) {
  const nlohmann::json json = Answer({"--kv-memory", "1GiB", "--", "vllm",
                                      "serve", "meta-llama/Llama-3.1-8B", "-tp",
                                      "2", "--max-model-len", "auto"});
  EXPECT_EQ(json["max_model_len"], 16384);
  EXPECT_THAT(json["log_lines"],
              Contains("Auto-fit max_model_len: reduced from 131072 to 16384 "
                       "to fit in available GPU memory (1.0 GiB available for "
                       "KV cache)"));
  EXPECT_FALSE(json.contains("refused"));
}

// Versions of late 2025 print a pair of lines for every worker, each by its
// own memory; the engine runs with the least. 131,072 / 2 B a token.
TEST(CapacityServe, RanksWithUnequalMemoryPrintTheirOwnLines) {
  const nlohmann::json json =
      Answer({"--engine-version", "0.11.0", "--kv-memory", "2GiB,1GiB", "--",
              "vllm", "serve", "meta-llama/Llama-3.1-8B", "-tp", "2",
              "--max-model-len", "8192"});
  EXPECT_EQ(json["num_blocks"], 1024);
  EXPECT_THAT(
      json["log_lines"],
      ElementsAre("GPU KV cache size: 32,768 tokens",
                  "Maximum concurrency for 8,192 tokens per request: 4.00x",
                  "GPU KV cache size: 16,384 tokens",
                  "Maximum concurrency for 8,192 tokens per request: 2.00x"));
  EXPECT_THAT(
      Capacity({"--model", "llama-3.1-8b", "--kv-memory", "1GiB,1GiB"}).err,
      HasSubstr("2 sizes for the 1 ranks"));
}

// 65,536 B a token on one of two ranks: 40 GiB are 655,360 tokens, 10,240 pages
// of 64 and the padding's. kvsim's own flags may not say otherwise.
TEST(CapacityServe, SglangsCommandIsReadToo) {
  const std::vector<std::string> arguments = {
      "--engine",     "sglang",
      "--kv-memory",  "40GiB",
      "--",           "python3",
      "-m",           "sglang.launch_server",
      "--model-path", "meta-llama/Llama-3.1-8B",
      "--tp",         "2",
      "--page-size",  "64"};
  const nlohmann::json json = Answer(arguments);
  EXPECT_EQ(json["kv_cache_tokens"], 655360);
  EXPECT_EQ(json["num_blocks"], 10241);
  EXPECT_EQ(json["bytes_per_block"], 65536 * 64);
  std::vector<std::string> contradicted = {"--tensor-parallel-size", "4"};
  contradicted.insert(contradicted.end(), arguments.begin(), arguments.end());
  EXPECT_THAT(Capacity(contradicted).err,
              HasSubstr("--tensor-parallel-size 4 contradicts 2"));
}

// 8,192 cells x 32 layers x 1,024: K in q8_0 272 MiB, V in f16 512 MiB. No
// memory is needed: the flags say it all.
TEST(CapacityServe, LlamaCppsCommandIsReadToo) {
  const nlohmann::json json = Answer(
      {"--engine", "llama.cpp", "--model", "llama-3.1-8b", "--", "llama-server",
       "-m", "/models/mine.gguf", "-c", "8192", "-ctk", "q8_0", "--fit", "on"});
  EXPECT_EQ(json["kv_cache_tokens"], 8192);
  EXPECT_THAT(json["log_lines"],
              Contains("llama_kv_cache: size =  784.00 MiB (  8192 cells,  32 "
                       "layers,  1/1 seqs), K (q8_0):  272.00 MiB, V (f16):  "
                       "512.00 MiB"));
  EXPECT_THAT(json["warnings"][0].get<std::string>(), HasSubstr("--fit 'on'"));
}

// 32 tokens x 65,536 B: 8 GiB are 4,096 blocks.
TEST(CapacityServe, TensorrtLlmsCommandIsReadToo) {
  const nlohmann::json json =
      Answer({"--engine", "tensorrt-llm", "--kv-memory", "8GiB", "--",
              "trtllm-serve", "meta-llama/Llama-3.1-8B", "--tp_size", "2"});
  EXPECT_EQ(json["num_blocks"], 4096);
  EXPECT_EQ(json["num_gpus"], 2);
}

TEST(CapacityServeFiles, AConfigFileStandsForTheCommand) {
  const std::string path = WriteTestFile(
      "serve.yaml", "model: llama-3.1-8b\ntensor-parallel-size: 2\n");
  const nlohmann::json json =
      Answer({"--kv-memory", "8GiB", "--", "vllm", "serve", "--config", path});
  EXPECT_EQ(json["num_blocks"], 8192);
}

// A drafter of one layer like the model's 32: 33 x 4,096 B a token.
TEST(CapacityServeFiles, ADrafterAddsItsOwnLayers) {
  const std::string path = WriteTestFile(
      "draft.json",
      R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 4096,
          "num_attention_heads": 32, "num_key_value_heads": 8,
          "head_dim": 128, "vocab_size": 128256,
          "max_position_embeddings": 2048})");
  const nlohmann::json json = Answer(
      {"--draft-model", path, "--kv-memory", "8GiB", "--", "vllm", "serve",
       "meta-llama/Llama-3.1-8B", "--speculative-config",
       R"({"method": "eagle3", "model": "org/d", "num_speculative_tokens": 3})"});
  EXPECT_EQ(json["bytes_per_block"], 33 * 4096 * 16);
  const Outcome outcome = Capacity(
      {"--kv-memory", "8GiB", "--", "vllm", "serve", "meta-llama/Llama-3.1-8B",
       "--speculative-config", R"({"method": "eagle3"})"});
  EXPECT_THAT(outcome.err, HasSubstr("--draft-model names its config"));
}

}  // namespace
}  // namespace kvsim
