#include "tools/replay_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/command_outcome.h"
#include "tools/run_listener.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

std::string Read(const std::string& path) {
  std::stringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

Outcome Replay(const std::string& trace, std::vector<std::string> more) {
  more.insert(more.begin(), {"--trace", trace});
  return Kvsim("replay", std::move(more));
}

// Three requests: two twins of 1,024 tokens, then one of 100.
std::string Twins() {
  return WriteTestFile(
      "twins.jsonl",
      R"({"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 100, "output_length": 2, "hash_ids": [3]}
)");
}

const std::vector<std::string> kPool = {"--num-gpu-blocks", "200"};

std::vector<std::string> WithPool(std::vector<std::string> more) {
  more.insert(more.end(), kPool.begin(), kPool.end());
  return more;
}

std::vector<std::string> WithSwaps(std::vector<std::string> more) {
  more.insert(more.end(),
              {"--preemption-mode", "swap", "--kv-bytes-per-token", "1000"});
  return WithPool(std::move(more));
}

Json ParseReport(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  return Json::parse(outcome.out);
}

// --- what it answers --------------------------------------------------------------

TEST(ReplayCommandTest, ReportsTheTwinsStepByStep) {
  // The first twin's 64 blocks are keyed when scheduled, so the second hits 63
  // of them in the same step: the hit limit is 1,023 tokens. Steps of 20 ms at
  // 0, 20 and 40 ms serve the twins; the third arrives at 1 s and takes two.
  const Json report = ParseReport(Replay(Twins(), WithPool({"--json"})));
  EXPECT_EQ(report["requests"], "3");
  EXPECT_EQ(report["finished"], "3");
  EXPECT_EQ(report["hit_tokens"], "1008");
  EXPECT_EQ(report["steps"], "5");
  EXPECT_EQ(report["peak_running"], "2");
  // (2 · 60 + 1 · 40) ms of 1,040 ms.
  EXPECT_NEAR(report["mean_running"].get<double>(), 160.0 / 1040, 1e-12);
  EXPECT_EQ(report["idle_ns"], "940000000");
  EXPECT_EQ(report["ttft"]["max_ns"], "20000000");
  EXPECT_EQ(report["tpot"]["p50_ns"], "20000000");
  EXPECT_EQ(report["ledger_unit"], "tokens");
  EXPECT_EQ(report["pool_bytes"], "3200");  // 200 blocks of 16 rows
  int64_t sum = 0;
  for (const Json& line : report["ledger_peak"]) {
    sum += std::stoll(line["bytes"].get<std::string>());
  }
  EXPECT_EQ(sum, 3200);
  EXPECT_EQ(report["manifest"]["trace_format"], "mooncake");
  EXPECT_THAT(report["manifest"]["command"].get<std::string>(),
              HasSubstr("--num-gpu-blocks 200"));
}

TEST(ReplayCommandTest, EqualRunsDifferInWallTimeOnly) {
  const std::vector<std::string> flags =
      WithPool({"--json", "--slo", "ttft=25ms", "--baseline", "contiguous"});
  Json first = ParseReport(Replay(Twins(), flags));
  Json second = ParseReport(Replay(Twins(), flags));
  EXPECT_NE(first["wall_ns"], "0");
  first.erase("wall_ns");
  second.erase("wall_ns");
  EXPECT_EQ(first, second);
  EXPECT_EQ(first["contiguous"].size(), 3u);
  EXPECT_EQ(first["goodput"]["requests"], "3");
}

TEST(ReplayCommandTest, BytesPerTokenTurnTheLedgerIntoBytes) {
  // 8 MiB of 100-byte rows: 5,242 blocks of 1,600 B and a remainder of 1,408 B.
  const Json report =
      ParseReport(Replay(Twins(), {"--json", "--kv-memory", "8MiB",
                                   "--kv-bytes-per-token", "100"}));
  EXPECT_EQ(report["num_blocks"], "5242");
  EXPECT_EQ(report["ledger_unit"], "bytes");
  EXPECT_EQ(report["pool_bytes"], "8388608");
  EXPECT_EQ(report["ledger_peak"][0]["account"], "remainder");
  EXPECT_EQ(report["ledger_peak"][0]["bytes"], "1408");
}

TEST(ReplayCommandTest, AModelBringsItsPoolAndItsRoofline) {
  // 131,072 B per token of Llama-3.1-8B in BF16: 2 MiB per block of 16.
  const Json report = ParseReport(
      Replay(Twins(), {"--json", "--model", "llama-3.1-8b", "--kv-memory",
                       "20GiB", "--gpu", "H100", "--timing", "roofline"}));
  EXPECT_EQ(report["bytes_per_block"], "2097152");
  EXPECT_EQ(report["num_blocks"], "10240");
  EXPECT_EQ(report["finished"], "3");
}

std::string SwitchOf(const Json& report, const std::string& name) {
  for (const Json& flag : report["manifest"]["switches"]) {
    if (flag["name"] == name) return flag["value"].get<std::string>();
  }
  return "";
}

// 40 GiB are 2,774 blocks of seven pages of 2,211,840 B.
TEST(ReplayCommandTest, AHybridBringsItsGroups) {
  const Json report = ParseReport(
      Replay(Twins(), {"--json", "--model", "kimi-linear-48b", "--kv-memory",
                       "40GiB", "--max-model-len", "1048576"}));
  EXPECT_EQ(report["num_blocks"], "2774");
  EXPECT_EQ(report["bytes_per_block"], "15482880");
  EXPECT_EQ(report["block_tokens"], "1920");
  EXPECT_EQ(report["finished"], "3");
  EXPECT_EQ(SwitchOf(report, "groups"), "recurrent/1920*3;full/1920");
  EXPECT_EQ(SwitchOf(report, "retention-interval"), "0");
  EXPECT_EQ(report["pool_bytes"], "42949672960");
  const auto is_state = [](const Json& line) {
    return line["account"] == "state_current" && line["bytes"] != "0";
  };
  EXPECT_TRUE(std::any_of(report["ledger_peak"].begin(),
                          report["ledger_peak"].end(), is_state));
}

TEST(ReplayCommandTest, EveryKindOfGroupOfTheCatalogueIsReplayed) {
  for (const auto& [model, groups] :
       {std::pair("gpt-oss-120b", "sliding_window:128/16;full/16"),
        std::pair("gemma-3-27b", "sliding_window:1024/16*6;full/16"),
        std::pair("deepseek-v4-flash",
                  "full/256;sliding_window:128/64*2;sliding_window:8/4;"
                  "sliding_window:128/8")}) {
    const Json report =
        ParseReport(Replay(Twins(), {"--json", "--model", model, "--kv-memory",
                                     "40GiB", "--max-model-len", "65536"}));
    EXPECT_EQ(report["finished"], "3");
    EXPECT_EQ(SwitchOf(report, "groups"), groups);
  }
  const Json off = ParseReport(Replay(
      Twins(),
      {"--json", "--model", "gemma-3-27b", "--kv-memory", "40GiB",
       "--max-model-len", "65536", "--disable-hybrid-kv-cache-manager"}));
  EXPECT_EQ(SwitchOf(off, "groups"), "full/16");
}

// States of a version that did not cache prefixes of hybrids by default.
TEST(ReplayCommandTest, AVersionDecidesWhatNoFlagSays) {
  const std::vector<std::string> flags = {
      "--json",          "--model", "kimi-linear-48b",  "--kv-memory", "40GiB",
      "--max-model-len", "65536",   "--engine-version", "2026-08-03"};
  const Json old = ParseReport(Replay(Twins(), flags));
  EXPECT_EQ(SwitchOf(old, "enable-prefix-caching"), "off");
  EXPECT_EQ(SwitchOf(old, "groups"), "recurrent/65536*3;full/1920");
  EXPECT_EQ(SwitchOf(old, "retention-interval"), "dense");
  std::vector<std::string> asked = flags;
  asked.insert(asked.end(),
               {"--enable-prefix-caching", "--retention-interval", "0"});
  const Json on = ParseReport(Replay(Twins(), asked));
  EXPECT_EQ(SwitchOf(on, "enable-prefix-caching"), "on");
  EXPECT_EQ(SwitchOf(on, "retention-interval"), "0");
}

// 100 B a token and blocks of 16: a state has the 1,600 B of a block.
TEST(ReplayCommandTest, GroupsWithoutAModelHaveBlocksOfOneSize) {
  const Json report = ParseReport(
      Replay(Twins(), {"--json", "--kv-memory", "8MiB", "--kv-bytes-per-token",
                       "100", "--groups", "full;mamba*3;swa:64/32"}));
  EXPECT_EQ(report["num_blocks"], "5242");
  EXPECT_EQ(report["bytes_per_block"], "1600");
  EXPECT_EQ(report["finished"], "3");
}

TEST(ReplayCommandTest, ARooflineSaysHowFarOffItIs) {
  const std::vector<std::string> flags = {"--model",  "llama-3.1-8b", "--gpu",
                                          "H100",     "--kv-memory",  "20GiB",
                                          "--timing", "roofline"};
  const std::string trace = Twins();
  const Outcome vllm = Replay(trace, flags);
  ASSERT_EQ(vllm.code, kExitOk) << vllm.err;
  EXPECT_THAT(vllm.out, HasSubstr("roofline fitted to 1057 measured loads of "
                                  "vLLM; on a model left out of the fit half "
                                  "of the times are within 12.0 %, nine in ten "
                                  "within 35.3 %"));
  std::vector<std::string> sglang = flags;
  sglang.insert(sglang.end(), {"--roofline-engine", "sglang", "--json"});
  const Json report = ParseReport(Replay(trace, sglang));
  EXPECT_EQ(report["step_times"]["engine"], "sglang");
  EXPECT_EQ(report["step_times"]["p90_error"], 0.849);
  std::vector<std::string> unknown = flags;
  unknown.insert(unknown.end(), {"--roofline-engine", "vlm"});
  EXPECT_THAT(Replay(trace, unknown).err,
              HasSubstr("--roofline-engine 'vlm': accepted: vllm, sglang, "
                        "tensorrt-llm"));
  EXPECT_THAT(
      Replay(trace, WithPool({"--roofline-engine", "sglang"})).err,
      HasSubstr("--roofline-engine has a meaning with --timing roofline"));
}

TEST(ReplayCommandTest, BytesInTextAreGiBOrGB) {
  const std::vector<std::string> flags = {"--model", "llama-3.1-8b",
                                          "--kv-memory", "20GiB"};
  EXPECT_THAT(Replay(Twins(), flags).out,
              AllOf(HasSubstr("pool 20.00 GiB"), HasSubstr("20.000 GiB")));
  // 20 · 2^30 bytes are 21.475 GB.
  for (const std::vector<std::string>& units :
       {std::vector<std::string>{"--units", "gb"}, {"--units=GB"}}) {
    std::vector<std::string> decimal = flags;
    decimal.insert(decimal.end(), units.begin(), units.end());
    EXPECT_THAT(Replay(Twins(), decimal).out,
                AllOf(HasSubstr("pool 21.47 GB"), HasSubstr("21.475 GB"),
                      Not(HasSubstr("iB"))));
  }
  EXPECT_EQ(Replay(Twins(), {"--units", "kg"}).code, kExitWrongUsage);
}

TEST(ReplayCommandTest, FieldsOfATimedTraceCanBeRenamed) {
  const std::string path = WriteTestFile(
      "timed.jsonl", "{\"t\": 2, \"in\": 9, \"out\": 1, \"ids\": [5, 6]}\n");
  const Json report = ParseReport(
      Replay(path, WithPool({"--json", "--timed-trace-label-timestamp", "t",
                             "--timed-trace-label-input-length", "in",
                             "--timed-trace-label-output-length", "out",
                             "--timed-trace-label-hash-ids", "ids",
                             "--timed-trace-chunk-hash-size", "8"})));
  EXPECT_EQ(report["finished"], "1");
  EXPECT_EQ(report["prompt_tokens"], "9");
}

TEST(ReplayCommandTest, TextGoesToStdoutAndNothingToStderr) {
  const Outcome outcome = Replay(Twins(), kPool);
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Requests"), HasSubstr("Concurrency"),
                    HasSubstr("Where the pool's token slots are")));
}

TEST(ReplayCommandTest, HitsModeKeepsItsContract) {
  const Json report = ParseReport(Replay(
      Twins(),
      {"--mode", "hits", "--policy", "lru", "--blocks", "10", "--block-size",
       "512", "--measure-last", "50%", "--partial-tail", "shared", "--json"}));
  // floor(3 / 2) = 1: the second twin and the third request count.
  EXPECT_EQ(report["measured_tokens"], "1124");
  EXPECT_EQ(report["hit_tokens"], "1024");
}

// --- sequences --------------------------------------------------------------------

// The third request alone: 100 tokens are 6 blocks and 4 tokens of a seventh.
std::string OneOf100(int64_t outputs) {
  return WriteTestFile(
      "one.jsonl",
      R"({"timestamp": 0, "input_length": 100, "output_length": )" +
          std::to_string(outputs) + R"(, "hash_ids": [3]})" + "\n");
}

TEST(ReplayCommandTest, SamplesShareByForks) {
  const Json report =
      ParseReport(Replay(OneOf100(10), WithPool({"--json", "--samples", "4"})));
  const Json& s = report["sequences"];
  EXPECT_EQ(s["kind"], "samples");
  EXPECT_EQ(s["sharing"], "fork");
  EXPECT_EQ(s["width"], "4");
  EXPECT_EQ(s["forks"], "3");
  EXPECT_EQ(s["forked_blocks"], "21");  // 3 · 7
  EXPECT_EQ(s["fork_copies"], "3");
  EXPECT_EQ(s["fork_copy_bytes"], "48");  // in rows: 3 · 16
  EXPECT_EQ(s["saved_peak"], "300");
  EXPECT_EQ(report["finished"], "1");
  EXPECT_EQ(report["output_tokens"], "40");
  EXPECT_EQ(report["scheduled_tokens"], "136");  // 100 + 9 · 4
}

TEST(ReplayCommandTest, SamplesByPrefixComputeTheirTails) {
  const Json report = ParseReport(
      Replay(OneOf100(10),
             WithPool({"--json", "--samples", "4", "--sharing", "prefix"})));
  EXPECT_EQ(report["sequences"]["sharing"], "prefix");
  EXPECT_EQ(report["sequences"]["forks"], "0");
  EXPECT_EQ(report["sequences"]["saved_peak"], "288");  // 3 · 96
  EXPECT_EQ(report["hit_tokens"], "288");
  EXPECT_EQ(report["scheduled_tokens"], "148");  // 100 + 3 · 4 + 9 · 4
}

TEST(ReplayCommandTest, BeamsGoOnTwiceOrEnd) {
  const Json report = ParseReport(
      Replay(OneOf100(40), WithPool({"--json", "--beam-width", "4"})));
  const Json& s = report["sequences"];
  EXPECT_EQ(s["kind"], "beams");
  const int64_t dropped = std::stoll(s["dropped"].get<std::string>());
  EXPECT_GT(dropped, 20);  // of 38 draws, 3 of 4 on average
  EXPECT_EQ(s["forks"], std::to_string(3 + dropped));
  const Outcome text = Replay(OneOf100(40), WithPool({"--beam-width", "4"}));
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("4 beams a request"),
                    HasSubstr("saved by sharing"), HasSubstr("beams dropped")));
}

TEST(ReplayCommandTest, WritesItsFilesBesideTheReport) {
  const std::string timeline = ::testing::TempDir() + "/replay.csv";
  const std::string chrome = ::testing::TempDir() + "/replay.json";
  const std::string log = ::testing::TempDir() + "/replay.jsonl";
  ParseReport(
      Replay(Twins(), WithPool({"--json", "--timeline", timeline,
                                "--chrome-trace", chrome, "--step-log", log})));
  const std::string rows = Read(timeline);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 6);  // header, 5 steps
  EXPECT_FALSE(Json::parse(Read(chrome))["traceEvents"].empty());
  const std::string lines = Read(log);
  EXPECT_THAT(lines.substr(0, lines.find('\n')), HasSubstr("\"step\":0"));
}

TEST(ReplayCommandTest, LinearAndRecordedTimesMoveTheClock) {
  const Json linear = ParseReport(Replay(
      Twins(),
      WithPool({"--json", "--timing", "linear", "--linear-us", "base=1000"})));
  EXPECT_EQ(linear["ttft"]["max_ns"], "1000000");
  const std::string times =
      WriteTestFile("times.txt", "5ms\n7ms\n9ms\n1ms\n1ms\n");
  const Json recorded = ParseReport(Replay(
      Twins(),
      WithPool({"--json", "--timing", "recorded", "--step-times", times})));
  EXPECT_EQ(recorded["ttft"]["max_ns"], "5000000");
  EXPECT_EQ(recorded["e2e"]["max_ns"], "21000000");
}

// --- what it refuses --------------------------------------------------------------

struct Refusal {
  const char* name;
  std::vector<std::string> flags;
  int code;
  const char* message;
};

class ReplayRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(ReplayRefusalTest, NamesFlagValueAndWhatIsAccepted) {
  const Outcome outcome = Replay(Twins(), GetParam().flags);
  EXPECT_EQ(outcome.code, GetParam().code);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("kvsim replay: "),
                                 HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, ReplayRefusalTest,
    ::testing::Values(
        Refusal{"NoPool", {}, kExitWrongUsage, "needs the pool"},
        Refusal{"OneBlock",
                {"--num-gpu-blocks", "1"},
                kExitBadInput,
                "--num-gpu-blocks is 1; accepted: 2 to"},
        Refusal{"BlockSizeZero", WithPool({"--block-size", "0"}), kExitBadInput,
                "--block-size is 0; accepted: 1 to"},
        Refusal{"NegativeSequences", WithPool({"--max-num-seqs=-1"}),
                kExitBadInput, "--max-num-seqs '-1'"},
        Refusal{"LengthBeyondInt64",
                WithPool({"--max-model-len", "9223372036854775808"}),
                kExitBadInput, "--max-model-len '9223372036854775808'"},
        Refusal{"WatermarkNan", WithPool({"--watermark", "nan"}), kExitBadInput,
                "--watermark 'nan'"},
        Refusal{"NoSamples", WithPool({"--samples", "0"}), kExitBadInput,
                "--samples '0': accepted: 1 to 1024"},
        Refusal{"SamplesOfBeams",
                WithPool({"--samples", "2", "--beam-width", "2"}),
                kExitBadInput, "--beam-width '2': accepted without --samples"},
        Refusal{"UnknownSharing",
                WithPool({"--samples", "2", "--sharing", "all"}), kExitBadInput,
                "--sharing 'all': accepted: fork, prefix"},
        Refusal{"SharingOfNothing", WithPool({"--sharing", "fork"}),
                kExitBadInput, "--sharing 'fork': has a meaning with"},
        Refusal{"SamplesInFlight",
                WithPool({"--samples", "2", "--async-scheduling"}),
                kExitBadInput, "--samples '2': with --async-scheduling"},
        Refusal{"UnknownGroup", WithPool({"--groups", "full;ring"}),
                kExitBadInput, "--groups: 'ring': accepted: full"},
        Refusal{"GroupsBesideAModel",
                {"--model", "llama-3.1-8b", "--groups", "full"},
                kExitWrongUsage,
                "--groups has a meaning without --model"},
        Refusal{"StatesWithoutAny", WithPool({"--mamba-cache-mode", "all"}),
                kExitWrongUsage,
                "--mamba-cache-mode has a meaning with --model or --groups"},
        Refusal{"RetentionInWords", WithPool({"--retention-interval", "some"}),
                kExitBadInput,
                "--retention-interval 'some': accepted: dense, 0, or"},
        Refusal{"RetentionInsideABlock",
                WithPool({"--groups", "full;swa:64", "--retention-interval",
                          "100"}),
                kExitBadInput, "accepted: 0 or a multiple of 16"},
        Refusal{"MatchUnitThatDoesNotDivide",
                WithPool({"--prefix-match-unit", "5"}), kExitBadInput,
                "--prefix-match-unit is 5; accepted: a divisor"},
        Refusal{"MatchUnitBeforeItsTime",
                WithPool({"--prefix-match-unit", "8", "--engine-version",
                          "2026-07-11"}),
                kExitBadInput, "hits whole blocks only"},
        Refusal{
            "ContiguousHybrid",
            WithPool({"--groups", "full;mamba", "--baseline", "contiguous"}),
            kExitBadInput, "--baseline 'contiguous': reserves one range"},
        Refusal{"FirstEngine",
                {"--model", "llama-3.1-8b", "--kv-memory", "20GiB",
                 "--engine-version", "0.7.3"},
                kExitBadInput,
                "its V0 scheduler is not replayed"},
        Refusal{"GroupsOfHits",
                {"--mode", "hits", "--blocks", "9", "--groups", "full"},
                kExitWrongUsage,
                "--groups has a meaning with --mode engine"},
        Refusal{"StepZero", WithPool({"--step-us", "0"}), kExitBadInput,
                "--step-us '0': accepted: 1 to 10^12"},
        Refusal{"UnknownTiming", WithPool({"--timing", "fast"}), kExitBadInput,
                "--timing 'fast': accepted: steps"},
        Refusal{"UnknownPolicy", WithPool({"--scheduling-policy", "sjf"}),
                kExitBadInput, "--scheduling-policy 'sjf': accepted: fcfs"},
        Refusal{"UnknownEngine", WithPool({"--engine", "orca"}), kExitBadInput,
                "--engine 'orca': accepted: vllm"},
        Refusal{"UnknownBaseline", WithPool({"--baseline", "slab"}),
                kExitBadInput, "--baseline 'slab': accepted: contiguous"},
        Refusal{"UnknownPreemption", WithPool({"--preemption-mode", "drop"}),
                kExitBadInput,
                "--preemption-mode 'drop': accepted: recompute, swap"},
        Refusal{"SwapsOfTokens",
                WithPool({"--preemption-mode", "swap", "--swap-bandwidth",
                          "25GB/s"}),
                kExitWrongUsage, "need --model or --kv-bytes-per-token"},
        Refusal{"SwapsAtNoSpeed", WithSwaps({}), kExitWrongUsage,
                "need --swap-bandwidth"},
        Refusal{"SwapsAtTwentyFive", WithSwaps({"--swap-bandwidth", "25"}),
                kExitBadInput,
                "--swap-bandwidth '25': accepted: bytes per second"},
        Refusal{"SwapsOfTwoBatches",
                WithSwaps({"--swap-bandwidth", "25GB/s", "--async-scheduling"}),
                kExitBadInput, "accepted: --no-async-scheduling"},
        Refusal{"SwapsBesideSwaps",
                WithSwaps({"--swap-bandwidth", "25GB/s", "--baseline", "swap"}),
                kExitBadInput,
                "--baseline 'swap': is this run's --preemption-mode; accepted: "
                "recompute"},
        Refusal{"SpaceWithoutSwaps", WithPool({"--swap-space", "4"}),
                kExitWrongUsage,
                "--swap-space has a meaning with --preemption-mode swap"},
        Refusal{"BadSlo", WithPool({"--slo", "ttft=soon"}), kExitBadInput,
                "--slo 'ttft=soon'"},
        Refusal{"BadArrivals", WithPool({"--arrivals", "never"}), kExitBadInput,
                "--arrivals 'never'"},
        Refusal{"FlagOfHits", WithPool({"--policy", "lru"}), kExitWrongUsage,
                "--policy has a meaning with --mode hits only"},
        Refusal{"FlagOfEngine",
                {"--mode", "hits", "--blocks", "9", "--watermark", "0.1"},
                kExitWrongUsage,
                "--watermark has a meaning with --mode engine only"},
        Refusal{"FlagOfModel", WithPool({"--gpu", "H200"}), kExitWrongUsage,
                "--gpu has a meaning with --model only"},
        Refusal{"TwoPools", WithPool({"--kv-memory", "1GiB"}), kExitWrongUsage,
                "--num-gpu-blocks and --kv-memory both say"},
        Refusal{"OutputOverTheTrace", WithPool({"--timeline", Twins()}),
                kExitWrongUsage, "--timeline and --trace name the same file"},
        Refusal{"FlagOfLinear", WithPool({"--linear-us", "base=1"}),
                kExitWrongUsage, "--linear-us has a meaning with --timing"},
        Refusal{"LinearWithout", WithPool({"--timing", "linear"}),
                kExitWrongUsage, "--timing linear needs --linear-us"},
        Refusal{"RooflineWithout", WithPool({"--timing", "roofline"}),
                kExitWrongUsage, "needs --model and --gpu"},
        Refusal{"MissingStepTimes",
                WithPool({"--timing", "recorded", "--step-times", "/no/file"}),
                kExitBadInput, "/no/file: No such file"},
        Refusal{"HitsWithoutBlocks",
                {"--mode", "hits"},
                kExitWrongUsage,
                "needs --blocks"},
        Refusal{"HitsZeroBlocks",
                {"--mode", "hits", "--blocks", "0"},
                kExitBadInput,
                "found 0 blocks; accepted: 1 to"},
        Refusal{"MeasureMoreThanAll",
                {"--mode", "hits", "--blocks", "9", "--measure-last", "150%"},
                kExitBadInput,
                "--measure-last '150%'"},
        Refusal{"UnknownHitPolicy",
                {"--mode", "hits", "--blocks", "9", "--policy", "arc"},
                kExitBadInput,
                "accepted: \"lru\", \"fifo\", \"optimal\""},
        Refusal{"UnknownMode",
                {"--mode", "gpu"},
                kExitWrongUsage,
                "--mode 'gpu': accepted: engine, hits"},
        Refusal{"FullDiskTimeline", WithPool({"--timeline", "/dev/full"}),
                kExitBadInput, "--timeline /dev/full: No space left on device"},
        Refusal{"FullDiskTrace", WithPool({"--chrome-trace", "/dev/full"}),
                kExitBadInput, "--chrome-trace /dev/full: No space left"},
        Refusal{"FullDiskLog", WithPool({"--step-log", "/dev/full"}),
                kExitBadInput, "--step-log /dev/full: No space left"},
        Refusal{"NoFolder", WithPool({"--timeline", "/no/folder/x.csv"}),
                kExitBadInput, "--timeline /no/folder/x.csv: No such file"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReplayCommandTest, ABadTraceNamesFileLineAndField) {
  const std::string path = WriteTestFile(
      "bad.jsonl",
      "{\"timestamp\": 0, \"input_length\": 8, \"output_length\": 1, "
      "\"hash_ids\": [1]}\n"
      "{\"timestamp\": 0, \"input_length\": -8, \"output_length\": 1, "
      "\"hash_ids\": [1]}\n");
  for (const std::vector<std::string>& flags :
       {kPool, std::vector<std::string>{"--mode", "hits", "--blocks", "9"}}) {
    const Outcome outcome = Replay(path, flags);
    EXPECT_EQ(outcome.code, kExitBadInput);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(path + ":2: "),
                                   HasSubstr("input_length"), HasSubstr("-8")));
  }
}

TEST(ReplayCommandTest, ARecordingThatEndsIsAnError) {
  const std::string times = WriteTestFile("short.txt", "5ms\n");
  const Outcome outcome = Replay(
      Twins(), WithPool({"--timing", "recorded", "--step-times", times}));
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err,
              HasSubstr(times + ":1: the file ends after 1 steps"));
}

TEST(ReplayCommandTest, RequestsThatCanNeverFitAreCounted) {
  // 63 usable blocks hold 1,008 tokens: the twins never fit; at a maximum
  // length of 1,024 they are refused on arrival.
  const Json small =
      ParseReport(Replay(Twins(), {"--json", "--num-gpu-blocks", "64"}));
  EXPECT_EQ(small["never_fit"], "2");
  EXPECT_EQ(small["larger_than_pool"], "2");
  const Json refused = ParseReport(
      Replay(Twins(), WithPool({"--json", "--max-model-len", "1024"})));
  EXPECT_EQ(refused["never_fit"], "2");
  EXPECT_EQ(refused["too_long"], "2");
  EXPECT_EQ(refused["finished"], "1");
}

// --- golden figures ----------------------------------------------------------------

// The Mooncake conversation trace on one full group, as two independent
// programs replayed it. KVSIM_SHARED names the folder that holds the trace.
TEST(ReplayGoldenTest, FullReplayOfTheConversationTrace) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const std::string trace =
      std::string(shared) + "/traces/mooncake_conversation.jsonl";
  const struct {
    const char* blocks;
    const char *steps, *scheduled, *allocations, *evictions, *preemptions;
    const char *hits, *resume_hits, *end_ns;
  } kGolden[] = {
      {"38000", "177544", "4138325", "8890682", "8841376", "5", "6747856",
       "120848", "3550880000000"},
      {"20000", "177736", "4136874", "8918716", "8887184", "256", "6381968",
       "3251712", "3554720000000"},
  };
  for (const auto& golden : kGolden) {
    SCOPED_TRACE(golden.blocks);
    const Json report = ParseReport(Replay(
        trace, {"--json", "--num-gpu-blocks", golden.blocks, "--block-size",
                "16", "--max-num-batched-tokens", "8192", "--max-num-seqs",
                "256", "--max-model-len", "163840", "--step-us", "20000"}));
    EXPECT_EQ(report["requests"], "12031");
    EXPECT_EQ(report["finished"], "12031");
    EXPECT_EQ(report["steps"], golden.steps);
    EXPECT_EQ(report["scheduled_requests"], golden.scheduled);
    EXPECT_EQ(report["allocations"], golden.allocations);
    EXPECT_EQ(report["evictions"], golden.evictions);
    EXPECT_EQ(report["preemptions"], golden.preemptions);
    EXPECT_EQ(report["hit_tokens"], golden.hits);
    EXPECT_EQ(report["resume_hit_tokens"], golden.resume_hits);
    EXPECT_EQ(report["end_ns"], golden.end_ns);
  }
}

// 1,024 prompt tokens twice and 100; 3 + 3 + 2 outputs.
TEST(ReplayCommandTest, MoneyIsGpuHoursTimesThePrice) {
  const Outcome outcome =
      Replay(Twins(),
             {"--num-gpu-blocks", "300", "--gpu-hour-price", "3.6", "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("money means more with"));
  const Json json = Json::parse(outcome.out);
  const double seconds = (std::stod(json["end_ns"].get<std::string>()) -
                          std::stod(json["start_ns"].get<std::string>())) /
                         1e9;
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(json["cost"]["gpus"], "1");
  EXPECT_NEAR(json["cost"]["gpu_hours"], seconds / 3600, 1e-12);
  EXPECT_NEAR(json["cost"]["money"], seconds / 1000, 1e-12);  // 3.6 / 3600
  EXPECT_NEAR(json["cost"]["money_per_million_tokens"],
              seconds / 1000 / (1024 + 1024 + 100 + 8) * 1e6, 1e-9);
  EXPECT_NEAR(json["cost"]["money_per_million_output_tokens"],
              seconds / 1000 / 8 * 1e6, 1e-9);
}

TEST(ReplayCommandTest, EveryGpuOfTheDeploymentIsPaid) {
  const Outcome outcome =
      Replay(Twins(), {"--model", "llama-3.1-8b", "--tp", "4", "--kv-memory",
                       "20GiB", "--gpu-hour-price", "1", "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["cost"]["gpus"], "4");
}

// The twin hits 1,008 tokens; without the cache they are computed.
TEST(ReplayCommandTest, WhatPrefixCachingSaved) {
  const std::string trace = WriteTestFile(
      "later_twin.jsonl",
      R"({"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
)");
  const std::vector<std::string> flags = {"--num-gpu-blocks", "300",
                                          "--baseline", "no-prefix-caching"};
  std::vector<std::string> json_flags = flags;
  json_flags.push_back("--json");
  const Outcome outcome = Replay(trace, json_flags);
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["hit_tokens"], "1008");
  EXPECT_EQ(std::stoll(json["without_prefix_caching"]["scheduled_tokens"]
                           .get<std::string>()) -
                std::stoll(json["scheduled_tokens"].get<std::string>()),
            1008);
  const Outcome text = Replay(trace, flags);
  EXPECT_THAT(text.out, HasSubstr("What prefix caching saved"));
}

// Nine blocks of 16 tokens for two prompts of 64: the second loses its four blocks at
// its 65th token. Swapped, 64,000 B go out and come back at 1 GB/s. Recomputed, the
// first one's growth has taken half of what was cached of them.
TEST(ReplayCommandTest, BothModesOfPreemptionSideBySide) {
  const std::string trace = WriteTestFile(
      "two_long.jsonl",
      R"({"timestamp": 0, "input_length": 64, "output_length": 40, "hash_ids": [1]}
{"timestamp": 0, "input_length": 64, "output_length": 40, "hash_ids": [2]}
)");
  const std::vector<std::string> flags = {"--num-gpu-blocks",
                                          "10",
                                          "--kv-bytes-per-token",
                                          "1000",
                                          "--swap-bandwidth",
                                          "1GB/s",
                                          "--swap-space",
                                          "1MB",
                                          "--timing",
                                          "linear",
                                          "--linear-us",
                                          "base=100,prefill=10"};
  std::vector<std::string> swap = flags, recompute = flags;
  swap.insert(swap.end(), {"--preemption-mode", "swap", "--baseline",
                           "recompute", "--json"});
  recompute.insert(recompute.end(), {"--baseline", "swap", "--json"});
  const Json a = ParseReport(Replay(trace, swap));
  const Json b = ParseReport(Replay(trace, recompute));
  EXPECT_EQ(a["preemption"], b["preemption_comparison"]["other"]);
  EXPECT_EQ(b["preemption"], a["preemption_comparison"]["other"]);
  EXPECT_EQ(a["preemption"]["mode"], "swap");
  EXPECT_EQ(a["preemption"]["by_swap"], "1");
  EXPECT_EQ(a["preemption"]["bytes_out"], "64000");
  EXPECT_EQ(a["preemption"]["bytes_in"], "64000");
  EXPECT_EQ(a["preemption"]["transfer_ns"], "128000");
  EXPECT_EQ(a["preemption"]["host_bytes"], "992000");  // 62 blocks
  EXPECT_EQ(a["recomputed_tokens"], "0");
  EXPECT_EQ(b["preemption"]["by_recompute"], "1");
  EXPECT_EQ(b["recomputed_tokens"], "32");
  EXPECT_EQ(a["preemption_comparison"]["cheaper"],
            b["preemption_comparison"]["cheaper"]);
  recompute.pop_back();
  EXPECT_THAT(Replay(trace, recompute).out,
              AllOf(HasSubstr("Preemption by swap and by recompute"),
                    HasSubstr("is cheaper here, by")));
}

TEST(ReplayCommandTest, APriceIsANumber) {
  for (const char* bad : {"cheap", "-1", "nan", "1e9"}) {
    const Outcome outcome =
        Replay(Twins(), {"--num-gpu-blocks", "300", "--gpu-hour-price", bad});
    EXPECT_EQ(outcome.code, kExitBadInput) << bad;
    EXPECT_THAT(outcome.err, HasSubstr("--gpu-hour-price"));
  }
}

// --- inside another program -------------------------------------------------------

class StepCounter final : public RunListener {
 public:
  explicit StepCounter(int64_t most) : most_(most) {}
  void OnStep(const StepRecord&, const Engine&) override {
    stop_ = ++steps_ >= most_;
  }
  const bool* stop() const override { return &stop_; }
  int64_t steps() const { return steps_; }

 private:
  int64_t most_;
  int64_t steps_ = 0;
  bool stop_ = false;
};

// The report of a replay of Twins(), which takes 5 steps.
Outcome ReplayTwins(std::vector<std::string> more, RunListener* listener,
                    StepObserver* observer) {
  std::ostringstream out, err;
  CommandContext context;
  context.out = &out;
  context.err = &err;
  context.listener = listener;
  context.observer = observer;
  more.insert(more.begin(), {"replay", "--trace", Twins(), "--json"});
  constexpr Subcommand kCommands[] = {{"replay", AddReplayCommand}};
  const int code =
      RunCommandLine(kCommands, WithPool(std::move(more)), context);
  EXPECT_EQ(code, context.exit_code);
  return {code, out.str(), err.str()};
}

TEST(ReplayCommandTest, AListenerFollowsTheBaselineTooAnObserverDoesNot) {
  StepCounter listener(1000), observer(1000);
  const Json json = ParseReport(
      ReplayTwins({"--baseline", "no-prefix-caching"}, &listener, &observer));
  EXPECT_EQ(json["steps"], "5");
  EXPECT_EQ(observer.steps(), 5);
  EXPECT_GT(listener.steps(), 5);
}

TEST(ReplayCommandTest, AListenerEndsTheRun) {
  StepCounter listener(2);
  const Json json = ParseReport(ReplayTwins({}, &listener, nullptr));
  EXPECT_EQ(json["steps"], "2");
  EXPECT_EQ(json["interrupted"], true);
}

}  // namespace
}  // namespace kvsim
