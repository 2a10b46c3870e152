#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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
using ::testing::Not;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Outcome Tune(Words more) {
  more.insert(more.begin(), "block-size");
  return Kvsim("tune", std::move(more));
}

Json TuneJson(Words more) {
  more.push_back("--json");
  const Outcome outcome = Tune(std::move(more));
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return Json::parse(outcome.out);
}

// Llama-3.1-8B keeps 131,072 B a token: 40 GiB are 327,680 tokens.
Words Llama(Words more) {
  more.insert(more.begin(), {"--model", "llama-3.1-8b", "--kv-memory", "40GiB",
                             "--max-num-seqs", "256"});
  return more;
}

const Json& Size(const Json& json, int64_t asked) {
  for (const Json& size : json["sizes"]) {
    if (size["asked_tokens"] == asked) return size;
  }
  ADD_FAILURE() << asked << " is not among the sizes";
  return json["sizes"][0];
}

const Json& Best(const Json& json, const std::string& view) {
  for (const Json& best : json["best"]) {
    if (best["view"] == view) return best;
  }
  ADD_FAILURE() << view << " is not among the views";
  return json["best"][0];
}

// Three prompts of four ids of 512 tokens, with outputs of 1, 100 and 400.
std::string TracePath() {
  return WriteTestFile(
      "tune.jsonl",
      R"({"timestamp": 0, "input_length": 2048, "output_length": 1, "hash_ids": [1, 2, 3, 4]}
{"timestamp": 1, "input_length": 2048, "output_length": 100, "hash_ids": [1, 2, 5, 6]}
{"timestamp": 2, "input_length": 2048, "output_length": 400, "hash_ids": [1, 2, 3, 4]}
)");
}

// Lengths of 2,049, 2,148 and 2,448 tokens leave empty
//   of blocks of 16   15 + 12 + 0    = 27
//   of blocks of 256  255 + 156 + 112 = 523  (9, 9 and 10 blocks)
// at 131,072 B a token. Their mean is 2,215: 139 blocks of 16, 9 of 256.
TEST(TuneBlockSizeCommandTest, TailSlackOfATinyTraceByHand) {
  const Json json = TuneJson(Llama({"--trace", TracePath()}));
  EXPECT_EQ(json["lengths"], 3);
  EXPECT_EQ(json["length_tokens"], 2215);
  EXPECT_EQ(Size(json, 16)["tail_slack_tokens"], 27);
  EXPECT_EQ(Size(json, 16)["tail_slack_bytes"], 27 * 131072);
  EXPECT_EQ(Size(json, 256)["tail_slack_tokens"], 523);
  EXPECT_EQ(Size(json, 256)["tail_slack_bytes"], 523 * 131072);
  EXPECT_EQ(Size(json, 16)["resident"], 20479 / 139);
  EXPECT_EQ(Size(json, 256)["resident"], 1279 / 9);
  EXPECT_EQ(Best(json, "least tail slack")["sizes"], Json({16}));
}

// The pool holds the whole trace. The second prompt hits the two ids it shares,
// 1,024 tokens; the third repeats the first and computes at least one token: of
// blocks of 16 it hits 2,032, of 512 it hits 1,536, of 1,024 one block.
TEST(TuneBlockSizeCommandTest, HitLossOfATinyTraceByHand) {
  const Json json = TuneJson(Llama({"--trace", TracePath()}));
  const std::pair<int64_t, int64_t> kHits[] = {
      {16, 1024 + 2032},
      {64, 1024 + 1984},
      {512, 1024 + 1536},
      {1024, 1024 + 1024},
  };
  for (const auto& [asked, hits] : kHits) {
    EXPECT_EQ(Size(json, asked)["hit_tokens"], hits) << asked;
    EXPECT_EQ(Size(json, asked)["lost_hit_tokens"], kHits[0].second - hits);
    EXPECT_EQ(Size(json, asked)["measured_tokens"], 3 * 2048);
  }
  EXPECT_FALSE(json["hits_are_upper_bound"]);
  EXPECT_EQ(Best(json, "most hits")["sizes"], Json({16}));
}

// Pools, tables and refusals as in engines/block_size_survey_test.cc.
TEST(TuneBlockSizeCommandTest, EverySizeOfADenseModel) {
  const Json json =
      TuneJson(Llama({"--input-length", "900", "--output-length", "100"}));
  EXPECT_EQ(json["sizes"].size(), 9u);
  EXPECT_FALSE(Size(json, 1)["accepted"]);
  EXPECT_FALSE(Size(json, 8)["accepted"]);
  EXPECT_FALSE(Size(json, 8).contains("num_blocks"));
  const Json& fine = Size(json, 16);
  EXPECT_TRUE(fine["default"]);
  EXPECT_EQ(fine["num_blocks"], 20480);
  EXPECT_EQ(fine["bytes_per_block"], 2097152);
  EXPECT_EQ(fine["kv_cache_tokens"], 327680);
  EXPECT_EQ(fine["max_concurrency"], 2.5);
  EXPECT_EQ(fine["resident"], 325);
  EXPECT_EQ(fine["padding_bytes"], 0);
  EXPECT_EQ(fine["tail_slack_tokens"], 8);
  EXPECT_EQ(fine["block_table_bytes"], 8 << 20);
  EXPECT_EQ(Size(json, 256)["resident"], 319);
  EXPECT_TRUE(fine["hit_tokens"].is_null());
  EXPECT_TRUE(fine["mamba_block_tokens"].is_null());
  EXPECT_EQ(Best(json, "most tokens")["sizes"].size(), 7u);
  EXPECT_EQ(Best(json, "most requests")["sizes"], Json({16}));
  EXPECT_EQ(Best(json, "smallest table")["sizes"], Json({1024}));
  // Without a trace hits are not known, so nothing is recommended.
  EXPECT_TRUE(json["recommendation"]["block_size"].is_null());
  EXPECT_THAT(json["recommendation"]["text"], HasSubstr("--trace"));
}

TEST(TuneBlockSizeCommandTest, RecommendsWhatNothingBeats) {
  // Blocks of 16 hold the most requests and hit the most.
  const Json clear = TuneJson(Llama({"--trace", TracePath()}));
  EXPECT_EQ(clear["recommendation"]["block_size"], 16);
  EXPECT_THAT(clear["recommendation"]["text"], HasSubstr("unasked"));
  // Without caching only requests count: of 512 tokens 639 fit in blocks of 16
  // (20,479 / 32), 32 (10,239 / 16), 64, 128, 256 and 512 (639 / 1).
  const Json alike =
      TuneJson(Llama({"--no-enable-prefix-caching", "--context", "512"}));
  EXPECT_EQ(Best(alike, "most requests")["sizes"],
            Json({16, 32, 64, 128, 256, 512}));
  EXPECT_EQ(alike["recommendation"]["block_size"], 16);
}

// At 2,208 tokens, 138 blocks of 16 without rest, 148 fit; of blocks of 48 it
// takes 46 of 6,825 (40 GiB / 6 MiB = 6,826): 148 too. 80 divides nothing: 28 of
// 4,095: 146.
TEST(TuneBlockSizeCommandTest, SizesAreThoseAskedAndTheEnginesChoice) {
  const Json json =
      TuneJson(Llama({"--block-sizes", "48,80", "--input-length", "2208"}));
  EXPECT_EQ(json["sizes"].size(), 3u);
  EXPECT_EQ(Size(json, 16)["resident"], 148);
  EXPECT_EQ(Size(json, 48)["resident"], 148);
  EXPECT_EQ(Size(json, 80)["resident"], 146);
}

// 768 tokens are 48 blocks of 16 or 3 of 256. 290 MiB are 145 and 9 blocks, of
// which one each is the null block: 144 hold 3 requests, 8 hold 2.
TEST(TuneBlockSizeCommandTest, TheNullBlockOfACoarseSizeCostsARequest) {
  const std::string path = WriteTestFile(
      "short.jsonl",
      R"({"timestamp": 0, "input_length": 640, "output_length": 128, "hash_ids": [1, 2]}
{"timestamp": 1, "input_length": 640, "output_length": 128, "hash_ids": [1, 2]}
)");
  const Json json = TuneJson({"--model", "llama-3.1-8b", "--kv-memory",
                              "290MiB", "--max-model-len", "768", "--trace",
                              path, "--block-sizes", "16,256"});
  EXPECT_EQ(Size(json, 16)["resident"], 3);
  EXPECT_EQ(Size(json, 256)["resident"], 2);
  EXPECT_EQ(json["recommendation"]["block_size"], 16);
}

// Section 7 of the engines' facts: 544 tokens, 3,212 blocks, 1,725,423 tokens.
TEST(TuneBlockSizeCommandTest, HybridsListStatesAndMatchUnits) {
  const Words arguments = {"--model", "qwen3-next-80b", "--kv-memory",
                           "40GiB",   "--trace",        TracePath()};
  const Json json = TuneJson(arguments);
  EXPECT_EQ(json["state_mode"], "align");
  EXPECT_TRUE(json["hits_are_upper_bound"]);
  const Json& chosen = Size(json, 16);
  EXPECT_EQ(chosen["block_tokens"], 544);
  EXPECT_EQ(chosen["mamba_block_tokens"], 544);
  EXPECT_EQ(chosen["hit_unit_tokens"], 544);
  EXPECT_EQ(chosen["num_blocks"], 3212);
  EXPECT_EQ(chosen["kv_cache_tokens"], 1725423);
  EXPECT_EQ(chosen["hit_blocks"], 3211);
  EXPECT_THAT(chosen["note"], HasSubstr("becomes 544"));
  // The second prompt hits 1,024 / 544 = 1 block, the third 2,047 / 544 = 3.
  EXPECT_EQ(chosen["hit_tokens"], 4 * 544);
  // One group keeps rows: 4 x 544 = 2,176 hold 2,049 and 2,148; 5 hold 2,448.
  EXPECT_EQ(chosen["tail_slack_tokens"], 127 + 28 + 272);

  const Outcome text = Tune(arguments);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("--mamba-cache-mode align"),
                    HasSubstr("match unit"), HasSubstr("An upper bound")));
}

// Bamba's states can be kept for every block: blocks are multiples of the lcm
// of --mamba-block-size and what is asked.
TEST(TuneBlockSizeCommandTest, MambaBlockSizeOfModeAll) {
  const Json json =
      TuneJson({"--model", "bamba-9b-v2", "--kv-memory", "40GiB",
                "--mamba-cache-mode", "all", "--mamba-block-size", "1000"});
  EXPECT_EQ(json["state_mode"], "all");
  for (const Json& size : json["sizes"]) {
    if (!size["accepted"]) continue;
    EXPECT_EQ(size["block_tokens"].get<int64_t>() % 1000, 0);
    EXPECT_EQ(size["mamba_block_tokens"], size["block_tokens"]);
  }
}

TEST(TuneBlockSizeCommandTest, TakesAServeCommand) {
  const Outcome outcome = Tune({"--kv-memory", "40GiB", "--", "vllm", "serve",
                                "llama-3.1-8b", "--block-size", "64"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("given"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Prompt tokens served")));
}

// 131,072 tokens of Llama are 16 GiB: no size starts on 8.
TEST(TuneBlockSizeCommandTest, NoSizeStarts) {
  const Words arguments = {"--model", "llama-3.1-8b", "--kv-memory", "8GiB"};
  const Json json = TuneJson(arguments);
  EXPECT_TRUE(json["best"].empty());
  EXPECT_TRUE(json["recommendation"]["block_size"].is_null());
  EXPECT_THAT(Tune(arguments).out, HasSubstr("does not start"));
}

struct BadInput {
  Words arguments;
  int code;
  const char* message;
};

TEST(TuneBlockSizeCommandTest, ErrorsNameFlagAndValue) {
  const BadInput kBad[] = {
      {Llama({"--block-sizes", "16,x"}), kExitBadInput, "--block-sizes 'x'"},
      {Llama({"--block-sizes", ""}), kExitBadInput, "--block-sizes"},
      {Llama({"--block-sizes", "0"}), kExitBadInput, "--block-sizes 0"},
      {Llama({"--block-sizes", "2097152"}), kExitBadInput, "2097152"},
      {Llama({"--input-length", "0"}), kExitBadInput, "--input-length '0'"},
      {Llama({"--input-length", "1", "--output-length", "-1"}), kExitBadInput,
       "--output-length '-1'"},
      {Llama({"--output-length", "5"}), kExitWrongUsage, "--input-length"},
      {Llama({"--input-length", "5", "--trace", TracePath()}), kExitWrongUsage,
       "--trace and --input-length"},
      {Llama({"--input-length", "5", "--context", "7"}), kExitWrongUsage,
       "--context and --input-length"},
      {Llama({"--context", "1K,2K"}), kExitWrongUsage, "--context '1K,2K'"},
      {Llama({"--limit", "5"}), kExitWrongUsage, "--limit needs --trace"},
      {Llama({"--trace", TracePath(), "--measure-last", "200%"}), kExitBadInput,
       "--measure-last '200%'"},
      {Llama({"--trace", "nowhere.jsonl"}), kExitBadInput, "nowhere.jsonl"},
      {Llama({"--engine", "sglang"}), kExitBadInput, "--engine 'sglang'"},
      {Llama({"--mamba-block-size", "x"}), kExitBadInput,
       "--mamba-block-size 'x'"},
      {Llama({"--num-gpu-blocks", "5"}), kExitWrongUsage, "--num-gpu-blocks"},
      {Llama({"--", "vllm", "serve", "llama-3.1-8b",
              "--num-gpu-blocks-override", "5"}),
       kExitBadInput, "--num-gpu-blocks-override 5"},
      {{"--kv-memory", "40GiB"}, kExitWrongUsage, "--model"},
      {{"--model", "llama-3.1-8b"}, kExitBadInput, "no memory"},
  };
  for (const BadInput& bad : kBad) {
    const Outcome outcome = Tune(bad.arguments);
    EXPECT_EQ(outcome.code, bad.code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(bad.message));
    EXPECT_EQ(outcome.out, "") << bad.message;
  }
  EXPECT_EQ(Kvsim("tune", {}).code, kExitWrongUsage);
}

// The golden counts of sim/hits_golden_test.cc: 415,487 hits of blocks of 16 in
// a pool of 32,771, which is 32,772 with the null block.
TEST(TuneBlockSizeCommandTest, MooncakeHitsAtBlock16) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const Json json =
      TuneJson({"--model", "llama-3.1-8b", "--kv-memory", "65544MiB", "--trace",
                std::string(shared) + "/traces/mooncake_conversation.jsonl",
                "--block-sizes", "512"});
  EXPECT_EQ(Size(json, 16)["num_blocks"], 32772);
  EXPECT_EQ(Size(json, 16)["hit_tokens"], int64_t{415'487} * 16);
  EXPECT_GT(Size(json, 512)["hit_tokens"], 0);
}

}  // namespace
}  // namespace kvsim
