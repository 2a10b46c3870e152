#include "models/dtype.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "base/check.h"

namespace kvsim {
namespace {

struct Spelling {
  absl::string_view text;
  DType dtype;
};

// The first spelling of each dtype is its Name().
constexpr Spelling kSpellings[] = {
    {"fp32", DType::kFp32},         {"float32", DType::kFp32},
    {"float", DType::kFp32},        {"fp16", DType::kFp16},
    {"float16", DType::kFp16},      {"half", DType::kFp16},
    {"bf16", DType::kBf16},         {"bfloat16", DType::kBf16},
    {"fp8", DType::kFp8},           {"fp8_e4m3", DType::kFp8},
    {"fp8_e5m2", DType::kFp8},      {"fp8_inc", DType::kFp8},
    {"float8_e4m3fn", DType::kFp8}, {"float8_e5m2", DType::kFp8},
    {"int8", DType::kInt8},         {"int4", DType::kInt4},
    {"fp4", DType::kFp4},           {"mxfp4", DType::kFp4},
    {"nvfp4", DType::kNvfp4},       {"uint8", DType::kUint8},
};

}  // namespace

int BitsPerElement(DType dtype) {
  switch (dtype) {
    case DType::kFp32:
      return 32;
    case DType::kFp16:
    case DType::kBf16:
      return 16;
    case DType::kFp8:
    case DType::kInt8:
    case DType::kUint8:
      return 8;
    case DType::kInt4:
    case DType::kFp4:
    case DType::kNvfp4:
      return 4;
  }
  KVSIM_CHECK(false) << "dtype " << static_cast<int>(dtype);
  return 0;
}

int64_t BytesOf(DType dtype, int64_t elements) {
  KVSIM_CHECK(elements >= 0 && elements <= int64_t{1} << 56) << elements;
  return (elements * BitsPerElement(dtype) + 7) / 8;
}

absl::string_view Name(DType dtype) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.dtype == dtype) return spelling.text;
  }
  KVSIM_CHECK(false) << "dtype " << static_cast<int>(dtype);
  return "";
}

std::optional<DType> ParseDType(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(text);
  const absl::string_view bare = absl::StripPrefix(lower, "torch.");
  for (const Spelling& spelling : kSpellings) {
    if (spelling.text == bare) return spelling.dtype;
  }
  return std::nullopt;
}

}  // namespace kvsim
