#include "tools/explain_command.h"

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
using Json = nlohmann::json;
using Flags = std::vector<std::string>;

// Three requests: two twins of 1,024 tokens, then one of 100.
std::string Twins() {
  return WriteTestFile(
      "explain_twins.jsonl",
      R"({"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 100, "output_length": 2, "hash_ids": [3]}
)");
}

Outcome Explain(const std::string& trace, const std::string& request,
                Flags more) {
  more.insert(more.begin(), {"--trace", trace, "--request", request});
  return Kvsim("explain", std::move(more));
}

TEST(ExplainCommandTest, TellsTheSecondTwinsLife) {
  // The first twin's blocks are keyed when scheduled; 63 of them can be hit.
  const Outcome outcome = Explain(Twins(), "1", {"--num-gpu-blocks", "200"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("Request 1: 1,024 prompt tokens, 3 outputs to give"),
            HasSubstr("It did not wait."),
            HasSubstr("hit 1,008 of 1,024 tokens"),
            HasSubstr("rounding: hits are multiples of 16 tokens"),
            HasSubstr("the last token is always computed"),
            HasSubstr("Finished at 0.060 s with 3 outputs")));
}

TEST(ExplainCommandTest, JsonHasTheSame) {
  const Outcome outcome =
      Explain(Twins(), "1",
              {"--json", "--kv-memory", "8MiB", "--kv-bytes-per-token", "100"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json story = Json::parse(outcome.out);
  EXPECT_EQ(story["end"], "finished");
  EXPECT_EQ(story["end_ns"], 60'000'000);
  const Json& hit = story["residencies"][0]["hit"];
  EXPECT_EQ(hit["hit_tokens"], 1008);
  EXPECT_EQ(hit["missed"][0]["cause"], "rounding");
  EXPECT_EQ(hit["missed"][0]["tokens"], 15);
  EXPECT_EQ(hit["missed"][1]["cause"], "last_token");
  // 1,026 rows in 65 blocks of 1,600 B.
  EXPECT_EQ(story["peak_blocks"], 65);
  EXPECT_EQ(story["peak_bytes"], 65 * 1600);
}

TEST(ExplainCommandTest, RefusesWhatIsNoRowOfTheTrace) {
  const Flags pool = {"--num-gpu-blocks", "200"};
  const Outcome beyond = Explain(Twins(), "3", pool);
  EXPECT_EQ(beyond.code, kExitBadInput);
  EXPECT_THAT(
      beyond.err,
      HasSubstr("--request '3': the trace has 3 rows; accepted: 0 to 2"));
  const Outcome word = Explain(Twins(), "worst", pool);
  EXPECT_EQ(word.code, kExitBadInput);
  EXPECT_THAT(word.err, HasSubstr("--request 'worst'"));
  EXPECT_EQ(
      Kvsim("explain", {"--trace", Twins(), "--num-gpu-blocks", "200"}).code,
      kExitWrongUsage);
}

TEST(ExplainCommandTest, TellsOfOneSequence) {
  const Outcome outcome =
      Explain(Twins(), "0", {"--num-gpu-blocks", "200", "--samples", "2"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("--samples '2': a story is of one"));
}

TEST(ExplainCommandTest, SaysWhyARequestNeverRan) {
  const Outcome large = Explain(Twins(), "0", {"--num-gpu-blocks", "50"});
  EXPECT_EQ(large.code, kExitOk);
  EXPECT_THAT(large.out,
              AllOf(HasSubstr("the whole prompt needed 64 blocks with 49 free"),
                    HasSubstr("did not fit the pool of 50 blocks")));
  const Outcome is_long = Explain(
      Twins(), "0", {"--num-gpu-blocks", "200", "--max-model-len", "512"});
  EXPECT_EQ(is_long.code, kExitOk);
  EXPECT_THAT(is_long.out,
              HasSubstr("Refused on arrival: 1,024 prompt tokens"));
}

}  // namespace
}  // namespace kvsim
