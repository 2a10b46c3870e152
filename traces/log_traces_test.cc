// Logs of servers and caches that are read as traces. Samples are made up.
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
  return ReadDetected("log.jsonl", text, format);
}

// The second request ended first, so it stands first in the file.
constexpr char kDynamo[] =
    R"({"schema": "dynamo.request.trace.v1", "event_type": "request_end", )"
    R"("event_time_unix_ms": 1700000003000, "agent_context": )"
    R"({"session_id": "s"}, "request": {"request_id": "2", "input_tokens": 33, )"
    R"("output_tokens": 2, "request_received_ms": 1700000002000, )"
    R"("total_time_ms": 1000.5, "replay": {"trace_block_size": 16, )"
    R"("input_length": 33, "input_sequence_hashes": [18446744073709551615, 7]}}}
{"timestamp": "x", "event": {"event_type": "tool_end", )"
    R"("event_time_unix_ms": 1700000003500}}
{"timestamp": "x", "event": {"event_type": "request_end", )"
    R"("event_time_unix_ms": 1700000004000, "agent_context": )"
    R"({"session_id": "s"}, "request": {"input_tokens": 20, )"
    R"("output_tokens": 3, "total_time_ms": 3000}}}
)";

TEST(DynamoTest, RequestsAreSortedByTheTimeTheyWereReceived) {
  const ReadResult result = Detected(kDynamo, TraceFormat::kDynamo);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].input_length, 20);
  EXPECT_EQ(result.rows[0].arrival_ns, 0);
  EXPECT_EQ(result.rows[0].hash_block, 0);
  // Received at ...4,000 - 3,000 = ...1,000 ms and at ...2,000 ms.
  EXPECT_EQ(result.rows[1].arrival_ns, 1'000'000'000);
  EXPECT_EQ(result.rows[1].hash_block, 16);
  EXPECT_THAT(result.rows[1].hash_ids, ElementsAre(18446744073709551615u, 7));
  EXPECT_EQ(result.rows[1].previous, 0);
  EXPECT_EQ(result.rows[1].think_time_ns, 0);  // the turn before still ran
}

// Session s runs from 1 to 2 s and starts session t, which arrives at 3 s and
// again at 5 s.
TEST(DynamoTest, ASubagentFollowsTheTurnThatStartedIt) {
  const auto line = [](const char* session, const char* parent, int second) {
    return absl::StrCat(
        R"({"event_type": "request_end", "agent_context": {"session_id": ")",
        session, R"(", "parent_session_id": )", parent,
        R"(}, "request": {"input_tokens": 9, "output_tokens": 1, )"
        R"("request_received_ms": )",
        1000 * second, R"(, "total_time_ms": 1000}})", "\n");
  };
  const ReadResult result =
      Detected(line("t", "\"s\"", 3) + line("t", "\"s\"", 5) +
                   line("s", "null", 1) + line("u", "\"gone\"", 6),
               TraceFormat::kDynamo);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(4));
  EXPECT_EQ(result.rows[1].session, 1);
  EXPECT_EQ(result.rows[1].turn, 0);
  EXPECT_EQ(result.rows[1].previous, 0);
  EXPECT_EQ(result.rows[1].think_time_ns, 1'000'000'000);
  EXPECT_EQ(result.rows[2].session, 1);
  EXPECT_EQ(result.rows[2].turn, 1);
  EXPECT_EQ(result.rows[2].previous, 1);
  EXPECT_EQ(result.rows[3].previous, -1);
}

TEST(DynamoTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"({"event_type": "request_end", "request": {"output_tokens": -1, )"
      R"("replay": {"trace_block_size": 16, "input_length": 33, )"
      R"("input_sequence_hashes": [1.5]}}}
{"event_type": "request_end", "event_time_unix_ms": 5}
{"event": {"event_time_unix_ms": 5}, "timestamp": 1}
)",
      TraceFormat::kDynamo);
  EXPECT_THAT(result.rows, IsEmpty());
  EXPECT_THAT(
      result.errors,
      ElementsAre(
          HasSubstr(":1: field `event_time_unix_ms`: found no value"),
          HasSubstr(":1: field `request.output_tokens`: found '-1'"),
          HasSubstr(
              ":1: field `request.replay.input_sequence_hashes[0]`: found"),
          HasSubstr(":2: field `request`: found no value"),
          HasSubstr(":3: field `event.event_type`: found no value")));
}

TEST(LmcacheTest, ChunkHashesBecomeIds) {
  const ReadResult result = Detected(
      R"({"timestamp": 1711929600.5, "request_id": "a", "chunk_size": 4, )"
      R"("seq_len": 9, "chunk_hashes": ["0xAB", "0x00ff"]}
{"timestamp": 1711929600.25, "lookup_id": "b", "chunk_hashes": ["ab"]}
{"timestamp": 1711929601, "lookup_id": "c", "chunk_hashes": []}
{"timestamp": 1711929602, "chunk_hashes": [)"
      R"("00112233445566778899aabbccddeeff", "112233445566778899AABBCCDDEEFF"]}
)",
      TraceFormat::kLmcache);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(4));
  // Sorted by time; without chunk_size chunks have 256 tokens.
  EXPECT_EQ(result.rows[0].input_length, 256);
  EXPECT_THAT(result.rows[0].hash_ids, ElementsAre(0xab));
  EXPECT_EQ(result.rows[1].arrival_ns, 250'000'000);
  EXPECT_EQ(result.rows[1].input_length, 9);
  EXPECT_EQ(result.rows[1].hash_block, 4);
  EXPECT_THAT(result.rows[1].hash_ids, ElementsAre(0xab, 0xff));
  EXPECT_EQ(result.rows[1].output_length, 0);
  EXPECT_EQ(result.rows[2].input_length, 1);
  // Case and leading zeros do not matter beyond 64 bits either.
  ASSERT_THAT(result.rows[3].hash_ids, SizeIs(2));
  EXPECT_EQ(result.rows[3].hash_ids[0], result.rows[3].hash_ids[1]);
}

TEST(LmcacheTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"({"timestamp": -1, "chunk_hashes": ["xyz", 1.5]}
{"timestamp": 1, "chunk_size": 4, "seq_len": 9, "chunk_hashes": ["1"]}
{"timestamp": 1, "chunk_hashes": "1"}
)",
      TraceFormat::kLmcache);
  EXPECT_THAT(
      result.errors,
      ElementsAre(HasSubstr(":1: field `timestamp`: found '-1'"),
                  HasSubstr(":1: field `chunk_hashes[0]`: found '\"xyz\"'"),
                  HasSubstr(":1: field `chunk_hashes[1]`: found '1.5'"),
                  AllOf(HasSubstr(":2: field `chunk_hashes`: found 1 ids"),
                        HasSubstr("2 ids: one per whole 4 tokens")),
                  HasSubstr(":3: field `chunk_hashes`: found '\"1\"'")));
}

TEST(UcmTest, LoadsAreRequestsAndDumpsAreNot) {
  const ReadResult result =
      Detected(R"({"timestamp": 10.5, "op_type": "load", "block_size": 128, )"
               R"("block_hashes": ["a1", "b2"], "tokens_num": 300}
{"timestamp": 10.75, "op_type": "dump", "block_size": 128, )"
               R"("block_hashes": ["c3"]}
{"timestamp": 11, "op_type": "load", "hashes": [5]}
)",
               TraceFormat::kUcm);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].input_length, 300);
  EXPECT_THAT(result.rows[0].hash_ids, ElementsAre(0xa1, 0xb2));
  EXPECT_EQ(result.rows[1].hash_block, 512);
  EXPECT_EQ(result.rows[1].arrival_ns, 500'000'000);
}

TEST(UcmTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"({"timestamp": 1, "op_type": null}
{"timestamp": 1, "op_type": "load", "block_size": -5, "tokens_num": 0}
)",
      TraceFormat::kUcm);
  EXPECT_THAT(result.errors,
              ElementsAre(HasSubstr(":1: field `op_type`: found no value"),
                          HasSubstr(":2: field `block_size`: found '-5'"),
                          HasSubstr(":2: field `block_hashes`: found no value"),
                          HasSubstr(":2: field `tokens_num`: found '0'")));
}

// Blocks of 2 tokens. A request stores 1 2, then 3; a second one repeats 1 2
// and adds 4; after a pause a third continues the first's last block.
constexpr char kEvents[] =
    R"([100.5, [{"type": "BlockStored", "block_hashes": [1, 2], )"
    R"("parent_block_hash": null, "token_ids": [9, 9, 9, 9], )"
    R"("block_size": 2}], 0]
[100.75, [["BlockStored", ["3"], "0x2", [9, 9], 2, null, "GPU"], )"
    R"(["BlockRemoved", [7]]], 0]
{"ts": 101, "events": [{"type": "BlockStored", "block_hashes": [4], )"
    R"("parent_block_hash": 2, "block_size": 2, "medium": "GPU"}]}
[101, [{"type": "BlockStored", "block_hashes": [5], "parent_block_hash": 4, )"
    R"("block_size": 2, "medium": "CPU"}, {"type": "BlockStored", )"
    R"("block_hashes": [6], "block_size": 2, "group_idx": 1}, )"
    R"({"type": "BlockStored", "block_hashes": [], "block_size": 2}], 0]
[120, [{"type": "BlockStored", "block_hashes": [-1], )"
    R"("parent_block_hash": 3, "block_size": 2}, )"
    R"({"type": "AllBlocksCleared"}]]
)";

TEST(KvEventsTest, EventsAddUpToRequests) {
  const ReadResult result = Detected(kEvents, TraceFormat::kKvEvents);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_THAT(result.rows[0].hash_ids, ElementsAre(1, 2, 3));
  EXPECT_EQ(result.rows[0].input_length, 6);
  EXPECT_EQ(result.rows[0].arrival_ns, 0);
  EXPECT_THAT(result.rows[1].hash_ids, ElementsAre(1, 2, 4));
  EXPECT_EQ(result.rows[1].arrival_ns, 500'000'000);
  EXPECT_THAT(result.rows[2].hash_ids,
              ElementsAre(1, 2, 3, 18446744073709551615u));
}

TEST(KvEventsTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"([-1, 5]
[1, [{"type": "BlockStored", "block_hashes": [1], "parent_block_hash": 99, )"
      R"("block_size": 2}, 7, {"type": "BlockStored"}]]
[1, [
)",
      TraceFormat::kKvEvents);
  EXPECT_THAT(
      result.errors,
      ElementsAre(
          HasSubstr(":1: field `ts`: found '-1'"),
          HasSubstr(":1: field `events`: found '5'"),
          AllOf(HasSubstr(":2: field `events[0].parent_block_hash`"),
                HasSubstr("must begin before the first request")),
          HasSubstr(":2: field `events[1]`: found '7'"),
          HasSubstr(":2: field `events[2].block_hashes`: found no value"),
          HasSubstr(":2: field `events[2].block_size`: found no value"),
          HasSubstr(":3: ")));
}

TEST(OpenAiTest, UsageCountsAreLengths) {
  const ReadResult result = Detected(
      R"({"id": "x", "created": 1700000005, "usage": {"prompt_tokens": 20, )"
      R"("completion_tokens": 7, "total_tokens": 27}, "session_id": "c"}
{"created_at": "2023-11-14T22:13:21.5Z", "usage": {"input_tokens": 9, )"
      R"("output_tokens": 1}, "conversation_id": "c"}
{"timestamp": 1700000010, "prompt_tokens": 5, "completion_tokens": null}
)",
      TraceFormat::kOpenAi);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  // 1700000000 s is 2023-11-14 22:13:20 UTC.
  EXPECT_EQ(result.rows[0].input_length, 9);
  EXPECT_EQ(result.rows[1].arrival_ns, 3'500'000'000);
  EXPECT_EQ(result.rows[1].output_length, 7);
  EXPECT_EQ(result.rows[1].previous, 0);
  EXPECT_EQ(result.rows[1].think_time_ns, 3'500'000'000);
  EXPECT_EQ(result.rows[2].output_length, 0);
  EXPECT_EQ(result.rows[2].session, -1);
}

TEST(OpenAiTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = Detected(
      R"({"usage": {"prompt_tokens": 0}, "created": "yesterday"}
{"usage": 5, "created": true}
)",
      TraceFormat::kOpenAi);
  EXPECT_THAT(
      result.errors,
      ElementsAre(HasSubstr(":1: field `created`: found 'yesterday'"),
                  HasSubstr(":1: field `usage.prompt_tokens`: found '0'"),
                  HasSubstr(":2: field `created`: found 'true'"),
                  HasSubstr(":2: field `usage`: found '5'"),
                  HasSubstr(":2: field `prompt_tokens`: found no value")));
}

}  // namespace
}  // namespace kvsim
