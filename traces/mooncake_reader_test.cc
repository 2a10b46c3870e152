#include "traces/mooncake_reader.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/mooncake_row.h"
#include "traces/test_traces.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kGood[] =
    R"({"timestamp": 27, "input_length": 1025, "output_length": 5, )"
    R"("hash_ids": [7, 8, 9]})";

TraceOptions Mooncake() {
  TraceOptions options;
  options.format = TraceFormat::kMooncake;
  return options;
}

ReadResult ReadText(const std::string& text) {
  return ReadTrace(WriteTestFile("trace.jsonl", text), Mooncake());
}

TEST(MooncakeReaderTest, ReadsTheFieldsOfARow) {
  const ReadResult result = ReadText(absl::StrCat(kGood, "\n"));
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(1));
  const TraceRequest& row = result.rows[0];
  EXPECT_EQ(row.id, 0);
  EXPECT_EQ(row.arrival_ns, 27'000'000);
  EXPECT_EQ(row.input_length, 1025);
  EXPECT_EQ(row.output_length, 5);
  EXPECT_EQ(row.hash_block, 512);
  EXPECT_THAT(row.hash_ids, ElementsAre(7, 8, 9));
  EXPECT_EQ(row.full_hash_blocks(), 2);
  EXPECT_TRUE(row.last_id_is_partial());
  EXPECT_EQ(row.session, -1);
  EXPECT_EQ(row.previous, -1);
}

TEST(MooncakeReaderTest, AcceptsAnyFieldOrderUnknownFieldsAndWhiteSpace) {
  const ReadResult result = ReadText(
      "\t{ \"hash_ids\" :[ 1 ,2 ] , \"output_length\": 0,\"x\": {\"y\": [1.5]},"
      "\"input_length\":600,\"priority\": -3,\"timestamp\":1 } \n");
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(1));
  EXPECT_EQ(result.rows[0].priority, -3);
  EXPECT_EQ(result.rows[0].output_length, 0);
}

// round(timestamp * 1000) microseconds, halves to even as in Python.
TEST(MooncakeReaderTest, RoundsFractionalMillisecondsToMicroseconds) {
  for (const auto& [text, ns] :
       std::vector<std::pair<std::string, int64_t>>{{"1.5", 1'500'000},
                                                    {"0.0004", 0},
                                                    {"0.0006", 1'000},
                                                    {"0.0025", 2'000},
                                                    {"0.0035", 4'000},
                                                    {"2e3", 2'000'000'000}}) {
    const ReadResult result =
        ReadText(absl::StrCat("{\"timestamp\": ", text,
                              ", \"input_length\": 1, \"output_length\": 1, "
                              "\"hash_ids\": [0]}"));
    ASSERT_THAT(result.rows, SizeIs(1)) << text;
    EXPECT_EQ(result.rows[0].arrival_ns, ns) << text;
  }
}

TEST(MooncakeReaderTest, AcceptsCrlfAndAMissingFinalNewline) {
  const ReadResult result = ReadText(absl::StrCat(kGood, "\r\n\r\n", kGood));
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.rows, SizeIs(2));
}

TEST(MooncakeReaderTest, ReadsIdsOf64Bits) {
  const ReadResult result = ReadText(
      "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 1, "
      "\"hash_ids\": [18446744073709551615, 9223372036854775808]}");
  ASSERT_THAT(result.rows, SizeIs(1));
  EXPECT_THAT(result.rows[0].hash_ids,
              ElementsAre(18446744073709551615u, 9223372036854775808u));
}

// A prompt of 1.3 M * 512 tokens: about 10 MB in one line, between short ones.
TEST(MooncakeReaderTest, ReadsALineOfTenMegabytes) {
  constexpr int64_t kIds = 1'300'000;
  std::string line =
      absl::StrCat("{\"timestamp\": 27, \"input_length\": ", kIds * 512,
                   ", \"output_length\": 1, ", "\"hash_ids\": [0");
  for (int64_t id = 1; id < kIds; ++id) absl::StrAppend(&line, ", ", id);
  line += "]}";
  ASSERT_GT(line.size(), 10'000'000u);
  const ReadResult result =
      ReadText(absl::StrCat(kGood, "\n", line, "\n", kGood, "\n"));
  EXPECT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_EQ(result.rows[1].hash_ids.back(), uint64_t{kIds - 1});
  EXPECT_EQ(result.rows[2].input_length, 1025);
}

TEST(MooncakeReaderTest, ReadsBlockSizePerRow) {
  const ReadResult result = ReadText(
      "{\"timestamp\": 0, \"input_length\": 33, \"output_length\": 1, "
      "\"hash_ids\": [1, 2, 3], \"block_size\": 16}");
  ASSERT_THAT(result.rows, SizeIs(1));
  EXPECT_EQ(result.rows[0].hash_block, 16);
}

TEST(MooncakeReaderTest, FollowsSessions) {
  const auto row = [](const char* session, int delay) {
    return absl::StrCat("{\"timestamp\": 1, \"input_length\": 1, ",
                        "\"output_length\": 1, \"hash_ids\": [0], ",
                        "\"session_id\": ", session, ", \"delay\": ", delay,
                        "}\n");
  };
  const ReadResult result =
      ReadText(absl::StrCat(row("\"a\"", 0), row("5", 0), row("\"a\"", 2),
                            row("\"5\"", 3), row("null", 0)));
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(5));
  EXPECT_EQ(result.rows[2].session, result.rows[0].session);
  EXPECT_EQ(result.rows[2].previous, 0);
  EXPECT_EQ(result.rows[2].turn, 1);
  EXPECT_EQ(result.rows[2].think_time_ns, 2'000'000);
  EXPECT_EQ(result.rows[3].previous, 1);  // 5 and "5" are one session
  EXPECT_EQ(result.rows[4].session, -1);
}

struct BadRow {
  const char* name;
  std::string line;
  std::vector<std::string> in_message;
};

std::string Row(const std::string& timestamp, const std::string& input,
                const std::string& output, const std::string& ids) {
  return absl::StrCat(
      "{\"timestamp\": ", timestamp, ", \"input_length\": ", input,
      ", \"output_length\": ", output, ", \"hash_ids\": ", ids, "}");
}

std::vector<BadRow> BadRows() {
  return {
      {"NaN", Row("NaN", "1", "1", "[0]"), {"`timestamp`", "NaN"}},
      {"Infinity",
       Row("0", "Infinity", "1", "[0]"),
       {"`input_length`", "Infinity"}},
      {"negative timestamp",
       Row("-1", "1", "1", "[0]"),
       {"`timestamp`", "'-1'", "0 to 2305843009213"}},
      {"negative length",
       Row("0", "-5", "1", "[0]"),
       {"`input_length`", "'-5'", "1 to 1099511627776"}},
      {"empty prompt", Row("0", "0", "1", "[]"), {"`input_length`", "'0'"}},
      {"2^63",
       Row("0", "9223372036854775808", "1", "[0]"),
       {"`input_length`", "'9223372036854775808'"}},
      {"above 2^64",
       Row("0", "1", "99999999999999999999", "[0]"),
       {"`output_length`", "99999999999999999999"}},
      {"2^40 + 1",
       Row("0", "1", "1099511627777", "[0]"),
       {"`output_length`", "'1099511627777'", "0 to 1099511627776"}},
      {"fraction", Row("0", "1.5", "1", "[0]"), {"`input_length`", "'1.5'"}},
      {"text", Row("0", "\"7\"", "1", "[0]"), {"`input_length`", "'\"7\"'"}},
      {"too few ids",
       Row("0", "1025", "1", "[1, 2]"),
       {"`hash_ids`", "2 ids", "3 ids", "1025"}},
      {"too many ids",
       Row("0", "512", "1", "[1, 2]"),
       {"`hash_ids`", "2 ids", "1 ids"}},
      {"negative id",
       Row("0", "600", "1", "[1, -2]"),
       {"`hash_ids[1]`", "'-2'"}},
      {"id of 65 bits",
       Row("0", "600", "1", "[1, 18446744073709551616]"),
       {"`hash_ids[1]`", "18446744073709551616"}},
      {"ids are no list", Row("0", "1", "1", "7"), {"`hash_ids`", "'7'"}},
      {"missing field",
       "{\"timestamp\": 0, \"input_length\": 1, \"hash_ids\": [0]}",
       {"`output_length`", "no value"}},
      {"field twice",
       "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, "
       "\"input_length\": 2, \"hash_ids\": [0]}",
       {"`input_length`", "more than once"}},
      {"block size 0",
       "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, "
       "\"hash_ids\": [0], \"block_size\": 0}",
       {"`block_size`", "'0'", "1 to 1073741824"}},
      {"truncated", std::string(kGood).substr(0, 60), {"JSON"}},
      {"cut in a number list", std::string(kGood).substr(0, 81), {"JSON"}},
      {"two objects", absl::StrCat(kGood, " ", kGood), {"JSON"}},
      {"text behind", absl::StrCat(kGood, " x"), {"JSON"}},
      {"not UTF-8", "{\"x\": \"\xff\"}", {"\\xff", "offset 7", "UTF-8"}},
      {"no object", "[1, 2]", {"'[1, 2]'", "one JSON object a line"}},
      {"leading zero", Row("0", "01", "1", "[0]"), {"JSON"}},
      {"trailing comma", Row("0", "1", "1", "[0,]"), {"JSON"}},
      {"damaged null", Row("nul", "1", "1", "[0]"), {"`timestamp`", "nul"}},
      {"damaged true", Row("0", "tru", "1", "[0]"), {"`input_length`", "tru"}},
      {"zero byte", std::string("{\0}", 3), {"\\x00"}},
  };
}

// Each bad row is reported with file, line, field and value, and the rows
// around it are read.
TEST(MooncakeReaderTest, NamesPlaceFieldAndValueOfEveryBadRow) {
  for (const BadRow& bad : BadRows()) {
    SCOPED_TRACE(bad.name);
    const std::string good = Row("0", "1", "1", "[0]");
    const ReadResult result =
        ReadText(absl::StrCat(good, "\n", bad.line, "\n", good, "\n"));
    EXPECT_THAT(result.rows, SizeIs(2));
    ASSERT_THAT(result.errors, SizeIs(1));
    EXPECT_THAT(result.errors[0],
                AllOf(HasSubstr("trace.jsonl:2: "), HasSubstr("accepted: ")));
    for (const std::string& part : bad.in_message) {
      EXPECT_THAT(result.errors[0], HasSubstr(part));
    }
  }
}

TEST(MooncakeReaderTest, NamesAllProblemsOfARow) {
  const ReadResult result = ReadText(Row("-1", "-2", "-3", "[-4]"));
  EXPECT_THAT(result.rows, IsEmpty());
  EXPECT_THAT(
      result.errors,
      ElementsAre(HasSubstr("`timestamp`"), HasSubstr("`input_length`"),
                  HasSubstr("`output_length`"), HasSubstr("`hash_ids[0]`")));
}

TEST(MooncakeReaderTest, RefusesUnsortedTimestampsUnlessAllowed) {
  const std::string text =
      absl::StrCat(Row("5", "1", "1", "[0]"), "\n", Row("4", "1", "1", "[0]"),
                   "\n", Row("5", "1", "1", "[0]"), "\n");
  const ReadResult strict = ReadText(text);
  EXPECT_THAT(strict.rows, SizeIs(2));
  EXPECT_THAT(
      strict.errors,
      ElementsAre(AllOf(HasSubstr(":2: field `timestamp`: found 4.000 ms"),
                        HasSubstr("5.000 ms"), HasSubstr("--sort"))));
  TraceOptions options = Mooncake();
  options.allow_disorder = true;
  const ReadResult lenient =
      ReadTrace(WriteTestFile("trace.jsonl", text), options);
  EXPECT_THAT(lenient.rows, SizeIs(3));
  EXPECT_THAT(lenient.errors, IsEmpty());
}

TEST(MooncakeReaderTest, EqualTimestampsKeepRowOrder) {
  const ReadResult result = ReadText(absl::StrCat(
      Row("5", "10", "1", "[0]"), "\n", Row("5", "11", "1", "[0]"), "\n"));
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].input_length, 10);
  EXPECT_EQ(result.rows[1].input_length, 11);
  EXPECT_EQ(result.rows[1].id, 1);
}

TEST(MooncakeReaderTest, ALateSessionIsRefused) {
  const ReadResult result = ReadText(absl::StrCat(
      kGood, "\n",
      "{\"timestamp\": 27, \"input_length\": 1, \"output_length\": 1, "
      "\"hash_ids\": [0], \"session_id\": 3}"));
  EXPECT_THAT(result.errors, ElementsAre(HasSubstr("`session_id`")));
}

// The fast way gives the same row as the checked way, or gives up.
TEST(MooncakeRowTest, FastAndCheckedDecodingAgree) {
  std::vector<std::string> lines = {kGood};
  for (const BadRow& bad : BadRows()) lines.push_back(bad.line);
  std::mt19937_64 random(11);
  const char kBytes[] = "0123456789 ,:[]{}\"-.eE\ttf\\";
  for (int i = 0; i < 20000;
       ++i) {  // a good line with one or two bytes changed
    std::string line = kGood;
    for (int edits = 1 + static_cast<int>(random() % 2); edits > 0; --edits) {
      const size_t at = random() % line.size();
      const char byte = kBytes[random() % (sizeof(kBytes) - 1)];
      switch (random() % 3) {
        case 0:
          line[at] = byte;
          break;
        case 1:
          line.insert(at, 1, byte);
          break;
        default:
          line.erase(at, 1);
      }
    }
    lines.push_back(std::move(line));
  }
  MooncakeRowDecoder decoder;
  int accepted = 0;
  for (const std::string& line : lines) {
    const std::string padded = line + std::string(64, '\0');
    const absl::string_view text(padded.data(), line.size());
    TraceRequest fast;
    TraceRequest checked;
    MooncakeSession session;
    std::vector<TraceProblem> problems;
    const bool is_fast = decoder.DecodeFast(text, &fast);
    decoder.DecodeChecked(text, TraceProblem(), &checked, &session, &problems);
    if (!is_fast) continue;
    ++accepted;
    ASSERT_THAT(problems, IsEmpty()) << line;
    ASSERT_FALSE(session.is_given) << line;
    ASSERT_EQ(fast, checked) << line;
  }
  EXPECT_GT(accepted, 1000);  // the loop tests something
}

}  // namespace
}  // namespace kvsim
