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

absl::string_view Name(KvCacheDtype dtype) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.dtype == dtype) return spelling.text;
  }
  return "";
}

}  // namespace kvsim
