// Traces in Mooncake's shape: kvcache.ai, Dynamo, AIPerf, delta, timed trace,
// and Bailian. Samples are made up.
#include "traces/mooncake_dialects.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/test_traces.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ReadResult Detected(const std::string& text, TraceFormat format) {
  return ReadDetected("dialect.jsonl", text, format);
}

ReadResult Named(const std::string& text, TraceFormat format) {
  TraceOptions options;
  options.format = format;
  return ReadTrace(WriteTestFile("dialect.jsonl", text), options);
}

TEST(KvcacheAiTest, RowsHaveBlockSizesAndNoTimes) {
  const ReadResult result =
      Detected(R"({"block_size": 64, "hash_ids": [18446744073709551615, 2], )"
               R"("input_length": 128}
{"block_size": 64, "hash_ids": [7], "input_length": 100, "timestamp": 5}
{"block_size": 64, "hash_ids": [7, 8], "input_length": 100, "output_length": 3}
)",
               TraceFormat::kKvcacheAi);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_THAT(result.rows[0].hash_ids, ElementsAre(18446744073709551615u, 2));
  EXPECT_EQ(result.rows[0].hash_block, 64);
  EXPECT_EQ(result.rows[0].output_length, 0);
  EXPECT_EQ(result.rows[1].arrival_ns, 5'000'000);
  EXPECT_EQ(result.rows[1].full_hash_blocks(), 1);
  EXPECT_FALSE(result.rows[1].last_id_is_partial());
  EXPECT_EQ(result.rows[2].arrival_ns, 5'000'000);  // with the row before it
  EXPECT_TRUE(result.rows[2].last_id_is_partial());
}

TEST(KvcacheAiTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"({"block_size": 64, "hash_ids": [1], "input_length": 200}
{"hash_ids": [1], "input_length": 1}
{"block_size": 0, "hash_ids": [-1], "input_length": 1}
)",
      TraceFormat::kKvcacheAi);
  EXPECT_THAT(result.errors,
              ElementsAre(AllOf(HasSubstr(":1: field `hash_ids`: found 1 ids"),
                                HasSubstr("3 or 4 ids: one per 64 tokens")),
                          HasSubstr(":2: field `block_size`: found no value"),
                          HasSubstr(":3: field `block_size`: found '0'"),
                          HasSubstr(":3: field `hash_ids[0]`: found '-1'")));
}

TEST(DynamoMooncakeTest, ReadsDynamosNamesAndLaterTurnsWithoutTimes) {
  const ReadResult result =
      Detected(R"({"request_id": "a", "session_id": "s", "input_tokens": 513, )"
               R"("output_tokens": 4, "hash_ids": [1, 2], "created_time": 10}
{"session_id": "s", "input_length": 1024, "output_length": 1, )"
               R"("hash_ids": [1, 3], "delay_ms": 2.5}
{"session_id": "t", "input_tokens": 3, "output_tokens": 1, "timestamp": 40}
)",
               TraceFormat::kDynamoMooncake);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_EQ(result.rows[0].arrival_ns, 10'000'000);
  EXPECT_EQ(result.rows[0].hash_block, 512);
  EXPECT_EQ(result.rows[1].previous, 0);
  EXPECT_EQ(result.rows[1].turn, 1);
  EXPECT_EQ(result.rows[1].think_time_ns, 2'500'000);
  EXPECT_EQ(result.rows[1].arrival_ns, 10'000'000);
  EXPECT_EQ(result.rows[2].arrival_ns, 40'000'000);
  EXPECT_EQ(result.rows[2].hash_block, 0);
  EXPECT_EQ(result.rows[2].session, 1);
}

TEST(DynamoMooncakeTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"({"input_tokens": 513, "output_tokens": 4, "hash_ids": [1]}
{"input_tokens": 1.5, "created_time": -1, "delay_ms": "soon"}
)",
      TraceFormat::kDynamoMooncake);
  EXPECT_THAT(
      result.errors,
      ElementsAre(AllOf(HasSubstr(":1: field `timestamp`: found no value"),
                        HasSubstr("session's first turn")),
                  HasSubstr(":2: field `created_time`: found '-1'"),
                  HasSubstr(":2: field `delay_ms`: found '\"soon\"'"),
                  HasSubstr(":2: field `input_tokens`: found '1.5'"),
                  HasSubstr(":2: field `output_length`: found no value")));
}

TEST(AiperfTest, RowsMayLackIdsTimesAndOutputs) {
  const ReadResult result = Detected(
      R"({"input_length": 100, "session_id": 3}
{"input_length": 700, "output_length": 9, "hash_ids": [4, 5], )"
      R"("timestamp": 7, "session_id": 3, "delay": 1}
)",
      TraceFormat::kAiperf);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].hash_block, 0);
  EXPECT_EQ(result.rows[0].arrival_ns, 0);
  EXPECT_EQ(result.rows[1].hash_block, 512);
  EXPECT_EQ(result.rows[1].previous, 0);
  EXPECT_EQ(result.rows[1].think_time_ns, 1'000'000);
}

TEST(AiperfTest, TextIsRefusedBecauseThereIsNoTokenizer) {
  const ReadResult result =
      Detected("{\"text_input\": \"hello\", \"output_length\": 1}\n",
               TraceFormat::kAiperf);
  EXPECT_THAT(result.errors, ElementsAre(AllOf(HasSubstr("`text_input`"),
                                               HasSubstr("no tokenizer"))));
}

// Blocks of 4 tokens. Session a: 6 tokens (id 1 whole, id 2 half), an answer of
// 3, then 5 more (ids 3, 4): 6 + 3 + 5 = 14 tokens, 3 whole blocks.
constexpr char kDelta[] =
    R"({"session_id": "a", "timestamp": 0, "input_length": 6, )"
    R"("output_length": 3, "hash_ids": [1, 2], "block_size": 4}
{"session_id": "b", "timestamp": 1, "input_length": 4, "output_length": 4, )"
    R"("hash_ids": [1], "block_size": 4}
{"session_id": "a", "delay": 5, "input_length": 5, "output_length": 1, )"
    R"("hash_ids": [3, 4], "block_size": 4}
{"session_id": "b", "delay": 5, "input_length": 4, "output_length": 1, )"
    R"("hash_ids": [3], "block_size": 4}
{"timestamp": 2, "input_length": 4, "output_length": 1, "hash_ids": [1], )"
    R"("block_size": 4}
)";

TEST(DeltaTest, TurnsAddUpToWholePrompts) {
  const ReadResult result = Named(kDelta, TraceFormat::kMooncakeDelta);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(5));
  const std::vector<TraceRequest>& rows = result.rows;
  EXPECT_EQ(rows[0].input_length, 6);
  EXPECT_THAT(rows[0].hash_ids, SizeIs(1));
  EXPECT_EQ(rows[2].input_length, 14);
  ASSERT_THAT(rows[2].hash_ids, SizeIs(3));
  EXPECT_EQ(rows[2].previous, 0);
  EXPECT_EQ(rows[2].think_time_ns, 5'000'000);
  // Id 1 begins both sessions and the lone row: shared. What follows is not.
  EXPECT_EQ(rows[0].hash_ids[0], rows[2].hash_ids[0]);
  EXPECT_EQ(rows[0].hash_ids[0], rows[1].hash_ids[0]);
  EXPECT_EQ(rows[0].hash_ids[0], rows[4].hash_ids[0]);
  // Session b: 4 + 4 (answer) + 4 = 12 tokens. Id 3 stands behind other tokens
  // than in session a, so no block behind the first is shared.
  ASSERT_THAT(rows[3].hash_ids, SizeIs(3));
  EXPECT_NE(rows[2].hash_ids[1], rows[3].hash_ids[1]);
  EXPECT_NE(rows[2].hash_ids[2], rows[3].hash_ids[2]);
}

TEST(DeltaTest, AMalformedFileNamesEveryFault) {
  const ReadResult result =
      Named(R"({"session_id": "a", "timestamp": 0, "input_length": 6, )"
            R"("output_length": 1099511627776, "hash_ids": [1]}
{"session_id": "a", "input_length": 4, "output_length": 1, "hash_ids": [1], )"
            R"("block_size": 4}
)",
            TraceFormat::kMooncakeDelta);
  EXPECT_THAT(result.errors,
              ElementsAre(AllOf(HasSubstr(":1: field `input_length`"),
                                HasSubstr("16777216 blocks of 512")),
                          HasSubstr(":2: field `block_size`: found 4;")));
}

TEST(TimedTraceTest, ContentTellsBlocksOf16AndTimesAreSeconds) {
  const ReadResult result =
      Detected(R"({"timestamp": 1.5, "input_length": 40, "output_length": 2, )"
               R"("hash_ids": [1, 2, 3]}
{"timestamp": 2, "input_length": 40, "output_length": 2, "hash_ids": [1, 2]}
)",
               TraceFormat::kTimedTrace);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].arrival_ns, 1'500'000'000);
  EXPECT_EQ(result.rows[0].hash_block, 16);
  EXPECT_TRUE(result.rows[0].last_id_is_partial());
  EXPECT_FALSE(result.rows[1].last_id_is_partial());
}

TEST(TimedTraceTest, FieldsBlocksAndUnitsCanBeRenamed) {
  TraceOptions options;
  options.format = TraceFormat::kTimedTrace;
  options.timed_trace = {.timestamp = "ts",
                         .input_length = "in",
                         .output_length = "out",
                         .hash_ids = "blocks",
                         .hash_block = 8,
                         .unit_ns = 1'000'000};
  const ReadResult result =
      ReadTrace(WriteTestFile("timed.jsonl",
                              R"({"ts": 3, "in": 9, "out": 1, "blocks": [5, 6]}
{"ts": 4, "in": 9, "out": 1, "hash_ids": [5, 6]}
)"),
                options);
  ASSERT_THAT(result.rows, SizeIs(1));
  EXPECT_EQ(result.rows[0].arrival_ns, 3'000'000);
  EXPECT_EQ(result.rows[0].hash_block, 8);
  EXPECT_THAT(result.errors,
              ElementsAre(HasSubstr(":2: field `blocks`: found no value")));
}

constexpr char kBailian[] =
    R"({"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.25, )"
    R"("input_length": 33, "output_length": 5, "type": "text", "turn": 1, )"
    R"("hash_ids": [10, 11, 12]}
{"chat_id": 2, "parent_chat_id": -1, "timestamp": 1, "input_length": 16, )"
    R"("output_length": 5, "type": "file", "turn": 1, "hash_ids": [10]}
{"chat_id": 3, "parent_chat_id": 1, "timestamp": 60.5, "input_length": 32, )"
    R"("output_length": 0, "type": "text", "turn": 2, "hash_ids": [10, 11]}
{"chat_id": 4, "parent_chat_id": 999, "timestamp": 61, "input_length": 16, )"
    R"("output_length": 1, "type": "text", "turn": 2, "hash_ids": [13]}
)";

TEST(BailianTest, TurnsFollowTheirParents) {
  const ReadResult result = Detected(kBailian, TraceFormat::kBailian);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(4));
  EXPECT_EQ(result.rows[0].arrival_ns, 250'000'000);
  EXPECT_EQ(result.rows[0].hash_block, 16);
  EXPECT_EQ(result.rows[1].session, 1);
  EXPECT_EQ(result.rows[2].session, 0);
  EXPECT_EQ(result.rows[2].turn, 1);
  EXPECT_EQ(result.rows[2].previous, 0);
  EXPECT_EQ(result.rows[2].think_time_ns, 60'250'000'000);
  // Its parent is not in the file: a session of its own.
  EXPECT_EQ(result.rows[3].session, 2);
  EXPECT_EQ(result.rows[3].previous, -1);
}

TEST(BailianTest, AMalformedFileNamesEveryFault) {
  const ReadResult result =
      Detected(R"({"chat_id": -4, "parent_chat_id": "x", "timestamp": null, )"
               R"("input_length": 33, "output_length": 5, "hash_ids": [1]}
)",
               TraceFormat::kBailian);
  EXPECT_THAT(result.errors,
              ElementsAre(HasSubstr("field `chat_id`: found '-4'"),
                          HasSubstr("field `parent_chat_id`: found '\"x\"'"),
                          HasSubstr("field `timestamp`: found no value")));
}

// Mooncake's own rows stay Mooncake's, with block sizes and sessions too.
TEST(DetectTraceFormatTest, MooncakeRowsWithExtrasStayMooncake) {
  for (const char* text :
       {R"({"timestamp": 0, "input_length": 600, "output_length": 1, )"
        R"("hash_ids": [1, 2]})",
        R"({"timestamp": 0, "input_length": 10, "output_length": 1, )"
        R"("hash_ids": [1]})",
        R"({"timestamp": 0, "input_length": 40, "output_length": 1, )"
        R"("hash_ids": [1, 2, 3], "block_size": 16})",
        R"({"hash_ids": [1], "session_id": null, "input_length": 1, )"
        R"("output_length": 1, "timestamp": 0, "delay": 3})",
        R"({"timestamp": 0, "hash_ids": [1, )"}) {
    EXPECT_EQ(DetectTraceFormat(text), TraceFormat::kMooncake) << text;
  }
  for (const char* text : {"", "{}", "hello", "\"a\"", "{\"a\": [1, {}]}"}) {
    EXPECT_EQ(DetectTraceFormat(text), TraceFormat::kAuto) << text;
  }
}

}  // namespace
}  // namespace kvsim
