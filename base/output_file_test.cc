#include "base/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

TEST(OutputFileTest, WritesWhatItWasGiven) {
  const std::string path = ::testing::TempDir() + "/output_file_test.txt";
  auto file = OutputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->Write("one\n");
  (*file)->Write("");
  (*file)->Write("two\n");
  EXPECT_TRUE((*file)->Close().ok());
  EXPECT_TRUE((*file)->Close().ok());
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), "one\ntwo\n");
}

TEST(OutputFileTest, AFullDiskIsAnErrorAtTheLatestWhenClosed) {
  auto file = OutputFile::Open("/dev/full");
  ASSERT_TRUE(file.ok());
  (*file)->Write("lost");
  const absl::Status closed = (*file)->Close();
  EXPECT_EQ(closed.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(closed.message()),
              HasSubstr("/dev/full: No space left on device"));
}

TEST(OutputFileTest, AFullDiskIsSeenWhileWritingAndKept) {
  auto file = OutputFile::Open("/dev/full");
  ASSERT_TRUE(file.ok());
  const std::string megabyte(1 << 20, 'x');
  (*file)->Write(megabyte);
  (*file)->Write(megabyte);
  EXPECT_FALSE((*file)->status().ok());
  EXPECT_FALSE((*file)->Close().ok());
}

TEST(OutputFileTest, APlaceThatDoesNotExistIsNamed) {
  const auto file = OutputFile::Open("/no/such/folder/out.csv");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("/no/such/folder/out.csv: No such file"));
}

}  // namespace
}  // namespace kvsim
