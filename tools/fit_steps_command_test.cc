#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// A server that takes 1000 us + 10 us a token of a prompt + 50 us a request.
std::string TenSteps() {
  std::string text = "decode_requests,note,prefill_tokens,step_us\n";
  for (int i = 0; i < 10; ++i) {
    const int prefill = 100 * (i % 4), decode = 7 * i;
    text += std::to_string(decode) + ",x," + std::to_string(prefill) + "," +
            std::to_string(1000 + 10 * prefill + 50 * decode) + ".0\n";
  }
  return text;
}

// Ten steps, of which the first holds nothing and is passed over: nine are too
// few, so an eleventh is added.
TEST(FitStepsTest, FitsAFileOfSteps) {
  const std::string path =
      WriteTestFile("steps.csv", TenSteps() + "63,x,400,8150\n");
  const Outcome outcome = Kvsim("fit-steps", {path, "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["steps"], 10);
  EXPECT_EQ(json["linear_us"], "base=1000,prefill=10,decode=50,context=0");
  EXPECT_LT(json["error_left_out"]["p90"], 1e-9);
  const Outcome text = Kvsim("fit-steps", {path});
  EXPECT_THAT(text.out, HasSubstr("Fitted to 10 steps of " + path));
  EXPECT_THAT(
      text.out,
      HasSubstr("--linear-us base=1000,prefill=10,decode=50,context=0"));
}

// What a linear replay wrote is fitted back to its coefficients: step times are
// whole nanoseconds of milliseconds, so six digits are right.
TEST(FitStepsTest, ATimelineGivesItsCoefficientsBack) {
  std::string rows;
  for (int i = 0; i < 40; ++i) {
    rows += R"({"timestamp": )" + std::to_string(5 * i) +
            R"(, "input_length": )" + std::to_string(100 + 37 * i) +
            R"(, "output_length": )" + std::to_string(3 + i % 9) +
            R"(, "hash_ids": [)";
    for (int block = 0; block <= (99 + 37 * i) / 512; ++block) {
      rows += (block > 0 ? "," : "") + std::to_string(100 * i + block);
    }
    rows += "]}\n";
  }
  const std::string timeline = testing::TempDir() + "/timeline.csv";
  const std::string truth = "base=5000,prefill=20.5,decode=100,context=0.25";
  const Outcome replay =
      Kvsim("replay", {"--trace", WriteTestFile("trace.jsonl", rows),
                       "--num-gpu-blocks", "500", "--timing", "linear",
                       "--linear-us", truth, "--timeline", timeline});
  ASSERT_EQ(replay.code, kExitOk) << replay.err;
  const Outcome outcome = Kvsim("fit-steps", {timeline, "--json"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_NEAR(json["base_us"], 5000, 5e-2);
  EXPECT_NEAR(json["prefill_token_us"], 20.5, 1e-3);
  EXPECT_NEAR(json["decode_request_us"], 100, 1e-2);
  EXPECT_NEAR(json["context_token_us"], 0.25, 1e-4);
  EXPECT_LT(json["error"]["p90"], 1e-6);
}

TEST(FitStepsTest, NamesPlaceValueAndWhatWouldBeAccepted) {
  const auto fails = [](const std::string& text, const std::string& message) {
    const Outcome outcome =
        Kvsim("fit-steps", {WriteTestFile("bad.csv", text)});
    EXPECT_EQ(outcome.code, kExitBadInput) << text;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << text;
    EXPECT_EQ(outcome.out, "");
  };
  fails("", "no header");
  fails("prefill_tokens\n1\n", "step_us, or start_ns and end_ns");
  fails("step_us\n1\n", "prefill_tokens, decode_requests or context_tokens");
  fails("step_us,prefill_tokens\n5,-1\n", "bad.csv:2: field `prefill_tokens`");
  fails("step_us,prefill_tokens\n0,1\n", "bad.csv:2: field `step_us`");
  fails("start_ns,end_ns,prefill_tokens\n5,5,1\n",
        "bad.csv:2: field `end_ns`: found '5'; accepted: a time after");
  fails("step_us,prefill_tokens\n5,1\n",
        "1 steps are too few to fit: at least 10");
  EXPECT_EQ(Kvsim("fit-steps", {"/nonexistent.csv"}).code, kExitBadInput);
  EXPECT_EQ(Kvsim("fit-steps", {}).code, kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
