#include "models/cache_layout.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

SequenceLength Length(int64_t tokens, int64_t generated = 0) {
  SequenceLength length;
  length.tokens = Tokens(tokens);
  length.generated = Tokens(generated);
  return length;
}

// A tensor of one-byte entries, so that bytes are entries.
CacheTensor Counting(Retention retention, int64_t tokens_per_entry = 1) {
  CacheTensor tensor;
  tensor.name = "t";
  tensor.elements = 1;
  tensor.dtype = DType::kUint8;
  tensor.tokens_per_entry = tokens_per_entry;
  tensor.retention = retention;
  return tensor;
}

CacheLayout One(CacheTensor tensor) {
  CacheLayout layout;
  layout.layers.emplace_back();
  layout.layers[0].tensors.push_back(std::move(tensor));
  return layout;
}

TEST(CacheLayoutTest, FullHistoryKeepsEveryToken) {
  const CacheTensor tensor = Counting({});
  EXPECT_EQ(tensor.EntriesAt(Length(0)), 0);
  EXPECT_EQ(tensor.EntriesAt(Length(1)), 1);
  EXPECT_EQ(tensor.EntriesAt(Length(1'000'000'000)), 1'000'000'000);
  EXPECT_TRUE(tensor.GrowsWithHistory());
}

TEST(CacheLayoutTest, CompressedEntriesCountBegunGroups) {
  const CacheTensor tensor = Counting({}, 4);
  EXPECT_EQ(tensor.EntriesAt(Length(0)), 0);
  EXPECT_EQ(tensor.EntriesAt(Length(1)), 1);
  EXPECT_EQ(tensor.EntriesAt(Length(4)), 1);
  EXPECT_EQ(tensor.EntriesAt(Length(5)), 2);
  EXPECT_EQ(tensor.BytesPerToken(), 0.25);
}

TEST(CacheLayoutTest, WindowKeepsSinksAndTheLastTokens) {
  const CacheTensor tensor =
      Counting({.kind = RetentionKind::kLastWindow, .window = 8, .sinks = 2});
  EXPECT_EQ(tensor.EntriesAt(Length(9)), 9);
  EXPECT_EQ(tensor.EntriesAt(Length(10)), 10);
  EXPECT_EQ(tensor.EntriesAt(Length(11)), 10);
  EXPECT_FALSE(tensor.GrowsWithHistory());
  EXPECT_EQ(tensor.FixedBytes(Tokens(0)), Bytes(10));
}

TEST(CacheLayoutTest, ChunkStartsAnewAfterItsLastToken) {
  const CacheTensor tensor =
      Counting({.kind = RetentionKind::kCurrentChunk, .chunk = 8});
  EXPECT_EQ(tensor.EntriesAt(Length(0)), 0);
  EXPECT_EQ(tensor.EntriesAt(Length(8)), 8);
  EXPECT_EQ(tensor.EntriesAt(Length(9)), 1);
  EXPECT_EQ(tensor.EntriesAt(Length(17)), 1);
  EXPECT_EQ(tensor.FixedBytes(Tokens(0)), Bytes(8));
}

TEST(CacheLayoutTest, PromptWindowKeepsThePrompt) {
  const CacheTensor tensor =
      Counting({.kind = RetentionKind::kPromptAndLastWindow, .window = 8});
  EXPECT_EQ(tensor.EntriesAt(Length(100)), 100);      // all prompt
  EXPECT_EQ(tensor.EntriesAt(Length(105, 5)), 105);   // window not full
  EXPECT_EQ(tensor.EntriesAt(Length(150, 50)), 108);  // 42 fell out
}

TEST(CacheLayoutTest, StateDoesNotDependOnLength) {
  const CacheTensor tensor =
      Counting({.kind = RetentionKind::kLatestState}, kPerSequence);
  EXPECT_EQ(tensor.EntriesAt(Length(0)), 1);
  EXPECT_EQ(tensor.EntriesAt(Length(1'000'000)), 1);
  EXPECT_EQ(tensor.FixedBytes(Tokens(0)), Bytes(1));
  EXPECT_EQ(tensor.BytesPerToken(), 0);
}

TEST(CacheLayoutTest, EncoderTensorsFollowTheEncoder) {
  CacheTensor tensor = Counting({});
  tensor.source = TokenSource::kEncoder;
  CacheLayout layout = One(tensor);
  layout.default_encoder_tokens = Tokens(1500);
  EXPECT_EQ(layout.BytesAt(Tokens(10)), Bytes(1500));
  EXPECT_EQ(layout.FixedBytes(), Bytes(1500));
  EXPECT_EQ(layout.BytesPerToken(), 0);
  SequenceLength length = Length(10);
  length.encoder_tokens = Tokens(3);
  EXPECT_EQ(layout.BytesAt(length), Bytes(3));
}

TEST(CacheLayoutTest, ScalesAndPaddingAreCountedApart) {
  CacheTensor tensor = Counting({});
  tensor.elements = 10;
  tensor.scale_bytes = 3;
  tensor.padding_bytes = 5;
  EXPECT_EQ(tensor.EntryBytes(), Bytes(13));
  EXPECT_EQ(tensor.PaddedEntryBytes(), Bytes(18));
  const CacheLayout layout = One(tensor);
  EXPECT_EQ(layout.BytesAt(Length(2)), Bytes(36));
  EXPECT_EQ(layout.PaddingBytesAt(Length(2)), Bytes(10));
}

TEST(CacheLayoutTest, HalfByteElementsRoundUpPerEntry) {
  CacheTensor tensor = Counting({});
  tensor.dtype = DType::kFp4;
  tensor.elements = 3;
  EXPECT_EQ(tensor.EntryBytes(), Bytes(2));
}

TEST(CacheLayoutTest, SumsByTensorKeepTheOrderOfFirstAppearance) {
  CacheLayout layout = One(Counting({}));
  layout.layers.push_back(layout.layers[0]);
  layout.layers[1].tensors[0].name = "u";
  layout.layers.push_back(layout.layers[0]);
  const auto sums = layout.BytesByTensor(Length(7));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].name, "t");
  EXPECT_EQ(sums[0].bytes, Bytes(14));
  EXPECT_EQ(sums[1].name, "u");
  EXPECT_EQ(sums[1].bytes, Bytes(7));
}

TEST(CacheLayoutTest, LongContextsDoNotOverflow) {
  CacheTensor tensor = Counting({});
  tensor.elements = 1 << 20;  // 1 MiB per token
  // 10^9 tokens of 1 MiB: 954 TiB.
  EXPECT_EQ(One(tensor).BytesAt(Length(1'000'000'000)),
            Bytes(1'000'000'000LL << 20));
}

TEST(CacheLayoutDeathTest, LengthsBeyondTheLimitAreTheCallersBug) {
  EXPECT_DEATH(Counting({}).EntriesAt(Length(kMaxLayoutTokens.value() + 1)),
               "kMaxLayoutTokens");
}

}  // namespace
}  // namespace kvsim
