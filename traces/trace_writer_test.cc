#include "traces/trace_writer.h"

#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/byte_sink.h"
#include "traces/request_keys.h"
#include "traces/test_traces.h"
#include "traces/token_stream.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

absl::Status WriteRows(const std::vector<TraceRequest>& rows,
                       const TraceWriterOptions& options,
                       const std::string& path) {
  const Compression compression = options.format == TraceFormat::kKvsim
                                      ? Compression::kZstd
                                      : Compression::kNone;
  auto sink = ByteSink::Open(path, compression);
  if (!sink.ok()) return sink.status();
  const auto writer = MakeTraceWriter(options, *std::move(sink));
  for (const TraceRequest& row : rows) {
    if (absl::Status status = writer->Write(row); !status.ok()) return status;
  }
  return writer->Finish();
}

std::string TestPath(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

// Rows that use every field to its limits.
std::vector<TraceRequest> OddRows() {
  std::mt19937_64 random(5);
  std::vector<TraceRequest> rows;
  for (int64_t id = 0; id < 200; ++id) {
    TraceRequest row;
    row.id = id;
    row.arrival_ns = id * 1'234'567'891;
    row.hash_block = std::vector<int64_t>{0, 1, 16, 64, 512}[random() % 5];
    row.input_length = 1 + static_cast<int64_t>(random() % 3000);
    row.output_length = static_cast<int64_t>(random() % 3);
    row.priority = static_cast<int64_t>(random());
    row.scope = random() % 2 == 0 ? 0 : random();
    row.session = static_cast<int64_t>(random() % 4) - 1;
    row.turn = static_cast<int64_t>(random() % 3);
    row.previous = static_cast<int64_t>(random() % (id + 1)) - 1;
    row.think_time_ns = static_cast<int64_t>(random() >> 4);
    if (row.hash_block > 0) {
      int64_t ids = row.input_length / row.hash_block;
      if (row.input_length % row.hash_block != 0) ids += random() % 2;
      for (int64_t i = 0; i < ids; ++i) row.hash_ids.push_back(random());
    }
    rows.push_back(row);
  }
  rows[0].input_length = int64_t{1} << 40;
  rows[0].hash_block = 0;
  rows[0].hash_ids.clear();
  return rows;
}

TEST(TraceWriterTest, TheKvsimFormatKeepsEveryFieldExactly) {
  const std::vector<TraceRequest> rows = OddRows();
  const std::string path = TestPath("rows.kvsim");
  ASSERT_TRUE(WriteRows(rows, {TraceFormat::kKvsim, true, false}, path).ok());
  const ReadResult result = ReadTrace(path);  // recognised by its content
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_EQ(result.rows, rows);
}

TEST(TraceWriterTest, AnEmptyKvsimTraceIsATrace) {
  const std::string path = TestPath("empty.kvsim");
  ASSERT_TRUE(WriteRows({}, {TraceFormat::kKvsim, false, false}, path).ok());
  const ReadResult result = ReadTrace(path);
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.rows, IsEmpty());
}

// Cut anywhere, the file is refused: never silently shorter.
TEST(TraceWriterTest, ATruncatedKvsimTraceIsRefused) {
  std::vector<TraceRequest> rows = OddRows();
  rows.resize(20);
  const std::string whole_path = TestPath("whole.kvsim");
  ASSERT_TRUE(
      WriteRows(rows, {TraceFormat::kKvsim, true, false}, whole_path).ok());
  const std::string whole = ReadTestFile(whole_path);
  for (size_t size = 0; size < whole.size(); size += 1 + size / 20) {
    const std::string path = WriteTestFile("cut.kvsim", whole.substr(0, size));
    EXPECT_THAT(ReadTrace(path).errors, SizeIs(1)) << size;
  }
}

// zstd's check sum notices at the latest, unless the bit means nothing (a
// window size).
TEST(TraceWriterTest, ADamagedKvsimTraceIsRefusedOrRead) {
  std::vector<TraceRequest> rows = OddRows();
  rows.resize(10);
  const std::string whole_path = TestPath("whole.kvsim");
  ASSERT_TRUE(
      WriteRows(rows, {TraceFormat::kKvsim, true, false}, whole_path).ok());
  std::string bytes = ReadTestFile(whole_path);
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 200) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    const ReadResult result =
        ReadTrace(WriteTestFile("damaged.kvsim", damaged));
    EXPECT_TRUE(!result.errors.empty() || result.rows == rows) << at;
  }
}

// Uncompressed records of the format, to damage them at will.
std::string Record(const std::string& message) {
  return static_cast<char>(message.size()) + message;
}
const char kHeader[] = "\x0a\x0f\x0a\x0bkvsim-trace\x10";  // then the version

TEST(TraceWriterTest, ANewerVersionIsRefused) {
  const std::string path =
      WriteTestFile("v2.kvsim", Record(std::string(kHeader) + "\x02"));
  EXPECT_THAT(ReadTrace(path).errors,
              ElementsAre(AllOf(HasSubstr("version 2"),
                                HasSubstr("accepted: version 1"))));
}

TEST(TraceWriterTest, ARowWithBadValuesIsNamed) {
  // input_length 0 (missing), output_length -1.
  const std::string row =
      "\x12\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  const std::string trailer = "\x1a\x02\x08\x01";
  const std::string path =
      WriteTestFile("bad_row.kvsim", Record(std::string(kHeader) + "\x01") +
                                         Record(row) + Record(trailer));
  EXPECT_THAT(ReadTrace(path).errors,
              ElementsAre(HasSubstr(":2: field `input_length`: found 0"),
                          HasSubstr(":2: field `output_length`: found -1")));
}

// Block keys of all rows, renamed in order of appearance: what can hit what.
std::vector<int64_t> Sharing(const std::vector<TraceRequest>& rows,
                             PartialTail tail) {
  TokenStream stream({tail, /*continue_sessions=*/true});
  std::map<uint64_t, int64_t> names;
  std::vector<int64_t> sharing;
  for (const TraceRequest& row : rows) {
    const auto tokens = stream.Add(row);
    RequestKeys keys(tokens.get(), 16);
    for (const uint64_t key : keys.Prefix(row.input_length / 16)) {
      sharing.push_back(
          names.emplace(key, static_cast<int64_t>(names.size())).first->second);
    }
  }
  return sharing;
}

// Conversations of two scopes with whole blocks only, as in WEKA files.
std::vector<TraceRequest> TwoConversations() {
  std::vector<TraceRequest> rows;
  for (int64_t id = 0; id < 8; ++id) {
    TraceRequest row;
    row.id = id;
    row.arrival_ns = id * 1'000'000'000;
    row.scope = 1 + static_cast<uint64_t>(id % 2);
    row.session = id % 2;
    row.turn = id / 2;
    row.previous = id - 2 < 0 ? -1 : id - 2;
    row.think_time_ns = row.turn * 1'500'000;
    row.hash_block = 64;
    row.input_length = 100 + 130 * row.turn;
    row.output_length = 40;
    for (int64_t i = 0; i < row.input_length / 64; ++i) {
      row.hash_ids.push_back(static_cast<uint64_t>(i) + 1);
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(TraceWriterTest, MooncakeFilesKeepSharingTimesAndSessions) {
  const std::vector<TraceRequest> rows = TwoConversations();
  const std::string path = TestPath("rows.jsonl");
  ASSERT_TRUE(
      WriteRows(rows, {TraceFormat::kMooncake, true, false}, path).ok());
  const ReadResult result = ReadTrace(path);
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_THAT(result.rows, SizeIs(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(result.rows[i].arrival_ns, rows[i].arrival_ns);
    EXPECT_EQ(result.rows[i].input_length, rows[i].input_length);
    EXPECT_EQ(result.rows[i].output_length, rows[i].output_length);
    EXPECT_EQ(result.rows[i].session, rows[i].session);
    EXPECT_EQ(result.rows[i].turn, rows[i].turn);
    EXPECT_EQ(result.rows[i].previous, rows[i].previous);
    EXPECT_EQ(result.rows[i].think_time_ns, rows[i].think_time_ns);
  }
  for (const PartialTail tail : {PartialTail::kUnique, PartialTail::kShared}) {
    EXPECT_EQ(Sharing(result.rows, tail), Sharing(rows, tail));
  }
}

TEST(TraceWriterTest, MooncakeFilesAnnounceSessionsThatStartLate) {
  std::vector<TraceRequest> rows = TwoConversations();
  rows[0].session = -1;
  rows[2].previous = -1;
  const std::string path = TestPath("late.jsonl");
  ASSERT_TRUE(
      WriteRows(rows, {TraceFormat::kMooncake, true, false}, path).ok());
  EXPECT_THAT(ReadTrace(path).errors, IsEmpty());
}

TEST(TraceWriterTest, ARowWithoutIdsSharesNothingInAMooncakeFile) {
  std::vector<TraceRequest> rows(2);
  for (int64_t id = 0; id < 2; ++id) {
    rows[id].id = id;
    rows[id].input_length = int64_t{1} << 40;
  }
  const std::string path = TestPath("no_ids.jsonl");
  ASSERT_TRUE(
      WriteRows(rows, {TraceFormat::kMooncake, false, false}, path).ok());
  const ReadResult result = ReadTrace(path);
  ASSERT_THAT(result.rows, SizeIs(2));
  EXPECT_THAT(result.rows[0].hash_ids, SizeIs(1024));  // 2^40 / 2^30
  EXPECT_NE(result.rows[0].hash_ids[0], result.rows[1].hash_ids[0]);
}

TEST(TraceWriterTest, AFullDiskIsAnError) {
  for (const TraceFormat format :
       {TraceFormat::kKvsim, TraceFormat::kMooncake}) {
    const absl::Status status =
        WriteRows(OddRows(), {format, true, false}, "/dev/full");
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
  }
}

TEST(TraceWriterTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THAT(
      std::string(ByteSink::Open("/no/such/folder/x", Compression::kNone)
                      .status()
                      .message()),
      AllOf(HasSubstr("/no/such/folder/x"), HasSubstr("No such file")));
}

TEST(TraceWriterTest, AStreamThatFailsIsAnError) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const auto sink = ByteSink::ToStream(&out, "a stream", Compression::kNone);
  EXPECT_TRUE(sink->Append("x").ok());  // collected
  EXPECT_THAT(std::string(sink->Close().message()), HasSubstr("a stream"));
}

}  // namespace
}  // namespace kvsim
