// DType: how one stored number is encoded, and its size in bits.
//
// A dtype says nothing about quantization scales; those are counted beside the
// elements (CacheTensor::scale_bytes), because their granularity belongs to
// the cache format, not to the number format.

#ifndef KVSIM_MODELS_DTYPE_H_
#define KVSIM_MODELS_DTYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kvsim {

enum class DType : uint8_t {
  kFp32,
  kFp16,
  kBf16,
  kFp8,  // e4m3 or e5m2
  kInt8,
  kInt4,
  kFp4,    // e2m1, also the elements of MXFP4 (one ue8m0 scale per 32)
  kNvfp4,  // e2m1 elements with one fp8 scale per 16
  kUint8,  // rows packed by a backend: one element is one byte
};

// Bits of one element, without scales: 32, 16, 8 or 4.
int BitsPerElement(DType dtype);

// Bytes of `elements` consecutive elements, rounded up to whole bytes.
// REQUIRES: 0 <= elements <= 2^56.
int64_t BytesOf(DType dtype, int64_t elements);

// "bf16", "fp8", ...
absl::string_view Name(DType dtype);

// Reads the spellings of config files and engines: "bfloat16", "bf16",
// "float16", "half", "float32", "float", "float8_e4m3fn", "fp8", "fp4",
// "mxfp4", ... A leading "torch." is ignored. Unknown text gives nullopt.
std::optional<DType> ParseDType(absl::string_view text);

}  // namespace kvsim

#endif  // KVSIM_MODELS_DTYPE_H_
