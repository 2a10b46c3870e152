#include "models/kv_cache_dtype.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kvsim {
namespace {

struct Spelling {
  absl::string_view text;
  KvCacheDtype dtype;
};

// The first spelling of each format is its Name().
constexpr Spelling kSpellings[] = {
    {"auto", KvCacheDtype::kAuto},
    {"bf16", KvCacheDtype::kBf16},
    {"bfloat16", KvCacheDtype::kBf16},
    {"fp16", KvCacheDtype::kFp16},
    {"float16", KvCacheDtype::kFp16},
    {"half", KvCacheDtype::kFp16},
    {"fp32", KvCacheDtype::kFp32},
    {"float32", KvCacheDtype::kFp32},
    {"fp8", KvCacheDtype::kFp8},
    {"fp8_e4m3", KvCacheDtype::kFp8},
    {"fp8_e5m2", KvCacheDtype::kFp8},
    {"fp8_inc", KvCacheDtype::kFp8},
    {"fp8_ds_mla", KvCacheDtype::kFp8DsMla},
    {"int8_per_token_head", KvCacheDtype::kInt8PerTokenHead},
    {"fp8_per_token_head", KvCacheDtype::kFp8PerTokenHead},
    {"int4_per_token_head", KvCacheDtype::kInt4PerTokenHead},
    {"nvfp4", KvCacheDtype::kNvfp4},
    {"nvfp4_4over6", KvCacheDtype::kNvfp4},
    {"int8", KvCacheDtype::kInt8},
    {"int4", KvCacheDtype::kInt4},
    {"q8_0", KvCacheDtype::kQ8_0},
    {"q4_0", KvCacheDtype::kQ4_0},
    {"q4_1", KvCacheDtype::kQ4_1},
    {"q5_0", KvCacheDtype::kQ5_0},
    {"q5_1", KvCacheDtype::kQ5_1},
    {"iq4_nl", KvCacheDtype::kIq4Nl},
    {"f16", KvCacheDtype::kFp16},
    {"f32", KvCacheDtype::kFp32},
};

}  // namespace

absl::StatusOr<KvCacheDtype> ParseKvCacheDtype(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  std::vector<absl::string_view> accepted;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.text == lower) return spelling.dtype;
    accepted.push_back(spelling.text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("KV cache dtype \"", text,
                   "\" is unknown; accepted: ", absl::StrJoin(accepted, ", ")));
}

std::optional<BlockFormat> BlockFormatOf(KvCacheDtype dtype) {
  switch (dtype) {
    case KvCacheDtype::kQ8_0:
      return BlockFormat{DType::kInt8, 2};
    case KvCacheDtype::kQ4_0:
    case KvCacheDtype::kIq4Nl:
      return BlockFormat{DType::kInt4, 2};
    case KvCacheDtype::kQ4_1:
      return BlockFormat{DType::kInt4, 4};
    case KvCacheDtype::kQ5_0:
      return BlockFormat{DType::kInt4, 2 + 4};
    case KvCacheDtype::kQ5_1:
      return BlockFormat{DType::kInt4, 4 + 4};
    default:
      return std::nullopt;
  }
}

absl::string_view Name(KvCacheDtype dtype) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.dtype == dtype) return spelling.text;
  }
  return "";
}

}  // namespace kvsim
