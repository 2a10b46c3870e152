// `kvsim trace` as people type it.
#include "tools/trace_command.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Outcome Trace(std::vector<std::string> arguments) {
  return Kvsim("trace", std::move(arguments));
}

std::string Path(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Row(int timestamp, int input) {
  return "{\"timestamp\": " + std::to_string(timestamp) +
         ", \"input_length\": " + std::to_string(input) +
         ", \"output_length\": 1, \"hash_ids\": [0]}\n";
}

constexpr char kSample[] = "traces/sample/agents.jsonl";

// The command that the sample's README shows, with another output.
TEST(TraceCommandTest, SynthStillMakesTheSample) {
  std::vector<std::string> arguments;
  for (const auto line :
       absl::StrSplit(Read("traces/sample/README.md"), '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() > 3 && words[0] == "kvsim" && words[2] == "synth") {
      arguments.assign(words.begin() + 2, words.end());
    }
  }
  ASSERT_FALSE(arguments.empty());
  ASSERT_EQ(arguments[1], kSample);
  arguments[1] = "-";
  const Outcome outcome = Trace(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out == Read(kSample)) << "the sample has changed";
}

TEST(TraceCommandTest, InfoCountsTheSample) {
  const Outcome outcome = Trace({"info", kSample, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["format"], "mooncake");
  EXPECT_EQ(json["rows"], 407);
  EXPECT_EQ(json["sessions"], 48);
  EXPECT_EQ(json["parent_conflicts"], 0);
  EXPECT_THAT(Trace({"info", kSample}).out,
              AllOf(HasSubstr("Requests               407"),
                    HasSubstr("Tokens per id          512")));
}

// The same numbers in all three forms.
TEST(TraceCommandTest, StatsAgreeWithInfoInEveryForm) {
  const auto info =
      nlohmann::json::parse(Trace({"info", kSample, "--json"}).out);
  const Outcome outcome =
      Trace({"stats", kSample, "--json", "--block-sizes", "512,1024"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["rows"], info["rows"]);
  EXPECT_EQ(json["input_tokens"]["p99"], info["input_tokens"]["p99"]);
  EXPECT_EQ(json["prefix_tree"]["hit_tokens"], info["hit_full_block_tokens"]);
  EXPECT_EQ(json["block_sizes"][0]["hit_tokens"],
            info["hit_full_block_tokens"]);
  EXPECT_LT(json["block_sizes"][1]["hit_tokens"],
            json["block_sizes"][0]["hit_tokens"]);
  EXPECT_EQ(json["sessions"]["sessions"], 48);
  EXPECT_EQ(json["prefix_tree"]["hot"].size(), 10u);
  const Outcome csv = Trace({"stats", kSample, "--csv"});
  EXPECT_THAT(csv.out,
              AllOf(HasSubstr("name,value\nrows,407\n"),
                    HasSubstr("\nsessions.sessions,48\n"),
                    HasSubstr("\nblock_sizes[7].block_tokens,2048\n")));
  const Outcome text = Trace({"stats", kSample, "--hot", "1"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("407 of them in 48 sessions"),
                    HasSubstr("Prefix tree"), HasSubstr("hot prefixes")));
}

TEST(TraceCommandTest, ConvertedThereAndBackTheSampleIsTheSame) {
  ASSERT_EQ(Trace({"convert", kSample, Path("a.kvsim")}).code, 0);
  ASSERT_EQ(
      Trace({"convert", Path("a.kvsim"), Path("b.jsonl"), "--to", "mooncake"})
          .code,
      0);
  EXPECT_EQ(Trace({"validate", Path("a.kvsim")}).code, 0);
  EXPECT_TRUE(Read(Path("b.jsonl")) == Read(kSample));
}

TEST(TraceCommandTest, ValidateListsEveryProblemAndExitsWith1) {
  const std::string path =
      WriteTestFile("bad.jsonl", Row(0, -1) + Row(0, 1) + Row(5, 600) + "{\n");
  const Outcome outcome = Trace({"validate", path});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("bad.jsonl:1: field `input_length`: found '-1'"),
                    HasSubstr("bad.jsonl:3: field `hash_ids`: found 1 ids"),
                    HasSubstr("bad.jsonl:4: "),
                    HasSubstr("1 good rows, 3 bad rows, 3 problems")));
  EXPECT_THAT(outcome.err, HasSubstr("kvsim trace validate: "));
  const auto json =
      nlohmann::json::parse(Trace({"validate", path, "--json"}).out);
  EXPECT_EQ(json["bad_rows"], 3);
  EXPECT_EQ(json["problems"][0]["line"], 1);
  EXPECT_EQ(json["problems"][0]["field"], "input_length");
}

TEST(TraceCommandTest, SortPutsRowsInOrderStably) {
  const std::string path = WriteTestFile(
      "unsorted.jsonl", Row(5, 1) + Row(2, 2) + Row(5, 3) + Row(2, 4));
  EXPECT_EQ(Trace({"info", path}).code, 1);
  const Outcome outcome =
      Trace({"convert", path, "-", "--to", "mooncake", "--sort"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Row(2, 2) + Row(2, 4) + Row(5, 1) + Row(5, 3));
}

TEST(TraceCommandTest, HeadPrintsTheFirstRows) {
  const Outcome outcome = Trace({"head", kSample, "-n", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][1]["id"], 1);
}

TEST(TraceCommandTest, FieldsOfATimedTraceCanBeRenamed) {
  const std::string path = WriteTestFile(
      "timed.jsonl", "{\"t\": 2, \"in\": 9, \"out\": 1, \"ids\": [5, 6]}\n");
  const Outcome outcome = Trace(
      {"head", path, "--json", "--timed-trace-label-timestamp", "t",
       "--timed-trace-label-input-length", "in",
       "--timed-trace-label-output-length", "out",
       "--timed-trace-label-hash-ids", "ids", "--timed-trace-chunk-hash-size",
       "8", "--timed-trace-sec-multiplier", "0.001"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto row = nlohmann::json::parse(outcome.out)["rows"][0];
  EXPECT_EQ(row["arrival_ns"], 2'000'000);
  EXPECT_EQ(row["hash_block"], 8);
  EXPECT_EQ(row["hash_ids"], std::vector<int>({5, 6}));
}

// A trace without ids converts to Mooncake's form and shares nothing there.
TEST(TraceCommandTest, TracesWithoutIdsCanBeConverted) {
  const std::string path =
      WriteTestFile("azure.csv",
                    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                    "2023-11-16 18:15:46.5,700,3\r\n2023-11-16 18:15:47,700,4");
  const Outcome outcome = Trace({"convert", path, "-", "--to", "mooncake"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "{\"timestamp\": 0, \"input_length\": 700, \"output_length\": 3, "
            "\"hash_ids\": [0], \"block_size\": 700}\n"
            "{\"timestamp\": 500, \"input_length\": 700, "
            "\"output_length\": 4, \"hash_ids\": [1], \"block_size\": 700}\n");
}

TEST(TraceCommandTest, AnonymisedIdsAreOthersAndEqualOnesStayEqual) {
  const std::string path = Path("shared.jsonl");
  const Outcome outcome =
      Trace({"anonymise", kSample, path, "--salt", "not for others"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto before =
      nlohmann::json::parse(Trace({"info", kSample, "--json"}).out);
  auto after = nlohmann::json::parse(Trace({"info", path, "--json"}).out);
  after["trace"] = before["trace"];
  after["first_arrival_ns"] = before["first_arrival_ns"];
  after["last_arrival_ns"] = before["last_arrival_ns"];
  EXPECT_EQ(after, before);
  const auto ids = [](const std::string& trace) {
    return nlohmann::json::parse(
        Trace({"head", trace, "-n", "1", "--json"}).out)["rows"][0]["hash_ids"];
  };
  EXPECT_NE(ids(path), ids(kSample));
}

TEST(TraceCommandTest, AFitMakesTracesLikeItsSource) {
  const std::string preset = Path("sample.preset.json");
  const Outcome fit = Trace({"fit", kSample, preset, "--json"});
  ASSERT_EQ(fit.code, 0) << fit.err;
  const auto json = nlohmann::json::parse(fit.out);
  EXPECT_EQ(json["close"], true) << fit.out;
  EXPECT_EQ(json["seeds"].size(), 5u);
  EXPECT_THAT(Trace({"fit", kSample, preset}).out,
              AllOf(HasSubstr("source"), HasSubstr("seed 5")));
  const std::string made = Path("made.jsonl");
  const Outcome synth = Trace(
      {"synth", made, "--preset", preset, "--requests", "50", "--seed", "9"});
  ASSERT_EQ(synth.code, 0) << synth.err;
  EXPECT_EQ(nlohmann::json::parse(Trace({"info", made, "--json"}).out)["rows"],
            50);
  EXPECT_EQ(Trace({"fit", kSample, kSample}).code, 2);
}

TEST(TraceCommandTest, AFullDiskIsAnErrorWithItsName) {
  const Outcome outcome = Trace({"convert", kSample, "/dev/full"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
}

TEST(TraceCommandTest, AFailedConversionLeavesNoFile) {
  const std::string path = WriteTestFile("half.jsonl", Row(0, 1) + "{\n");
  EXPECT_EQ(Trace({"convert", path, Path("half.kvsim")}).code, 1);
  EXPECT_FALSE(std::ifstream(Path("half.kvsim")).good());
}

TEST(TraceCommandTest, TheInputIsNotOverwritten) {
  const std::string path = WriteTestFile("self.jsonl", Row(0, 1));
  EXPECT_EQ(Trace({"convert", path, path}).code, 2);
  EXPECT_EQ(Read(path), Row(0, 1));
}

TEST(TraceCommandTest, WrongUsageNamesFlagAndValue) {
  EXPECT_EQ(Trace({}).code, 2);
  for (const auto& [arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"info", kSample, "--trace-format", "csv"},
            "--trace-format: found 'csv'; accepted: auto, weka, kvsim, azure"},
           {{"info", kSample, "--rate-scale", "nan"}, "--rate-scale: found"},
           {{"info", kSample, "--limit", "-1"}, "--limit: "},
           {{"head", kSample, "--rows", "x"}, "--rows: "},
           {{"anonymise", kSample, Path("x"), "--salt", "short"},
            "--salt: found 5 characters"},
           {{"synth", Path("x"), "--preset", "mooncake-conversation", "--turns",
             "3"},
            "--turns: found beside --preset"},
           {{"synth", Path("x"), "--preset", "mooncake-conversation",
             "--requests", "0"},
            "--requests: found 0 requests"},
           {{"synth", Path("x"), "--requests", "5"},
            "--requests: found without --preset"},
           {{"stats", kSample, "--block-sizes", "16,0"},
            "--block-sizes: found '0'"},
           {{"stats", kSample, "--hot", "x"}, "--hot: found 'x'"},
           {{"head", kSample, "--timed-trace-sec-multiplier", "0"},
            "--timed-trace-sec-multiplier: found '0'"},
           {{"head", kSample, "--timed-trace-label-timestamp", "t",
             "--trace-format", "weka"},
            "--timed-trace-...: found --trace-format weka"},
           {{"convert", kSample, Path("x"), "--to", "weka"},
            "--to: found 'weka'; accepted: mooncake, kvsim"},
           {{"synth", Path("x"), "--hash-block", "0"}, "--hash-block: found 0"},
           {{"synth", Path("x"), "--seed", "one"}, "--seed: found 'one'"}}) {
    const Outcome outcome = Trace(arguments);
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(text));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

}  // namespace
}  // namespace kvsim
