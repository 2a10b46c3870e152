// What no reader may do with damaged input: stop the program, lose the place,
// or take it for something else. One table of formats, one of kinds of damage.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/test_traces.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A good line of each format, TIME and TOKENS where its time and its prompt's
// length stand.
struct Format {
  TraceFormat format;
  const char* header;
  const char* line;
  bool is_sorted = false;        // the reader sorts
  bool may_lack_length = false;  // the ids say how long the prompt is
};

constexpr Format kFormats[] = {
    {TraceFormat::kMooncake, "",
     R"({"timestamp": TIME, "input_length": TOKENS, "output_length": 1, )"
     R"("hash_ids": [1]})"},
    {TraceFormat::kAzure, "TIMESTAMP,ContextTokens,GeneratedTokens\n",
     "2023-11-16 18:15:0TIME,TOKENS,1"},
    {TraceFormat::kBurstGpt, "Timestamp,Request tokens,Response tokens\n",
     "TIME,TOKENS,1"},
    {TraceFormat::kBailian, "",
     R"({"chat_id": 1, "parent_chat_id": -1, "timestamp": TIME, )"
     R"("input_length": TOKENS, "output_length": 1, "hash_ids": [1]})"},
    {TraceFormat::kKvcacheAi, "",
     R"({"timestamp": TIME, "input_length": TOKENS, "block_size": 512, )"
     R"("hash_ids": [1]})"},
    {TraceFormat::kDynamoMooncake, "",
     R"({"created_time": TIME, "input_tokens": TOKENS, "output_tokens": 1, )"
     R"("hash_ids": [1]})"},
    {TraceFormat::kAiperf, "",
     R"({"timestamp": TIME, "input_length": TOKENS})"},
    {TraceFormat::kMooncakeDelta, "",
     R"({"timestamp": TIME, "input_length": TOKENS, "output_length": 1, )"
     R"("hash_ids": [1]})"},
    {TraceFormat::kTimedTrace, "",
     R"({"timestamp": TIME, "input_length": TOKENS, "output_length": 1, )"
     R"("hash_ids": [1]})"},
    {TraceFormat::kDynamo, "",
     R"({"event_type": "request_end", "request": {"input_tokens": TOKENS, )"
     R"("output_tokens": 1, "request_received_ms": TIME}})",
     true},
    {TraceFormat::kLmcache, "",
     R"({"timestamp": TIME, "seq_len": TOKENS, "chunk_hashes": []})", true,
     true},
    {TraceFormat::kUcm, "",
     R"({"op_type": "load", "timestamp": TIME, "tokens_num": TOKENS, )"
     R"("block_hashes": []})",
     true, true},
    {TraceFormat::kKvEvents, "",
     R"([TIME, [{"type": "BlockStored", "block_hashes": [1], )"
     R"("block_size": TOKENS}]])",
     true},
    {TraceFormat::kOpenAi, "",
     R"({"created": TIME, "usage": {"prompt_tokens": TOKENS}})", true},
};

std::string Line(const Format& format, const std::string& time,
                 const std::string& tokens) {
  return absl::StrReplaceAll(format.line, {{"TIME", time}, {"TOKENS", tokens}});
}

std::string Good(const Format& format, int time = 1) {
  return Line(format, absl::StrCat(time), "7");
}

ReadResult Read(const Format& format, const std::string& lines) {
  TraceOptions options;
  options.format = format.format;
  return ReadTrace(WriteTestFile("bad", absl::StrCat(format.header, lines)),
                   options);
}

int FirstLine(const Format& format) { return format.header[0] == 0 ? 1 : 2; }

class BadInputTest : public testing::TestWithParam<Format> {};

TEST_P(BadInputTest, LineEndsDoNotMatter) {
  const Format& format = GetParam();
  for (const char* end : {"\n", "\r\n", "", "\n\n \r\n"}) {
    const ReadResult result = Read(format, Good(format) + end);
    EXPECT_THAT(result.errors, IsEmpty()) << end;
    ASSERT_THAT(result.rows, SizeIs(1));
    EXPECT_GT(result.rows[0].input_length, 0);
  }
}

TEST_P(BadInputTest, AFileWithoutRowsIsATraceOfNone) {
  const ReadResult result = Read(GetParam(), "");
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.rows, IsEmpty());
}

// Values that are no length or no time: the message has file, line and value,
// and the next line is read.
TEST_P(BadInputTest, BadValuesAreNamed) {
  const Format& format = GetParam();
  for (const char* value :
       {"-1", "9223372036854775808", "1e400", "0", "1.5", "\"x\"", "NaN",
        "Infinity", "null", "true", "[]", "{}"}) {
    if (format.may_lack_length && value == std::string("null")) continue;
    const ReadResult result =
        Read(format, Line(format, "1", value) + "\n" + Good(format, 2) + "\n");
    ASSERT_THAT(result.errors, SizeIs(Gt(0u))) << value;
    EXPECT_THAT(result.errors[0],
                AllOf(HasSubstr(absl::StrCat("bad:", FirstLine(format), ": ")),
                      HasSubstr("found "), HasSubstr("accepted: ")));
    EXPECT_THAT(result.rows, SizeIs(1)) << value;
  }
  for (const char* value : {"-1", "1e400", "\"x\"", "NaN", "1e30", "-0.5"}) {
    const ReadResult result = Read(format, Line(format, value, "7"));
    EXPECT_THAT(result.errors, SizeIs(1)) << value;
    EXPECT_THAT(result.rows, IsEmpty()) << value;
  }
}

TEST_P(BadInputTest, TruncatedLinesAreErrors) {
  const Format& format = GetParam();
  const std::string good = Good(format);
  // A CSV line that lacks the end of its last number is another good line.
  for (size_t size = 1; size + 1 < good.size(); ++size) {
    const ReadResult result = Read(format, good.substr(0, size));
    EXPECT_THAT(result.errors, SizeIs(Gt(0u))) << good.substr(0, size);
    EXPECT_THAT(result.rows, IsEmpty());
  }
}

TEST_P(BadInputTest, BytesThatAreNotUtf8AreErrors) {
  const Format& format = GetParam();
  std::string line = Good(format);
  line.insert(line.size() / 2, "\xff");
  const ReadResult result = Read(format, line + "\n" + Good(format, 2));
  ASSERT_THAT(result.errors, SizeIs(Gt(0u)));
  EXPECT_THAT(result.errors[0], AllOf(HasSubstr("\\xff"), HasSubstr("UTF-8")));
  EXPECT_THAT(result.rows, SizeIs(1));
}

TEST_P(BadInputTest, LongLinesAreReadAndQuotedShort) {
  const Format& format = GetParam();
  const std::string junk(10'000'000, 'x');
  const ReadResult result = Read(format, junk + "\n" + Good(format));
  ASSERT_THAT(result.errors, SizeIs(1));
  EXPECT_LT(result.errors[0].size(), 600u);
  EXPECT_THAT(result.rows, SizeIs(1));
  std::string padded = Good(format);
  if (padded[0] == '{') {
    padded.insert(1, absl::StrCat("\"pad\": \"", junk, "\", "));
    EXPECT_THAT(Read(format, padded).rows, SizeIs(1));
  }
}

TEST_P(BadInputTest, DisorderIsRefusedOrSorted) {
  const Format& format = GetParam();
  std::string lines = Good(format, 2) + "\n" + Good(format, 1) + "\n";
  if (format.format == TraceFormat::kKvEvents) return;  // one chain
  const ReadResult result = Read(format, lines);
  if (format.is_sorted) {
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.rows, SizeIs(2));
  } else {
    EXPECT_THAT(result.errors, ElementsAre(AllOf(HasSubstr("`timestamp`"),
                                                 HasSubstr("--sort"))));
  }
}

// A file's beginning may be anything; formats with a detector know their own.
TEST_P(BadInputTest, DetectionReadsAnyBeginning) {
  const Format& format = GetParam();
  const std::string text = absl::StrCat(format.header, Good(format), "\n");
  const bool must_be_named = format.format == TraceFormat::kMooncakeDelta ||
                             format.format == TraceFormat::kTimedTrace;
  if (!must_be_named) {
    EXPECT_STREQ(TraceFormatName(DetectTraceFormat(text)),
                 TraceFormatName(format.format));
  }
  std::mt19937_64 random(static_cast<uint64_t>(format.format));
  for (size_t size = 0; size < text.size(); ++size) {
    DetectTraceFormat(text.substr(0, size));
    std::string changed = text;
    changed[size] = static_cast<char>(random());
    DetectTraceFormat(changed);
  }
}

// Any byte changed to any other: rows or messages, never an end of the program.
TEST_P(BadInputTest, ChangedBytesNeverStopTheProgram) {
  const Format& format = GetParam();
  std::mt19937_64 random(static_cast<uint64_t>(format.format));
  for (int i = 0; i < 300; ++i) {
    std::string lines =
        absl::StrCat(format.header, Good(format), "\n", Good(format, 2), "\n");
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0;
         --changes) {
      lines[random() % lines.size()] = static_cast<char>(random());
    }
    TraceOptions options;
    options.format = format.format;
    const ReadResult result =
        ReadTrace(WriteTestFile("changed", lines), options);
    for (const TraceRequest& row : result.rows) {
      EXPECT_GE(row.arrival_ns, 0);
      EXPECT_GT(row.input_length, 0);
      EXPECT_GE(row.output_length, 0);
      EXPECT_LT(row.previous, row.id);
      EXPECT_EQ(row.hash_block == 0,
                row.hash_ids.empty() && row.hash_block < 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, BadInputTest, testing::ValuesIn(kFormats),
                         [](const testing::TestParamInfo<Format>& info) {
                           return absl::StrReplaceAll(
                               TraceFormatName(info.param.format),
                               {{"-", "_"}});
                         });

}  // namespace
}  // namespace kvsim
