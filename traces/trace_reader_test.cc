#include "traces/trace_reader.h"

#include <zstd.h>

#include <string>
#include <vector>

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

std::string Line(int64_t timestamp_ms) {
  return absl::StrCat("{\"timestamp\": ", timestamp_ms,
                      ", \"input_length\": 1, \"output_length\": 1, "
                      "\"hash_ids\": [0]}\n");
}

std::string Zstd(const std::string& text) {
  std::string compressed(ZSTD_compressBound(text.size()), '\0');
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(),
                                  text.data(), text.size(), 1));
  return compressed;
}

TraceFormat FormatOf(const std::string& path) {
  const auto reader = OpenTrace(path, TraceOptions());
  return reader.ok() ? (*reader)->format() : TraceFormat::kAuto;
}

TEST(OpenTraceTest, TheContentTellsTheFormatWhateverTheName) {
  EXPECT_EQ(FormatOf(WriteTestFile("a.txt", Line(0))), TraceFormat::kMooncake);
  EXPECT_EQ(FormatOf(WriteTestFile("b.csv",
                                   "\n{\n\"block_size\": 64,\n"
                                   "\"requests\": []}")),
            TraceFormat::kWeka);
  EXPECT_EQ(FormatOf(WriteTestFile("c",
                                   "{\"hash_ids\": [1], \"input_length\": 1, "
                                   "\"output_length\": 1, \"timestamp\": 0}")),
            TraceFormat::kMooncake);
}

TEST(OpenTraceTest, ReadsZstdOfAnyNumberOfFrames) {
  const std::string path =
      WriteTestFile("z.jsonl", Zstd(Line(0)) + Zstd(Line(1)) + Zstd(Line(2)));
  const ReadResult result = ReadTrace(path);
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.rows, SizeIs(3));
}

TEST(OpenTraceTest, TruncatedZstdIsRefused) {
  std::string lines;
  for (int i = 0; i < 100000; ++i) lines += Line(i);
  const std::string whole = Zstd(lines);
  const std::string path =
      WriteTestFile("cut.jsonl.zst", whole.substr(0, whole.size() - 5));
  const ReadResult result = ReadTrace(path);
  ASSERT_THAT(result.errors, SizeIs(1));
  EXPECT_THAT(result.errors[0],
              AllOf(HasSubstr("cut.jsonl.zst"), HasSubstr("cut off")));
}

TEST(OpenTraceTest, RefusesWhatIsNoTrace) {
  EXPECT_THAT(ReadTrace("/no/such/file").errors,
              ElementsAre(AllOf(HasSubstr("/no/such/file"),
                                HasSubstr("No such file"))));
  EXPECT_THAT(ReadTrace(WriteTestFile("x.gz", "\x1f\x8b\x08 zipped")).errors,
              ElementsAre(HasSubstr("gzip")));
  EXPECT_THAT(
      ReadTrace(WriteTestFile("x.csv", "TIMESTAMP,ContextTokens\n1,2")).errors,
      ElementsAre(AllOf(HasSubstr("TIMESTAMP,ContextTokens"),
                        HasSubstr("--trace-format"))));
  EXPECT_THAT(ReadTrace(WriteTestFile("zeros", std::string(300, '\0'))).errors,
              ElementsAre(HasSubstr("\\x00")));
}

TEST(OpenTraceTest, AnEmptyTraceNeedsItsFormat) {
  const std::string path = WriteTestFile("empty.jsonl", "");
  EXPECT_THAT(ReadTrace(path).errors, ElementsAre(HasSubstr("no data")));
  TraceOptions options;
  options.format = TraceFormat::kMooncake;
  EXPECT_THAT(ReadTrace(path, options).errors, IsEmpty());
  options.format = TraceFormat::kKvsim;
  EXPECT_THAT(ReadTrace(path, options).errors,
              ElementsAre(HasSubstr("no kvsim trace header")));
  options.format = TraceFormat::kWeka;
  EXPECT_THAT(ReadTrace(path, options).errors, SizeIs(1));
}

TEST(OpenTraceTest, LimitGivesTheFirstRows) {
  const std::string path =
      WriteTestFile("limit.jsonl", Line(0) + Line(1) + "damaged\n");
  TraceOptions options;
  options.limit = 2;
  const ReadResult result = ReadTrace(path, options);
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.rows, SizeIs(2));
  options.limit = 0;
  EXPECT_THAT(ReadTrace(path, options).rows, IsEmpty());
}

// 10 ms and 11 ms at 3/2 of the rate: 6.666666 ms and 7.333333 ms, rounded
// down.
TEST(OpenTraceTest, RateScaleIsExact) {
  const std::string path = WriteTestFile("rate.jsonl", Line(10) + Line(11));
  TraceOptions options;
  options.rate_scale = *ParseRateScale("3/2");
  const ReadResult result = ReadTrace(path, options);
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_EQ(result.rows[0].arrival_ns, 6'666'666);
  EXPECT_EQ(result.rows[1].arrival_ns, 7'333'333);
}

TEST(RateScaleTest, ReadsWholeNumbersDecimalsAndFractions) {
  const auto parts = [](const char* text) {
    const absl::StatusOr<RateScale> scale = ParseRateScale(text);
    return scale.ok() ? absl::StrCat(scale->numerator, "/", scale->denominator)
                      : std::string("refused");
  };
  EXPECT_EQ(parts("2"), "2/1");
  EXPECT_EQ(parts("0.25"), "25/100");
  EXPECT_EQ(parts("3/2"), "3/2");
  for (const char* bad : {"", "0", "-1", "1/0", "1e3", "nan", "1.", "1/2/3",
                          "0x2", "9999999999", " 2"}) {
    EXPECT_EQ(parts(bad), "refused") << bad;
  }
}

TEST(RateScaleTest, KeepsOrderAndNeverOverflows) {
  const RateScale slow = *ParseRateScale("0.000000001");
  EXPECT_EQ(slow.Apply(0), 0);
  EXPECT_EQ(slow.Apply(1), 1'000'000'000);
  EXPECT_EQ(slow.Apply(int64_t{1} << 61), int64_t{1} << 61);
}

TraceSummary PublicSummary(const std::string& path) {
  TraceStats stats;
  const ReadResult result = ReadTrace(path);
  EXPECT_THAT(result.errors, IsEmpty());
  for (const TraceRequest& row : result.rows) stats.Add(row);
  return stats.Summary();
}

// The published conversation trace of Mooncake (FAST'25): counts by an
// independent program.
TEST(PublicTraceTest, MooncakeConversation) {
  const std::string path = PublicTrace("mooncake_conversation.jsonl");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const TraceSummary summary = PublicSummary(path);
  EXPECT_EQ(summary.rows, 12'031);
  EXPECT_EQ(summary.last_arrival_ns, 3'536'999'000'000);
  EXPECT_EQ(summary.distinct_arrivals, 1'180);
  EXPECT_EQ(summary.input.total, 144'793'823);
  EXPECT_EQ(summary.output.total, 4'122'048);
  EXPECT_EQ(summary.input.min, 891);
  EXPECT_EQ(summary.input.p50, 6'909);
  EXPECT_EQ(summary.input.p99, 85'399);
  EXPECT_EQ(summary.input.max, 126'195);
  EXPECT_EQ(summary.output.min, 1);
  EXPECT_EQ(summary.output.max, 2'000);
  EXPECT_EQ(summary.block_references, 288'500);
  EXPECT_EQ(summary.distinct_blocks, 182'790);
  EXPECT_EQ(summary.hit_blocks, 105'710);  // 36.64 %
  EXPECT_EQ(summary.partial_tail_reuses, 118);
  EXPECT_EQ(summary.parent_conflicts, 0);
  EXPECT_EQ(summary.repeated_ids, 0);
}

TEST(PublicTraceTest, MooncakeSynthetic) {
  const std::string path = PublicTrace("mooncake_synthetic.jsonl");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const TraceSummary summary = PublicSummary(path);
  EXPECT_EQ(summary.rows, 3'993);
  EXPECT_EQ(summary.input.total / summary.rows, 15'325);
  EXPECT_LE(summary.last_arrival_ns, 1'022'025'000'000);
  EXPECT_EQ(summary.input.min, 13);
  EXPECT_EQ(summary.input.max, 191'378);
  EXPECT_EQ(summary.block_references, 121'877);
  EXPECT_EQ(summary.distinct_blocks, 43'924);
  EXPECT_EQ(summary.hit_blocks, 77'953);  // 63.96 %
  EXPECT_EQ(summary.partial_tail_reuses, 213);
  EXPECT_EQ(summary.parent_conflicts, 0);
}

}  // namespace
}  // namespace kvsim
