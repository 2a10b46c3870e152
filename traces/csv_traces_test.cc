// The Azure and BurstGPT traces, as files.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/test_traces.h"
#include "traces/trace_stats.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// CRLF and no final newline, as the published files have them.
constexpr char kAzure[] =
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 23:59:59.9999999,120,7\r\n"
    "2023-11-17 00:00:00.0000001,3000,0";

constexpr char kBurst[] =
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,"
    "Total tokens,Log Type\n"
    "5,10,2.5,ChatGPT,472,18,490,Conversation log\n"
    "5.25,,1,GPT-4,30,0,30,API log\n"
    "9,10,1,ChatGPT,600,20,620,Conversation log\n";

ReadResult ReadText(const std::string& text, TraceFormat format) {
  return ReadDetected("trace.csv", text, format);
}

TEST(AzureTest, TimesAreExactAndStartAtTheFirstRow) {
  const ReadResult result = ReadText(kAzure, TraceFormat::kAzure);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].arrival_ns, 0);
  EXPECT_EQ(result.rows[1].arrival_ns, 200);
  EXPECT_EQ(result.rows[1].input_length, 3000);
  EXPECT_EQ(result.rows[1].output_length, 0);
  EXPECT_EQ(result.rows[1].hash_block, 0);
  EXPECT_THAT(result.rows[1].hash_ids, IsEmpty());
  EXPECT_EQ(result.rows[1].session, -1);
}

TEST(AzureTest, AMalformedFileNamesEveryFault) {
  const ReadResult result = ReadText(
      absl::StrCat(kAzure,
                   "\r\n2023-11-17 00:00:01,0,1\r\n2023-11-17 00:00:02,x\r\n"
                   "today,5,-3\n2023-11-16 00:00:00,1,1\n"
                   "2023-11-17 00:00:03,9223372036854775808,1\n"),
      TraceFormat::kAzure);
  EXPECT_THAT(result.rows, SizeIs(2));
  EXPECT_THAT(
      result.errors,
      ElementsAre(
          AllOf(HasSubstr(":4: field `ContextTokens`: found '0'")),
          HasSubstr(":5: found 2 fields"),
          HasSubstr(":6: field `TIMESTAMP`: found 'today'; accepted: a time"),
          HasSubstr(":6: field `GeneratedTokens`: found '-3'"),
          AllOf(HasSubstr(":7: field `timestamp`"), HasSubstr("--sort")),
          HasSubstr(":8: field `ContextTokens`: found '9223372036854775808'")));
}

TEST(AzureTest, SortingMakesTheEarliestRowTheFirst) {
  TraceOptions options;
  options.allow_disorder = true;
  const ReadResult result = ReadTrace(
      WriteTestFile("unsorted.csv",
                    absl::StrCat(kAzure, "\n2023-11-16 23:59:58,1,1")),
      options);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_EQ(result.rows[0].input_length, 1);
  EXPECT_EQ(result.rows[1].arrival_ns, 1'999'999'900);
}

TEST(BurstGptTest, SessionsWaitFromTheEndOfTheAnswer) {
  const ReadResult result = ReadText(kBurst, TraceFormat::kBurstGpt);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(3));
  EXPECT_EQ(result.rows[0].arrival_ns, 0);
  EXPECT_EQ(result.rows[1].arrival_ns, 250'000'000);
  EXPECT_EQ(result.rows[1].session, -1);
  EXPECT_EQ(result.rows[1].output_length, 0);
  EXPECT_EQ(result.rows[2].session, result.rows[0].session);
  EXPECT_EQ(result.rows[2].turn, 1);
  EXPECT_EQ(result.rows[2].previous, 0);
  // 9 s - (5 s + 2.5 s).
  EXPECT_EQ(result.rows[2].think_time_ns, 1'500'000'000);
}

TEST(BurstGptTest, OlderReleasesLackSessionAndElapsedTime) {
  const ReadResult result = ReadText(
      "\xef\xbb\xbfTimestamp,Model,Request tokens,Response tokens,"
      "Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n",
      TraceFormat::kBurstGpt);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(1));
  EXPECT_EQ(result.rows[0].input_length, 472);
  EXPECT_EQ(result.rows[0].session, -1);
}

TEST(BurstGptTest, AMalformedFileNamesEveryFault) {
  const ReadResult result =
      ReadText(absl::StrCat(kBurst, "nan,1,1,GPT-4,1,1,2,API log\n",
                            "10,1,1,\"GPT-4,1,1,2,API log\n"),
               TraceFormat::kBurstGpt);
  EXPECT_THAT(result.errors,
              ElementsAre(HasSubstr(":5: field `Timestamp`: found 'nan'"),
                          HasSubstr("a quote that does not close")));
}

TEST(CsvTracesTest, AFileWithoutAHeaderIsRefused) {
  TraceOptions options;
  for (const TraceFormat format :
       {TraceFormat::kAzure, TraceFormat::kBurstGpt}) {
    options.format = format;
    EXPECT_THAT(ReadTrace(WriteTestFile("empty.csv", ""), options).errors,
                ElementsAre(HasSubstr("no header")));
    EXPECT_THAT(ReadTrace(WriteTestFile("x.csv", "1,2,3\n"), options).errors,
                SizeIs(3));
  }
}

TraceSummary Summarise(const std::string& path) {
  TraceStats stats;
  const ReadResult result = ReadTrace(path);
  EXPECT_THAT(result.errors, IsEmpty());
  for (const TraceRequest& row : result.rows) stats.Add(row);
  return stats.Summary();
}

// Azure 2023: counts by an independent program. The conversation file spans
// 18:15:46.6805900 to 19:14:08.4025270.
TEST(PublicTraceTest, AzureConversation) {
  const std::string path = PublicTrace("azure_2023_conv.csv");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const TraceSummary summary = Summarise(path);
  EXPECT_EQ(summary.rows, 19'366);
  EXPECT_EQ(summary.input.p50, 1'020);
  EXPECT_EQ(summary.input.p99, 4'142);
  EXPECT_EQ(summary.input.min, 2);
  EXPECT_EQ(summary.input.max, 14'050);
  EXPECT_EQ(summary.output.p50, 129);
  EXPECT_EQ(summary.output.min, 7);
  EXPECT_EQ(summary.output.max, 1'000);
  EXPECT_EQ(summary.first_arrival_ns, 0);
  EXPECT_EQ(summary.last_arrival_ns / 1'000'000'000, 3'501);
}

TEST(PublicTraceTest, AzureCode) {
  const std::string path = PublicTrace("azure_2023_code.csv");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const TraceSummary summary = Summarise(path);
  EXPECT_EQ(summary.rows, 8'819);
  EXPECT_EQ(summary.input.p50, 1'469);
  EXPECT_EQ(summary.input.max, 7'437);
  EXPECT_EQ(summary.output.p50, 13);
  EXPECT_EQ(summary.output.max, 1'899);
}

}  // namespace
}  // namespace kvsim
