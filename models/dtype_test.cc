#include "models/dtype.h"

#include <gtest/gtest.h>

#include "models/kv_cache_dtype.h"

namespace kvsim {
namespace {

TEST(DTypeTest, NamesReadBack) {
  for (const DType dtype :
       {DType::kFp32, DType::kFp16, DType::kBf16, DType::kFp8, DType::kInt8,
        DType::kInt4, DType::kFp4, DType::kNvfp4, DType::kUint8}) {
    EXPECT_EQ(ParseDType(Name(dtype)), dtype) << Name(dtype);
  }
}

TEST(DTypeTest, ReadsTheSpellingsOfConfigs) {
  EXPECT_EQ(ParseDType("torch.bfloat16"), DType::kBf16);
  EXPECT_EQ(ParseDType("Float16"), DType::kFp16);
  EXPECT_EQ(ParseDType("float8_e4m3fn"), DType::kFp8);
  EXPECT_EQ(ParseDType("mxfp4"), DType::kFp4);
  EXPECT_EQ(ParseDType("int3"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
}

TEST(DTypeTest, OddHalfBytesRoundUp) {
  EXPECT_EQ(BytesOf(DType::kInt4, 0), 0);
  EXPECT_EQ(BytesOf(DType::kInt4, 1), 1);
  EXPECT_EQ(BytesOf(DType::kInt4, 128), 64);
}

TEST(KvCacheDtypeTest, NamesReadBack) {
  for (const KvCacheDtype dtype :
       {KvCacheDtype::kAuto, KvCacheDtype::kBf16, KvCacheDtype::kFp16,
        KvCacheDtype::kFp32, KvCacheDtype::kFp8, KvCacheDtype::kFp8DsMla,
        KvCacheDtype::kInt8PerTokenHead, KvCacheDtype::kFp8PerTokenHead,
        KvCacheDtype::kInt4PerTokenHead, KvCacheDtype::kNvfp4,
        KvCacheDtype::kInt8, KvCacheDtype::kInt4, KvCacheDtype::kQ8_0,
        KvCacheDtype::kQ4_0, KvCacheDtype::kQ4_1, KvCacheDtype::kQ5_0,
        KvCacheDtype::kQ5_1, KvCacheDtype::kIq4Nl}) {
    EXPECT_EQ(*ParseKvCacheDtype(Name(dtype)), dtype) << Name(dtype);
  }
}

TEST(KvCacheDtypeTest, UnknownOneListsWhatIsAccepted) {
  const auto parsed = ParseKvCacheDtype("int5");
  EXPECT_FALSE(parsed.ok());
  EXPECT_NE(parsed.status().message().find("\"int5\""),
            absl::string_view::npos);
  EXPECT_NE(parsed.status().message().find("fp8_ds_mla"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace kvsim
