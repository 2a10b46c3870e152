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

// vllm-project/vllm#54458: one box prints 260,006 tokens (31.74x) at 8,192 and
// 1,077,542 (4.11x) at 262,144, 1,853,358 (7.07x) with fp8 rows: the boots had
// 730, 744 and 707 blocks, 2 % apart. The fourfold is the constant of a request,
// 3 groups of states and one of preceding tokens, 2 + 2 drafts each, and a tail.
TEST(UserReportsTest, TheTokenLineQuadruplesWithTheLengthAlone) {
  const auto plan = [](const std::string& blocks, const std::string& length,
                       const std::string& dtype) {
    return Capacity(
        "qwen3.8-flash-next", {"--num-gpu-blocks", blocks},
        {"vllm", "serve", "m", "--max-model-len", length, "--kv-cache-dtype",
         dtype, "--enable-prefix-caching", "--speculative-config",
         R"({"method": "mtp", "num_speculative_tokens": 2})"});
  };
  const Json small = plan("730", "8192", "auto");
  EXPECT_EQ(small["block_tokens"], 1600);
  EXPECT_EQ(small["kv_cache_tokens"], 260006);
  EXPECT_NEAR(small["max_concurrency"], 31.74, 0.005);
  const Json large = plan("744", "262144", "auto");
  EXPECT_EQ(large["kv_cache_tokens"], 1077542);
  EXPECT_NEAR(large["max_concurrency"], 4.11, 0.005);
  EXPECT_EQ(small["fixed_blocks_per_request"],
            large["fixed_blocks_per_request"]);
  const Json narrow = plan("707", "262144", "fp8");
  EXPECT_EQ(narrow["kv_cache_tokens"], 1853358);
  EXPECT_NEAR(narrow["max_concurrency"], 7.07, 0.005);
}

// A maximum length of 65,536 printed 505,563 tokens, 131,072 printed 369,384.
// 3.86x was expected of the first, 2.82x came: 505,563 is 7.714 x 65,536 and
// 369,384 is 2.818 x 131,072, requests of 8 + 3 x 2 and 16 + 3 x 2 blocks of
// 8,192 tokens in pools of 108 and 62 (both derived: the only such numbers below
// 20 blocks a request).
TEST(UserReportsTest, TokensOfOneBootSayNothingOfTheNext) {
  const auto plan = [](const std::string& blocks, const std::string& length) {
    return Capacity("qwen3.5-27b", {"--num-gpu-blocks", blocks},
                    {"vllm", "serve", "m", "--block-size", "8192",
                     "--max-model-len", length, "--enable-prefix-caching"});
  };
  const Json before = plan("108", "65536");
  EXPECT_EQ(before["kv_cache_tokens"], 505563);
  EXPECT_NEAR(505563.0 / 131072, 3.86, 0.005);
  const Json after = plan("62", "131072");
  EXPECT_EQ(after["kv_cache_tokens"], 369384);
  EXPECT_NEAR(after["max_concurrency"], 2.82, 0.005);
  // The same pool at the longer length: most of the drop was the pool's.
  EXPECT_NEAR(plan("108", "131072")["max_concurrency"], 4.91, 0.005);
}

// Kimi-K3 on 16 ranks prints 30,062 tokens at 29,696: 82 blocks of 81, three
// groups of states and not one. 8 ranks by 3 stages hold blocks of 768 tokens,
// not of 384.
TEST(UserReportsTest, StatesMakeThreeGroupsNotOne) {
  const Words off = {"vllm", "serve", "m", "--no-enable-prefix-caching"};
  const Json plan = Capacity(
      "kimi-k3",
      {"--num-gpu-blocks", "82", "--tp", "16", "--max-model-len", "29696"},
      off);
  EXPECT_EQ(plan["kv_cache_tokens"], 30062);
  EXPECT_EQ(plan["blocks_per_request"], 78 + 3);
  EXPECT_EQ(plan["block_tokens"], 384);
  const Json staged = Capacity("kimi-k3",
                               {"--num-gpu-blocks", "8305", "--tp", "8", "-pp",
                                "3", "--max-model-len", "1048576"},
                               off);
  EXPECT_EQ(staged["block_tokens"], 768);
  EXPECT_EQ(staged["num_blocks"], 8305);
}

// --- what a request costs whatever its length ---------------------------------------

// A 12-token prompt took a third of a pool: it pins a page of every group.
TEST(UserReportsTest, AShortPromptPinsABlockOfEveryGroup) {
  const Json plan = Capacity(
      "qwen3.5-27b", {"--kv-memory", "8.82GiB", "--max-model-len", "65536"});
  EXPECT_EQ(plan["groups"].size(), 4u);
  EXPECT_EQ(plan["blocks_of_one_token_request"], 4);
}

// vllm-project/vllm#54458: GLM-5.3-Flash on two ranks that share a sequence,
// blocks of 7,808 tokens: some 23 pages are pinned, and a prompt of 12 tokens
// fills 32.9 % of the pool: 23 of 70 blocks. Three groups of states at 1 + 6
// drafts, the latents and the tail of index keys; 6 drafts and 70 blocks follow
// from the two figures, the report prints neither.
TEST(UserReportsTest, TwelveTokensFillAThirdOfThePool) {
  const Words arguments = {"--num-gpu-blocks",
                           "71",
                           "--tp",
                           "2",
                           "--dcp",
                           "2",
                           "--block-size",
                           "7808",
                           "--max-model-len",
                           "262144",
                           "--context",
                           "12",
                           "--num-speculative-tokens",
                           "6"};
  const Json plan = Capacity("glm-5.3-flash", arguments);
  EXPECT_EQ(plan["block_tokens"], 7808);
  EXPECT_EQ(plan["blocks_of_one_token_request"], 3 * (1 + 6) + 1 + 1);
  EXPECT_NEAR(23.0 / 70, 0.329, 5e-4);
  EXPECT_EQ(plan["contexts"][0]["resident"], 3);
  Words text = arguments;
  text.insert(text.begin(), {"--model", "glm-5.3-flash"});
  EXPECT_THAT(Kvsim("capacity", text).out, HasSubstr("32.86 % of the pool"));
}

// vllm-project/vllm#28228: "is 2.30 GiB per card?" Seven layers of latents grow,
// 1,152 B each, whole on both ranks; a larger batch shrinks the pool.
TEST(UserReportsTest, LatentsGrowAndBatchesShrinkThePool) {
  EXPECT_EQ(RankBytesPerToken("kimi-linear-48b", {"--tp", "2"}), 7 * 1152);
  const auto memory = [](const std::string& batch) -> int64_t {
    return Capacity("kimi-linear-48b",
                    {"--gpu", "RTX 3090", "--tp", "2", "--weight-bytes", "28GB",
                     "--max-num-batched-tokens", batch, "--max-model-len",
                     "74000"})["kv_memory_bytes"];
  };
  EXPECT_LT(memory("64000"), memory("2048"));
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

// vllm-project/vllm#48402: blocks of 8,320 tokens never fill at 4,096.
TEST(UserReportsTest, ALargeBlockIsWarnedOfAtPlanningTime) {
  const auto warnings = [](const std::string& length) {
    return Capacity(
               "nemotron-h-56b", {"--num-gpu-blocks", "304"},
               {"vllm", "serve", "m", "--enable-prefix-caching", "--block-size",
                "8320", "--max-model-len", length})["warnings"]
        .dump();
  };
  EXPECT_THAT(warnings("4096"), HasSubstr("whole blocks of 8,320 tokens"));
  EXPECT_THAT(warnings("16384"), Not(HasSubstr("prefix caching cannot hit")));
}

// vllm-project/vllm#40696: blocks of 528 tokens are the engine's own choice for
// these states, and the report says what repeats in vain.
TEST(UserReportsTest, TheAnswerSaysWhatIsTooShortToHit) {
  EXPECT_EQ(Capacity("qwen3.5-9b", {"--num-gpu-blocks", "304"},
                     {"vllm", "serve", "m",
                      "--enable-prefix-caching"})["block_tokens"],
            528);
  EXPECT_THAT(Kvsim("capacity", {"--model", "qwen3.5-9b", "--num-gpu-blocks",
                                 "304", "--max-model-len", "32768"})
                  .out,
              HasSubstr("a prompt that repeats 528 tokens or fewer hits "
                        "nothing"));
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

int64_t HitTokens(const std::string& rows, int64_t block) {
  return Figure(Answer("replay",
                       {"--trace", WriteTestFile("hits.jsonl", rows),
                        "--num-gpu-blocks", "400", "--block-size",
                        absl::StrCat(block), "--partial-tail", "shared"},
                       {}),
                "hit_tokens");
}

// floor((L - 1) / 528) x 528 of a prompt that comes twice: of 500, 552 and 979
// tokens nothing, 95 % and 54 % hit.
TEST(UserReportsTest, HitsAreWholeBlocksOfTheRepeatedPrompt) {
  for (const auto& [length, hits] : {std::pair<int64_t, int64_t>{500, 0},
                                     {528, 0},
                                     {552, 528},
                                     {979, 528}}) {
    EXPECT_EQ(HitTokens(Row(0, length, 2, 1) + Row(60000, length, 2, 1), 528),
              hits)
        << length;
  }
  EXPECT_NEAR(528.0 / 552, 0.95, 0.01);
  EXPECT_NEAR(528.0 / 979, 0.54, 0.01);
}

// vllm-project/vllm#48402: 0 of 10,608 tokens and 16,640 of 38,448 hit, as three
// prompts alike of 3,536 and of 12,816 would: two blocks of 8,320.
TEST(UserReportsTest, APromptShorterThanABlockNeverHits) {
  const auto thrice = [](int64_t length) {
    return Row(0, length, 2, 1) + Row(60000, length, 2, 1) +
           Row(120000, length, 2, 1);
  };
  EXPECT_EQ(3 * 3536, 10608);
  EXPECT_EQ(HitTokens(thrice(3536), 8320), 0);
  EXPECT_EQ(3 * 12816, 38448);
  EXPECT_EQ(HitTokens(thrice(12816), 8320), 16640);
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

// DeepSeek V4 is no dense model: not 2 x 512 x 2 = 2,048 B a layer, and not
// divided by ranks. A report measured 324 B a layer and token in a fork whose
// rules are not public; history alone is 91 here, and a sequence's fixed part
// makes it 324 on average at some 1,540 tokens.
TEST(UserReportsTest, CompressedRowsAreNeitherDenseNorDivided) {
  const double alone = RankBytesPerToken("deepseek-v4-flash", {"--tp", "1"});
  EXPECT_EQ(RankBytesPerToken("deepseek-v4-flash", {"--tp", "8"}), alone);
  EXPECT_LT(alone / 43, 324);
  const Json layout = Answer(
      "layout", {"--model", "deepseek-v4-flash", "--context", "1544"}, {});
  EXPECT_NEAR(layout["bytes_per_token"].get<double>() / 43, 91.05, 0.01);
  EXPECT_NEAR(layout["contexts"][0]["bytes"].get<double>() / 43 / 1544, 324, 3);
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

// vllm-project/vllm#10517, a 3090 under V0: 20,000 tokens start, 29,000 are
// refused with 23,648 possible, 35,000 start. A whole prompt is profiled until
// chunks begin above 32K, so the pool shrinks as the length grows: 3.81 GiB,
// then 2.89.
TEST(UserReportsTest, TheProfiledPromptShrinksThePool) {
  const auto plan = [](const std::string& length) {
    return Capacity("llama-3.1-8b",
                    {"--gpu", "RTX 3090", "--gpu-memory-utilization", "0.9",
                     "--engine-version", "0.6.4", "--max-model-len", length});
  };
  const auto gib = [](const Json& p) {
    return p["kv_memory_bytes"].get<double>() / 0x1p30;
  };
  const Json small = plan("20000");
  EXPECT_FALSE(small.contains("refused"));
  EXPECT_NEAR(gib(small), 3.81, 0.2);
  const Json middle = plan("29000");
  ASSERT_TRUE(middle.contains("refused"));
  EXPECT_NEAR(gib(middle), 2.89, 0.2);
  EXPECT_NEAR(middle["refused"]["max_len_that_fits"].get<double>(), 23648, 700);
  EXPECT_FALSE(plan("35000").contains("refused"));
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

// The same before any traffic: where the start's check looks at the memory and
// not at the overridden blocks, the plan says that the request never runs.
TEST(UserReportsTest, APlanSaysWhichRequestNeverRuns) {
  const Json plan =
      Capacity("llama-3.1-8b",
               {"--num-gpu-blocks", "3750", "--gpu", "H200", "--engine-version",
                "0.19.0", "--max-model-len", "131072", "--context", "100000"});
  EXPECT_FALSE(plan.contains("refused"));
  EXPECT_EQ(plan["contexts"][0]["resident"], 0);
  EXPECT_THAT(plan["warnings"].dump(),
              HasSubstr("a request of 100,000 tokens never runs: it takes "
                        "6,250 blocks of the 3,749"));
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
