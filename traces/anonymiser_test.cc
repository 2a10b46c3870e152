#include "traces/anonymiser.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/test_traces.h"

namespace kvsim {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::SizeIs;

// The first, second and ninth vectors of the reference implementation: the key
// is the bytes 0 to 15, the text the bytes 0, 1, 2, ….
TEST(SipHashTest, AgreesWithTheReference) {
  const SipKey key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  EXPECT_EQ(SipHash(key, text), 0x726fdb47dd0e0e31u);
  text.push_back(0);
  EXPECT_EQ(SipHash(key, text), 0x74f839c593dc67fdu);
  for (char i = 1; i < 15; ++i) text.push_back(i);
  // The example of the paper's appendix: 15 bytes.
  EXPECT_EQ(SipHash(key, text), 0xa129ca6149be45e5u);
}

std::vector<TraceRequest> Anonymised(const std::string& path,
                                     const std::string& salt) {
  auto reader = OpenTrace(path, {});
  EXPECT_TRUE(reader.ok());
  Anonymiser anonymiser(*std::move(reader), salt);
  std::vector<TraceRequest> rows;
  TraceRequest row;
  while (*anonymiser.Next(&row)) rows.push_back(row);
  return rows;
}

constexpr char kTrace[] =
    R"({"timestamp": 5, "input_length": 1030, "output_length": 3, )"
    R"("hash_ids": [1, 2, 3], "session_id": "bob", "priority": 4}
{"timestamp": 9, "input_length": 1024, "output_length": 0, )"
    R"("hash_ids": [1, 2], "session_id": "bob", "delay": 2}
)";

TEST(AnonymiserTest, OnlyIdsAndTheStartChange) {
  const std::string path = WriteTestFile("named.jsonl", kTrace);
  const std::vector<TraceRequest> before = ReadTrace(path).rows;
  std::vector<TraceRequest> after = Anonymised(path, "pepper");
  ASSERT_THAT(after, SizeIs(2));
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NE(after[i].hash_ids, before[i].hash_ids);
    EXPECT_THAT(after[i].hash_ids, Each(Gt(1000u)));
    EXPECT_EQ(after[i].arrival_ns, before[i].arrival_ns - 5'000'000);
    after[i].hash_ids = before[i].hash_ids;
    after[i].arrival_ns = before[i].arrival_ns;
    EXPECT_EQ(after[i], before[i]);
  }
}

TEST(AnonymiserTest, EqualIdsStayEqualUnderOneSaltOnly) {
  const std::string path = WriteTestFile("named.jsonl", kTrace);
  const std::vector<TraceRequest> a = Anonymised(path, "pepper");
  const std::vector<TraceRequest> b = Anonymised(path, "pepper");
  const std::vector<TraceRequest> c = Anonymised(path, "salt");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a[0].hash_ids[1], a[1].hash_ids[1]);
  EXPECT_NE(a[0].hash_ids[0], a[0].hash_ids[1]);
  EXPECT_NE(a[0].hash_ids[0], c[0].hash_ids[0]);
}

// Two conversations may use the same number for different blocks.
TEST(AnonymiserTest, ScopesStayApartInOneFile) {
  const std::string folder = testing::TempDir() + "/anonymiser_scopes";
  std::filesystem::create_directory(folder);
  const std::string text =
      R"({"block_size": 4, "requests": [{"t": 0, "type": "s", "in": 6, )"
      R"("out": 1, "hash_ids": [1]}]})";
  std::ofstream(folder + "/a.json") << text;
  std::ofstream(folder + "/b.json") << text;
  const std::vector<TraceRequest> rows = Anonymised(folder, "pepper");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].scope, 0u);
  // The whole block, and one for the rest that nobody shares.
  ASSERT_THAT(rows[0].hash_ids, SizeIs(2));
  EXPECT_NE(rows[0].hash_ids[0], rows[1].hash_ids[0]);
  EXPECT_NE(rows[0].hash_ids[1], rows[1].hash_ids[1]);
}

TEST(AnonymiserTest, RowsWithoutIdsGetOnesThatNobodyShares) {
  const std::vector<TraceRequest> rows = Anonymised(
      WriteTestFile("azure.csv",
                    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                    "2023-11-16 18:15:46,700,3\n2023-11-16 18:15:47,7,4"),
      "pepper");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].hash_block, 700);
  EXPECT_EQ(rows[1].hash_block, 512);
  ASSERT_THAT(rows[0].hash_ids, SizeIs(1));
  EXPECT_NE(rows[0].hash_ids[0], rows[1].hash_ids[0]);
}

}  // namespace
}  // namespace kvsim
