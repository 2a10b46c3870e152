#include "traces/trace_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

std::string Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(TraceHashTest, IsXxh3OfTheBytes) {
  // XXH3-64 of no bytes, from the algorithm's own test vectors.
  EXPECT_EQ(*TraceHash(Write(::testing::TempDir() + "/empty", "")),
            "2d06800538d394c2");
  EXPECT_NE(*TraceHash(Write(::testing::TempDir() + "/a", "a")),
            *TraceHash(Write(::testing::TempDir() + "/b", "b")));
}

TEST(TraceHashTest, AFolderIsItsNamesAndBytes) {
  const std::string folder = ::testing::TempDir() + "/trace_hash_folder";
  std::filesystem::create_directory(folder);
  Write(folder + "/2.json", "second");
  Write(folder + "/1.json", "first");
  const std::string before = *TraceHash(folder);
  EXPECT_EQ(*TraceHash(folder), before);
  std::filesystem::rename(folder + "/1.json", folder + "/3.json");
  EXPECT_NE(*TraceHash(folder), before);
}

TEST(TraceHashTest, NamesTheFileThatIsMissing) {
  EXPECT_THAT(std::string(TraceHash("/no/such/trace").status().message()),
              HasSubstr("/no/such/trace: No such file"));
}

}  // namespace
}  // namespace kvsim
