#include "tools/from_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class FromLogTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = testing::TempDir() + "/from_log_test.log";
    std::ofstream(path) << text;
    return path;
  }

  Outcome Run(const std::string& text, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--from-log", Write(text)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Kvsim("capacity", std::move(arguments));
  }

  Json Compare(const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.begin(), "--json");
    const Outcome outcome = Run(text, std::move(more));
    EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
};

std::map<std::string, Json> ByName(const Json& json) {
  std::map<std::string, Json> figures;
  for (const Json& figure : json["figures"]) {
    figures[figure["name"].get<std::string>()] = figure;
  }
  return figures;
}

// Llama-3.1-8B stores 131,072 B a token, 2,097,152 B in a block of 16: 8 GiB
// are 4,096 blocks, 65,536 tokens, 16 requests of 4,096.
std::string VllmLog(const std::string& memory, const std::string& tokens,
                    const std::string& concurrency) {
  return absl::StrCat(
      "INFO [core.py:1] Initializing a V1 LLM engine (v0.19.0) with config: "
      "model='meta-llama/Llama-3.1-8B', dtype=torch.bfloat16, "
      "max_seq_len=4096, tensor_parallel_size=1\n",
      memory.empty()
          ? ""
          : absl::StrCat("INFO Available KV cache memory: ", memory, " GiB\n"),
      "INFO GPU KV cache size: ", tokens,
      " tokens\nINFO Maximum concurrency for 4,096 tokens per request: ",
      concurrency, "x\n");
}

TEST_F(FromLogTest, PrintedFiguresAgree) {
  const Json json = Compare(VllmLog("8.00", "65,536", "16.00"));
  EXPECT_EQ(json["engine"], "vllm");
  EXPECT_EQ(json["model"], "llama-3.1-8b");
  EXPECT_EQ(json["agree"], 2);
  EXPECT_EQ(json["differ"], 0);
  EXPECT_EQ(ByName(json)["kv_tokens"]["verdict"], "agrees");
  EXPECT_EQ(ByName(json)["ranks.0.available_kv_gib"]["verdict"], "input");
}

// 0.005 GiB are 2.56 blocks: 4,098 blocks are allowed, 4,099 are not.
TEST_F(FromLogTest, HalfAPrintedUnitOfMemoryIsAllowed) {
  EXPECT_EQ(Compare(VllmLog("8.00", "65,568", "16.01"))["differ"], 0);
  const Json json = Compare(VllmLog("8.00", "65,584", "16.01"));
  EXPECT_EQ(ByName(json)["kv_tokens"]["verdict"], "differs");
  EXPECT_THAT(ByName(json)["kv_tokens"]["cause"].get<std::string>(),
              HasSubstr("8.00 GiB allows 4,093 to 4,098 blocks"));
}

// One byte an element: twice the tokens.
TEST_F(FromLogTest, ASettingThatTheLogLeavesOutIsNamed) {
  const Json json = Compare(VllmLog("8.00", "131,072", "32.00"));
  EXPECT_THAT(ByName(json)["kv_tokens"]["cause"].get<std::string>(),
              HasSubstr("with --kv-cache-dtype fp8 all figures agree"));
  EXPECT_EQ(Compare(VllmLog("8.00", "131,072", "32.00"),
                    {"--kv-cache-dtype", "fp8"})["differ"],
            0);
}

TEST_F(FromLogTest, WithoutMemoryThePoolIsTakenFromTheTokens) {
  const Json json = Compare(VllmLog("", "65,536", "16.00"));
  EXPECT_EQ(ByName(json)["kv_tokens"]["verdict"], "input");
  EXPECT_EQ(ByName(json)["max_concurrency"]["verdict"], "agrees");
}

TEST_F(FromLogTest, TheCommandAndTheFlagsGoFirst) {
  const Json json =
      Compare(VllmLog("4.00", "65,536", "16.00"),
              {"--", "vllm", "serve", "Llama-3.1-8B", "-tp", "2"});
  EXPECT_EQ(json["differ"], 0);
}

// 4,096 tokens and their page of padding x 2,048 B of K in 32 layers.
TEST_F(FromLogTest, OtherEnginesAreComparedToo) {
  const Json json = Compare(
      "[2026-02-02 10:00:00] KV Cache is allocated. #tokens: 16383, K size: "
      "1.00 GB, V size: 1.00 GB\n",
      {"--model", "llama-3.1-8b"});
  EXPECT_EQ(json["engine"], "sglang");
  EXPECT_EQ(ByName(json)["ranks.0.k_gb"]["verdict"], "agrees");
  // 4,096 cells x 2,048 B x 32 layers = 256 MiB of K.
  const Json llama = Compare(
      "llama_kv_cache: size =  512.00 MiB (  4096 cells,  32 layers,  1/1 "
      "seqs), K (f16):  256.00 MiB, V (f16):  256.00 MiB\n",
      {"--model", "llama-3.1-8b"});
  EXPECT_EQ(llama["differ"], 0);
  EXPECT_EQ(ByName(llama)["caches.0.k_mib"]["verdict"], "agrees");
}

TEST_F(FromLogTest, ErrorsNameWhatIsMissing) {
  EXPECT_THAT(Run("GPU KV cache size: 16 tokens\n", {}).err,
              HasSubstr("names no model: --model"));
  EXPECT_THAT(Run(VllmLog("8.00", "16", "1.00"), {"--kv-memory", "8GiB"}).err,
              HasSubstr("--kv-memory 8GiB: not together with --from-log"));
  EXPECT_EQ(Run("nothing\n", {}).code, kExitBadInput);
  EXPECT_THAT(Run("INFO LLM engine (v0.19.0) with config: model='a', "
                  "tensor_parallel_size=x,\nGPU KV cache size: 16 tokens\n",
                  {})
                  .err,
              HasSubstr("from_log_test.log: "));
}

TEST_F(FromLogTest, BytesThatAreNoTextDoNotMatter) {
  const Json json = Compare(
      "llama_kv_cache: C\x97 KV buffer size =  512.00 MiB\n"
      "llama_kv_cache: size =  512.00 MiB (  4096 cells,  32 layers,  1/1 "
      "seqs), K (f16):  256.00 MiB, V (f16):  256.00 MiB\n",
      {"--model", "llama-3.1-8b"});
  EXPECT_EQ(json["differ"], 0);
}

}  // namespace
}  // namespace kvsim
