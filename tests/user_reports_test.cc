// What people reported about KV memory, asked of the command as they would.
//
// Each test is a kind of question from a public report, with the value that
// turned out right. Where a report is a start-up log, the suite of recorded
// starts holds it instead (startup_case_test).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
using ::testing::Not;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Json Answer(const std::string& command, Words arguments, const Words& serve) {
  arguments.push_back("--json");
  if (!serve.empty()) {
    arguments.push_back("--");
    arguments.insert(arguments.end(), serve.begin(), serve.end());
  }
  const Outcome outcome = Kvsim(command, std::move(arguments));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return Json::parse(outcome.out);
}

Json Capacity(const std::string& model, Words arguments,
              const Words& serve = {}) {
  arguments.insert(arguments.begin(), {"--model", model});
  return Answer("capacity", std::move(arguments), serve);
}

double BytesPerToken(const std::string& model) {
  return Answer("layout", {"--model", model, "--context", "4096"},
                {})["bytes_per_token"];
}

double RankBytesPerToken(const std::string& model, const Words& split) {
  Words arguments = {"--num-gpu-blocks", "1000", "--max-model-len", "4096"};
  arguments.insert(arguments.end(), split.begin(), split.end());
  return Capacity(model, arguments)["rank_bytes_per_token"];
}

// --- the size line is not a capacity ----------------------------------------------

// A report of vLLM 0.17: "159,296 tokens", yet "8.00x at 65,536". One group of
// full attention and three of states: 304 / 4 groups x 2,096 tokens; a request
// takes ceil(65,536 / 2,096) = 32 blocks and two of each state.
TEST(UserReportsTest, TokensOverLengthIsNotTheConcurrencyOfAHybrid) {
  const Json plan = Capacity(
      "qwen3.5-27b", {"--num-gpu-blocks", "304", "--engine-version", "0.17.0"},
      {"vllm", "serve", "m", "--block-size", "2096", "--max-model-len", "65536",
       "--enable-prefix-caching"});
  EXPECT_EQ(plan["kv_cache_tokens"], 159296);
  EXPECT_EQ(plan["blocks_per_request"], 32 + 3 * 2);
  EXPECT_EQ(plan["max_concurrency"], 8.0);
}

// The same pool under two maximum lengths: the newer line is concurrency times
// length, so it grows although no byte was added.
TEST(UserReportsTest, TokenLinesOfTwoLengthsAreNotComparable) {
  const auto tokens = [](const std::string& length) {
    return Capacity("qwen3.5-27b", {"--num-gpu-blocks", "304"},
                    {"vllm", "serve", "m", "--max-model-len", length,
                     "--enable-prefix-caching"});
  };
  const Json small = tokens("8192");
  const Json large = tokens("262144");
  EXPECT_EQ(small["num_blocks"], large["num_blocks"]);
  EXPECT_EQ(small["bytes_per_block"], large["bytes_per_block"]);
  EXPECT_GT(large["kv_cache_tokens"].get<int64_t>(),
            small["kv_cache_tokens"].get<int64_t>());
  for (const Json& plan : {small, large}) {
    const double ratio = plan["kv_cache_tokens"].get<double>() /
                         plan["max_model_len"].get<double>();
    EXPECT_NEAR(ratio, plan["max_concurrency"].get<double>(), 1e-3);
  }
}

// --- what a request costs whatever its length ---------------------------------------

// A 12-token prompt took a third of a pool: it pins a page of every group.
TEST(UserReportsTest, AShortPromptPinsABlockOfEveryGroup) {
  const Json plan = Capacity(
      "qwen3.5-27b", {"--kv-memory", "8.82GiB", "--max-model-len", "65536"});
  EXPECT_EQ(plan["groups"].size(), 4u);
  EXPECT_EQ(plan["blocks_of_one_token_request"], 4);
}

// 8.82 GiB / (16 layers x 784 tokens x 4,096 B) = 184 blocks: 256 sequences are
// refused, 16 are not.
TEST(UserReportsTest, SequencesBeyondTheStateBlocksAreRefused) {
  const auto with = [](const std::string& sequences) {
    return Capacity("qwen3.5-27b", {"--kv-memory", "8.82GiB"},
                    {"vllm", "serve", "m", "--max-num-seqs", sequences,
                     "--max-model-len", "65536"});
  };
  EXPECT_EQ(with("256")["num_blocks"], 184);
  EXPECT_THAT(with("256")["warnings"].dump(),
              HasSubstr("max_num_seqs (256) exceeds available Mamba cache "
                        "blocks (184)"));
  EXPECT_THAT(with("16")["warnings"].dump(), Not(HasSubstr("max_num_seqs")));
}

// blocks / (attention groups x ceil(length / block) + state groups x k), with k
// = 1 (none), 2 (align), ceil(length / block) (all): 4 attention and 27 Mamba
// layers make one group and seven.
TEST(UserReportsTest, StatesAreChargedByTheirMode) {
  const auto plan = [](const std::string& mode, const std::string& caching) {
    return Capacity("nemotron-nano-9b-v2", {"--kv-memory", "20GiB"},
                    {"vllm", "serve", "m", "--mamba-cache-mode", mode, caching,
                     "--max-model-len", "131072"});
  };
  const auto history = [](const Json& p) {
    const int64_t block = p["block_tokens"];
    return (131072 + block - 1) / block;
  };
  const Json none = plan("none", "--no-enable-prefix-caching");
  EXPECT_EQ(none["blocks_per_request"], history(none) + 7);
  const Json align = plan("align", "--enable-prefix-caching");
  EXPECT_EQ(align["blocks_per_request"], history(align) + 7 * 2);
  const Json all = plan("all", "--enable-prefix-caching");
  EXPECT_EQ(all["blocks_per_request"], 8 * history(all));
}

// Planners that count all 56 layers as attention are 8 to 10 times too high:
// 4 layers x 2 x 8 heads x 128 x 2 B per token; the states of 27 Mamba layers,
// 128 x 80 x 128 in fp32 and convolutions of 12,288 x 3 in 2 bytes, are 136.9
// MiB per sequence.
TEST(UserReportsTest, MambaLayersCostAStateAndNoTokens) {
  const Json layout = Answer("layout",
                             {"--model", "nemotron-nano-9b-v2", "--context",
                              "131072", "--mamba-ssm-cache-dtype", "float32"},
                             {});
  EXPECT_EQ(layout["bytes_per_token"], 16384);
  EXPECT_EQ(layout["fixed_bytes"], 27 * (128 * 80 * 128 * 4 + 12288 * 3 * 2));
}

// --- prefix hits ---------------------------------------------------------------------

// Blocks that no request fills cannot hit: 0 of 10,608 tokens did.
TEST(UserReportsTest, APlanWarnsOfBlocksThatNoRequestFills) {
  const auto warnings = [](const std::string& length) {
    return Capacity("qwen3.5-27b", {"--num-gpu-blocks", "304"},
                    {"vllm", "serve", "m", "--enable-prefix-caching",
                     "--max-model-len", length})["warnings"]
        .dump();
  };
  EXPECT_THAT(warnings("784"), HasSubstr("prefix caching cannot hit"));
  EXPECT_THAT(warnings("785"), Not(HasSubstr("prefix caching cannot hit")));
}

std::string Row(int64_t arrival_ms, int64_t input, int64_t output,
                int64_t first_id) {
  std::string ids;
  for (int64_t i = 0; i * 512 < input; ++i) {
    absl::StrAppend(&ids, i > 0 ? ", " : "", first_id + i);
  }
  return absl::StrCat(
      "{\"timestamp\": ", arrival_ms, ", \"input_length\": ", input,
      ", \"output_length\": ", output, ", \"hash_ids\": [", ids, "]}\n");
}

int64_t Figure(const Json& report, const std::string& name) {
  return std::stoll(report[name].get<std::string>());
}

// With speculation the last full block is dropped: max(0, floor(n / B) - 1) x B
// of a repeated prompt of n tokens, B = 448 and 832.
TEST(UserReportsTest, SpeculationDropsTheLastBlockOfAHit) {
  const std::vector<int64_t> lengths = {512,  1024,  2048, 4096,
                                        8192, 16384, 32768};
  const std::pair<int64_t, std::vector<int64_t>> expected[] = {
      {448, {0, 448, 1344, 3584, 7616, 15680, 32256}},
      {832, {0, 0, 832, 2496, 6656, 14976, 31616}}};
  for (const auto& [block, hits] : expected) {
    for (size_t i = 0; i < lengths.size(); ++i) {
      const std::string trace =
          WriteTestFile("twice.jsonl", Row(0, lengths[i], 2, 1) +
                                           Row(60000, lengths[i], 2, 1));
      const Json report =
          Answer("replay",
                 {"--trace", trace, "--num-gpu-blocks", "400", "--block-size",
                  absl::StrCat(block), "--num-speculative-tokens", "1",
                  "--partial-tail", "shared"},
                 {});
      EXPECT_EQ(Figure(report, "hit_tokens"), hits[i])
          << block << " " << lengths[i];
    }
  }
}

// --- wrong calculators ------------------------------------------------------------------

// Head width times KV heads, not hidden width: 36 x 2 x 8 x 128 x 2 B and
// 28 x 2 x 4 x 128 x 2 B; 3,072 tokens of the latter are 0.164 GiB, not 4.59.
TEST(UserReportsTest, GroupedHeadsCountOnce) {
  EXPECT_EQ(BytesPerToken("qwen3-4b"), 147456);
  EXPECT_EQ(BytesPerToken("qwen2.5-7b"), 57344);
  EXPECT_NEAR(57344.0 * 3072 / (1 << 30), 0.164, 5e-4);
}

// Heads are shared out while there are any, latents never are.
TEST(UserReportsTest, TensorRanksSplitHeadsButNotLatents) {
  const double alone = RankBytesPerToken("qwen3-32b", {"--tp", "1"});
  EXPECT_EQ(RankBytesPerToken("qwen3-32b", {"--tp", "4"}) * 4, alone);
  EXPECT_EQ(RankBytesPerToken("qwen3-32b", {"--tp", "8"}) * 8, alone);
  EXPECT_EQ(RankBytesPerToken("qwen3-32b", {"--tp", "32"}) * 8, alone);
  const double latent = RankBytesPerToken("deepseek-v3", {"--tp", "1"});
  EXPECT_EQ(RankBytesPerToken("deepseek-v3", {"--tp", "8"}), latent);
  EXPECT_EQ(RankBytesPerToken("deepseek-v3", {"--tp", "8", "--dcp", "8"}) * 8,
            latent);
}

// --- memory ------------------------------------------------------------------------------

// Two engines differed by what profiling left, not by a token's bytes: 94 layers
// x 2 x 1 head x 128 x 2 B on each of four ranks.
TEST(UserReportsTest, ATokenCostsTheSameOnBothEngines) {
  EXPECT_EQ(RankBytesPerToken("qwen3-235b-a22b", {"--tp", "4"}), 48128);
  EXPECT_EQ(
      RankBytesPerToken("qwen3-235b-a22b", {"--tp", "4", "--engine", "sglang"}),
      48128);
}

// "The KV cache is 8.69 GiB, it should be 31.8": the line is one rank's. 81,536
// tokens of 98,304 B are 7.46 GiB on the smaller of two ranks.
TEST(UserReportsTest, TheMemoryLineIsOneRanks) {
  const Json plan = Capacity(
      "qwen2.5-14b",
      {"--tp", "2", "--kv-memory", "7.465GiB", "--max-model-len", "65536"});
  EXPECT_EQ(plan["rank_bytes_per_token"], 98304);
  EXPECT_EQ(plan["kv_cache_tokens"], 81536);
}

// 3.81 GiB of V0's pool are 1,952 blocks of 2 MiB.
TEST(UserReportsTest, ThePreviousEngineCountsWholeBlocks) {
  const Json plan =
      Capacity("llama-3.1-8b", {"--kv-memory", "3.8125GiB", "--max-model-len",
                                "20000", "--engine-version", "0.6.6"});
  EXPECT_EQ(plan["num_blocks"], 1952);
}

// --- requests that do not fit, and pools that are too small ---------------------------

// 100,000 tokens in a pool of 60,000: it can never run, and nobody waits for it.
TEST(UserReportsTest, ARequestLargerThanThePoolIsReportedAndPassed) {
  const std::string trace = WriteTestFile(
      "large.jsonl", Row(0, 100000, 2, 1) + Row(1, 1000, 2, 5000));
  const Json report = Answer("replay",
                             {"--trace", trace, "--num-gpu-blocks", "3750",
                              "--max-model-len", "131072"},
                             {});
  EXPECT_EQ(Figure(report, "never_fit"), 1);
  EXPECT_EQ(Figure(report, "larger_than_pool"), 1);
  EXPECT_EQ(Figure(report, "finished"), 1);
}

// 200 requests at 2,000 a second into 1,000 blocks of 16: it ends, and every
// preempted prompt is computed again and paid for.
TEST(UserReportsTest, DemandBeyondThePoolEndsAndCostsTime) {
  std::string rows;
  for (int64_t i = 0; i < 200; ++i) rows += Row(i / 2, 512, 256, 1 + i);
  const std::string trace = WriteTestFile("pressure.jsonl", rows);
  const auto run = [&](const std::string& blocks) {
    return Answer("replay",
                  {"--trace", trace, "--num-gpu-blocks", blocks, "--timing",
                   "linear", "--linear-us", "base=5000,prefill=20,decode=50"},
                  {});
  };
  const Json tight = run("1001");
  EXPECT_EQ(Figure(tight, "finished"), 200);
  EXPECT_GT(Figure(tight, "preemptions"), 0);
  EXPECT_GT(Figure(tight, "recomputed_tokens"), 0);
  const Json roomy = run("20001");
  EXPECT_EQ(Figure(roomy, "preemptions"), 0);
  EXPECT_GT(Figure(tight, "end_ns"), Figure(roomy, "end_ns"));
}

}  // namespace
}  // namespace kvsim
