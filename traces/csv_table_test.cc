#include "traces/csv_table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/csv_line.h"

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  EXPECT_TRUE(SplitCsvLine(line, &fields).ok()) << line;
  return fields;
}

TEST(SplitCsvLineTest, CutsAtCommasOutsideQuotes) {
  EXPECT_THAT(Split("a,b,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Split(""), ElementsAre(""));
  EXPECT_THAT(Split(",a,"), ElementsAre("", "a", ""));
  EXPECT_THAT(Split("\"a,b\", c"), ElementsAre("a,b", " c"));
  EXPECT_THAT(Split("\"say \"\"x\"\"\",\"\""), ElementsAre("say \"x\"", ""));
}

TEST(SplitCsvLineTest, RefusesLooseQuotes) {
  std::vector<std::string> fields;
  for (const char* bad : {"a\"b", "\"a", "\"a\"b,c", "x,\"", "\"a\" ,b"}) {
    EXPECT_FALSE(SplitCsvLine(bad, &fields).ok()) << bad;
  }
}

class CsvTableTest : public testing::Test {
 protected:
  void Header(const std::string& line) {
    table_.ReadHeader(line, {"A", "B"}, {"f.csv", 1, "", "", ""}, &problems_);
  }
  bool Record(const std::string& line) {
    return table_.ReadRecord(line, {"f.csv", 2, "", "", ""}, &problems_);
  }

  CsvTable table_;
  std::vector<TraceProblem> problems_;
};

TEST_F(CsvTableTest, ColumnsAreFoundByNameInAnyOrder) {
  Header("\xef\xbb\xbfX,B,A");
  ASSERT_THAT(problems_, IsEmpty());
  ASSERT_TRUE(Record("x,2,1.5"));
  EXPECT_EQ(table_.Integer("B", 0, 9, "a digit"), 2);
  EXPECT_EQ(table_.Seconds("A"), 1'500'000'000);
  EXPECT_EQ(table_.OptionalSeconds("C"), 0);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(CsvTableTest, ABadHeaderNamesTheColumn) {
  Header("A,A,C");
  ASSERT_THAT(problems_, SizeIs(2));
  EXPECT_THAT(problems_[0].ToString(),
              HasSubstr("f.csv:1: field `A`: found the column twice"));
  EXPECT_THAT(problems_[1].ToString(), HasSubstr("field `B`: found 'A,A,C'"));
}

TEST_F(CsvTableTest, ARecordOfAnotherWidthIsRefused) {
  Header("A,B");
  EXPECT_FALSE(Record("1,2,3"));
  EXPECT_FALSE(Record("1"));
  EXPECT_THAT(problems_[0].ToString(),
              HasSubstr("f.csv:2: found 3 fields in '1,2,3'; accepted: 2"));
}

// Every way in which a number can be none: sign, exponent, space, fraction,
// NaN, 2^63, nothing.
TEST_F(CsvTableTest, NumbersAreStrict) {
  Header("A,B");
  for (const char* bad : {"-1", "+1", "1e3", " 1", "1 ", "1.5", "nan", "inf",
                          "9223372036854775808", "", "0x1", "10"}) {
    problems_.clear();
    ASSERT_TRUE(Record(std::string(bad) + ",1"));
    EXPECT_EQ(table_.Integer("A", 0, 9, "a digit"), 0) << bad;
    EXPECT_THAT(problems_, SizeIs(1)) << bad;
  }
  for (const char* bad : {"-1", "1e3", "nan", "", "2305843010", ".", "1,"}) {
    problems_.clear();
    if (!Record("\"" + std::string(bad) + "\",1")) continue;
    EXPECT_EQ(table_.Seconds("A"), 0) << bad;
    EXPECT_THAT(problems_, SizeIs(1)) << bad;
  }
}

}  // namespace
}  // namespace kvsim
