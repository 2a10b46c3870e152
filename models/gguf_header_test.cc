// Headers written here byte by byte, read back, cut short and damaged.

#include "models/gguf_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "models/gguf_writer_for_test.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Error(const std::string& bytes) {
  const auto header = ParseGgufHeader(bytes, "m.gguf");
  EXPECT_FALSE(header.ok());
  return std::string(header.status().message());
}

std::string Sample() {
  GgufWriter writer;
  writer.Text("general.architecture", "llama");
  writer.Uint32("llama.block_count", 32);
  writer.Ints("llama.attention.head_count_kv", {8, 0, 8});
  writer.Bools("llama.attention.sliding_window_pattern", {true, false});
  writer.Texts("tokenizer.ggml.tokens", {"a", "", "bc"});
  writer.Floats("tokenizer.ggml.scores", {0.5f, 1.0f});
  writer.Int8("small", -3);
  return writer.Bytes();
}

TEST(GgufHeaderTest, ReadsWhatShapesDependOn) {
  const auto header = ParseGgufHeader(Sample(), "m.gguf");
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->version, 3);
  EXPECT_EQ(header->Text("general.architecture"), "llama");
  EXPECT_EQ(header->Int("llama.block_count"), 32);
  EXPECT_EQ(header->Int("small"), -3);
  EXPECT_THAT(*header->Ints("llama.attention.head_count_kv"),
              ElementsAre(8, 0, 8));
  EXPECT_THAT(*header->Ints("llama.attention.sliding_window_pattern"),
              ElementsAre(1, 0));
  EXPECT_EQ(header->Length("tokenizer.ggml.tokens"), 3);
  EXPECT_EQ(header->Length("tokenizer.ggml.scores"), 2);
  EXPECT_EQ(header->Length("llama.attention.head_count_kv"), 3);
  // Absent keys and other types.
  EXPECT_EQ(header->Int("general.architecture"), std::nullopt);
  EXPECT_EQ(header->Int("nothing"), std::nullopt);
  EXPECT_EQ(header->Ints("tokenizer.ggml.tokens"), nullptr);
}

TEST(GgufHeaderTest, WhatFollowsThePairsIsIgnored) {
  EXPECT_TRUE(ParseGgufHeader(Sample() + "tensor infos", "m").ok());
}

TEST(GgufHeaderTest, EveryTruncationIsAnError) {
  const std::string whole = Sample();
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto header = ParseGgufHeader(whole.substr(0, length), "m.gguf");
    EXPECT_FALSE(header.ok()) << length;
    EXPECT_THAT(std::string(header.status().message()), HasSubstr("m.gguf"));
  }
}

TEST(GgufHeaderTest, OtherFilesAreNamed) {
  EXPECT_THAT(Error("GGML............"),
              AllOf(HasSubstr("no GGUF magic"), HasSubstr("\"GGUF\"")));
  std::string version = Sample();
  version[4] = 1;
  EXPECT_THAT(Error(version), HasSubstr("version 1; accepted: 2 and 3"));
}

// Counts are believed only as far as the bytes at hand.
TEST(GgufHeaderTest, HugeCountsTakeNoMemory) {
  GgufWriter list;
  list.HugeList("x", 4, uint64_t{1} << 60);
  EXPECT_THAT(Error(list.Bytes()),
              AllOf(HasSubstr("key x"), HasSubstr("bytes are left")));
  GgufWriter text;
  text.HugeText("x", uint64_t{1} << 62);
  EXPECT_THAT(Error(text.Bytes()), HasSubstr("a text of"));
  std::string pairs = Sample();
  for (int i = 16; i < 24; ++i) pairs[i] = '\xff';
  EXPECT_THAT(Error(pairs), HasSubstr("key-value pairs"));
}

TEST(GgufHeaderTest, UnknownTypesNestedListsAndDoubleKeysAreRefused) {
  GgufWriter unknown;
  unknown.RawType("x", 13);
  EXPECT_THAT(Error(unknown.Bytes()), HasSubstr("type 13 is unknown"));
  GgufWriter nested;
  nested.HugeList("x", 9, 1);
  EXPECT_THAT(Error(nested.Bytes()), HasSubstr("a list of type 9"));
  GgufWriter twice;
  twice.Uint32("x", 1);
  twice.Uint32("x", 2);
  EXPECT_THAT(Error(twice.Bytes()), HasSubstr("appears twice"));
}

// mt19937's sequence is fixed by the standard.
TEST(GgufHeaderTest, NoDamageCrashesTheReader) {
  std::mt19937 random(7);
  const std::string whole = Sample();
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = whole;
    for (int j = 0; j < 3; ++j) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto header = ParseGgufHeader(bytes, "m");
    EXPECT_EQ(header.ok(), header.status().message().empty());
  }
}

}  // namespace
}  // namespace kvsim
