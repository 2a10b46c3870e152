#include "traces/weka_reader.h"

#include <algorithm>
#include <filesystem>
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

// "in" of ids.size() blocks of 4 tokens and one token more.
std::string Turn(double t, const std::vector<int>& ids,
                 const std::string& more = "") {
  std::string list;
  for (const int id : ids) {
    absl::StrAppend(&list, list.empty() ? "" : ",", id);
  }
  return absl::StrCat("{\"t\":", t,
                      ",\"type\":\"n\",\"in\":", ids.size() * 4 + 1,
                      ",\"out\":3,\"hash_ids\":[", list, "]", more, "}");
}

std::string Conversation(const std::string& requests) {
  return absl::StrCat("{\"id\":\"x\",\"block_size\":4,\"hash_id_scope\":",
                      "\"local\",\"requests\":[", requests, "]}");
}

ReadResult ReadText(const std::string& text) {
  return ReadTrace(WriteTestFile("weka.json", text));
}

TEST(WekaReaderTest, ReadsTurnsOfAConversation) {
  const ReadResult result = ReadText(Conversation(absl::StrCat(
      Turn(0, {1, 2}, ",\"api_time\":2.5,\"think_time\":0.0"), ",",
      Turn(10.25, {1, 2, 3}, ",\"api_time\":1,\"think_time\":7.0"))));
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(2));
  const TraceRequest& row = result.rows[1];
  EXPECT_EQ(row.id, 1);
  EXPECT_EQ(row.arrival_ns, 10'250'000'000);
  EXPECT_EQ(row.input_length, 13);
  EXPECT_EQ(row.output_length, 3);
  EXPECT_EQ(row.hash_block, 4);
  EXPECT_THAT(row.hash_ids, ElementsAre(1, 2, 3));
  EXPECT_FALSE(row.last_id_is_partial());
  EXPECT_EQ(row.scope, 1u);
  EXPECT_EQ(row.session, 0);
  EXPECT_EQ(row.turn, 1);
  EXPECT_EQ(row.previous, 0);
  EXPECT_EQ(row.think_time_ns, 7'000'000'000);
}

// 10.25 s after 0 s; the answer took 2.5 s, or an unknown time.
TEST(WekaReaderTest, DerivesAMissingThinkTimeFromTheTimes) {
  const ReadResult known = ReadText(Conversation(
      absl::StrCat(Turn(0, {1}, ",\"api_time\":2.5"), ",", Turn(10.25, {1}))));
  ASSERT_THAT(known.rows, SizeIs(2));
  EXPECT_EQ(known.rows[1].think_time_ns, 7'750'000'000);
  const ReadResult unknown =
      ReadText(Conversation(absl::StrCat(Turn(0, {1}), ",", Turn(10.25, {1}))));
  ASSERT_THAT(unknown.rows, SizeIs(2));
  EXPECT_EQ(unknown.rows[1].think_time_ns, 10'250'000'000);
}

// The subagent's times count from its own start (5 s); its first turn follows
// the parent's turn, which ended at 0 + 2 s.
TEST(WekaReaderTest, NestsSubagentsAsSessionsOfTheSameScope) {
  const ReadResult result = ReadText(Conversation(absl::StrCat(
      Turn(0, {1}, ",\"api_time\":2"), ",{\"t\":5,\"type\":\"subagent\",",
      "\"requests\":[", Turn(0, {9}), ",", Turn(4, {9, 10}), "]},",
      Turn(7, {1, 2}, ",\"think_time\":5"))));
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(4));
  const std::vector<TraceRequest>& rows = result.rows;
  EXPECT_EQ(rows[1].arrival_ns, 5'000'000'000);
  EXPECT_EQ(rows[1].session, 1);
  EXPECT_EQ(rows[1].turn, 0);
  EXPECT_EQ(rows[1].previous, 0);
  EXPECT_EQ(rows[1].think_time_ns, 3'000'000'000);
  EXPECT_EQ(rows[2].session, 0);  // 7 s, before the subagent's second turn
  EXPECT_EQ(rows[2].previous, 0);
  EXPECT_EQ(rows[3].arrival_ns, 9'000'000'000);
  EXPECT_EQ(rows[3].previous, 1);
  for (const TraceRequest& row : rows) EXPECT_EQ(row.scope, 1u);
}

TEST(WekaReaderTest, AFolderIsMergedByTimeAndScopesStaySeparate) {
  const std::string folder = testing::TempDir() + "/weka_folder";
  std::filesystem::create_directory(folder);
  WriteTestFile("weka_folder/b.json", Conversation(Turn(0, {1})));
  WriteTestFile("weka_folder/a.json",
                Conversation(absl::StrCat(Turn(0, {1}), ",", Turn(3, {1}))));
  WriteTestFile("weka_folder/notes.txt", "no conversation");
  const ReadResult result = ReadTrace(folder);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_EQ(result.rows[0].scope, 1u);  // a.json
  EXPECT_EQ(result.rows[1].scope, 2u);
  EXPECT_EQ(result.rows[2].scope, 1u);
  EXPECT_EQ(result.rows[1].session, 1);
  EXPECT_EQ(result.rows[2].previous, 0);
}

TEST(WekaReaderTest, AFolderWithoutTracesIsRefused) {
  const std::string folder = testing::TempDir() + "/empty_folder";
  std::filesystem::create_directory(folder);
  EXPECT_THAT(
      ReadTrace(folder).errors,
      ElementsAre(AllOf(HasSubstr("empty_folder"), HasSubstr("no *.json"))));
}

struct BadText {
  const char* name;
  std::string text;
  std::vector<std::string> in_message;
};

TEST(WekaReaderTest, NamesFieldAndValueOfEveryBadEntry) {
  const std::string good = Turn(0, {1});
  const std::vector<BadText> cases = {
      {"too many ids",
       Conversation("{\"t\":0,\"type\":\"s\",\"in\":7,\"out\":1,"
                    "\"hash_ids\":[1,2]}"),
       {"`requests[0].hash_ids`", "2 ids", "1 ids"}},
      {"negative length",
       Conversation(absl::StrCat(good,
                                 ",{\"t\":0,\"type\":\"s\",\"in\":-7,"
                                 "\"out\":1,\"hash_ids\":[]}")),
       {"`requests[1].in`", "'-7'"}},
      {"length of 2^63",
       Conversation("{\"t\":0,\"type\":\"s\",\"in\":9223372036854775808,"
                    "\"out\":1,\"hash_ids\":[]}"),
       {"`requests[0].in`", "'9223372036854775808'"}},
      {"negative time",
       Conversation(Turn(-1, {1})),
       {"`requests[0].t`", "'-1'"}},
      {"times go back",
       Conversation(absl::StrCat(Turn(5, {1}), ",", Turn(4, {1}))),
       {"`requests[1].t`", "4.000 s", "5.000 s"}},
      {"negative think time",
       Conversation(Turn(0, {1}, ",\"think_time\":-2")),
       {"`requests[0].think_time`", "'-2'"}},
      {"unknown type",
       Conversation("{\"t\":0,\"type\":\"q\",\"in\":1,\"out\":1,"
                    "\"hash_ids\":[]}"),
       {"`requests[0].type`", "'\"q\"'", "subagent"}},
      {"entry is no object", Conversation("7"), {"`requests[0]`", "'7'"}},
      {"subagent without requests",
       Conversation("{\"t\":0,\"type\":\"subagent\"}"),
       {"`requests[0].requests`", "no value"}},
      {"bad nested entry",
       Conversation("{\"t\":0,\"type\":\"subagent\",\"requests\":[{\"t\":0,"
                    "\"type\":\"n\",\"in\":0,\"out\":1,\"hash_ids\":[]}]}"),
       {"`requests[0].requests[0].in`", "'0'"}},
      {"block size 0",
       "{\"block_size\":0,\"requests\":[]}",
       {"`block_size`", "'0'"}},
      {"no block size", "{\"requests\":[]}", {"`block_size`", "no value"}},
      {"global ids",
       "{\"block_size\":4,\"hash_id_scope\":\"global\",\"requests\":[]}",
       {"`hash_id_scope`", "global"}},
      {"requests are no list",
       "{\"block_size\":4,\"requests\":3}",
       {"`requests`", "'3'"}},
      {"truncated", Conversation(good).substr(0, 70), {"JSON"}},
      {"not UTF-8", "{\"requests\":[],\"id\":\"\xc3\x28\"}", {"UTF-8"}},
      {"NaN", "{\"requests\":[],\"block_size\":NaN}", {"`block_size`", "NaN"}},
  };
  for (const BadText& bad : cases) {
    SCOPED_TRACE(bad.name);
    const ReadResult result = ReadText(bad.text);
    ASSERT_THAT(result.errors, SizeIs(1));
    EXPECT_THAT(result.errors[0],
                AllOf(HasSubstr("weka.json: "), HasSubstr("accepted: ")));
    for (const std::string& part : bad.in_message) {
      EXPECT_THAT(result.errors[0], HasSubstr(part));
    }
  }
}

TEST(WekaReaderTest, TimesThatAddUpBeyondTheLimitAreRefused) {
  std::string nested = Turn(2e9, {1});
  for (int i = 0; i < 5; ++i) {
    nested = absl::StrCat("{\"t\":2000000000,\"type\":\"subagent\",",
                          "\"requests\":[", nested, "]}");
  }
  EXPECT_THAT(ReadText(Conversation(nested)).errors,
              ElementsAre(HasSubstr(".t`: found 4000000000.000 s")));
}

TEST(WekaReaderTest, EndlessNestingIsRefused) {
  std::string nested = Turn(0, {1});
  for (int i = 0; i < 40; ++i) {
    nested = absl::StrCat("{\"t\":0,\"type\":\"subagent\",\"requests\":[",
                          nested, "]}");
  }
  EXPECT_THAT(ReadText(Conversation(nested)).errors,
              ElementsAre(HasSubstr("at most 32 levels")));
}

// Public files, figures by an independent count of the JSON: 122 turns of the
// conversation, 50 of its four subagents.
TEST(WekaReaderTest, ReadsAPublicConversation) {
  const std::string path = PublicTrace("weka_0010.json");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const ReadResult result = ReadTrace(path);
  ASSERT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.rows, SizeIs(172));
  int64_t input = 0;
  int64_t output = 0;
  size_t ids = 0;
  for (const TraceRequest& row : result.rows) {
    input += row.input_length;
    output += row.output_length;
    ids += row.hash_ids.size();
  }
  EXPECT_EQ(input, 15'068'078);
  EXPECT_EQ(output, 101'388);
  EXPECT_EQ(ids, 235'356u);
}

// The four largest public conversations at hand: turns and longest prompt.
TEST(WekaReaderTest, ReadsTheLargestPublicConversations) {
  struct Largest {
    const char* name;
    size_t turns;
    int64_t longest;
  };
  for (const Largest& file : {Largest{"weka_0231.json", 5, 878'882},
                              {"weka_0177.json", 4, 868'539},
                              {"weka_0221.json", 5, 864'156},
                              {"weka_0061.json", 6, 838'246}}) {
    const std::string path = PublicTrace(file.name);
    if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
    const ReadResult result = ReadTrace(path);
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.rows, SizeIs(file.turns)) << file.name;
    int64_t longest = 0;
    for (const TraceRequest& row : result.rows) {
      longest = std::max(longest, row.input_length);
    }
    EXPECT_EQ(longest, file.longest) << file.name;
  }
}

}  // namespace
}  // namespace kvsim
