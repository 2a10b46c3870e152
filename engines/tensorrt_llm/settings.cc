#include "engines/tensorrt_llm/settings.h"

#include "absl/strings/str_cat.h"

namespace kvsim::tensorrt_llm {
namespace {

absl::Status CheckRange(absl::string_view flag, int64_t value, int64_t least,
                        int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", value, ": must be from ", least, " to ", most));
}

absl::Status CheckShares(const Settings& settings) {
  const double fraction = settings.free_gpu_memory_fraction;
  if (!(fraction > 0 && fraction <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kv_cache_free_gpu_memory_fraction ", fraction,
                     ": must be greater than 0 and at most 1"));
  }
  for (const double share : settings.window_size_shares) {
    if (share > 0 && share <= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("TRTLLM_WINDOW_SIZE_SHARES ", share,
                     ": must be greater than 0 and at most 1"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CacheType> ParseCacheType(absl::string_view text) {
  if (text == "auto") return CacheType::kAuto;
  if (text == "bf16" || text == "bfloat16" || text == "fp16" ||
      text == "float16") {
    return CacheType::kBf16;
  }
  if (text == "fp8") return CacheType::kFp8;
  if (text == "int8") return CacheType::kInt8;
  if (text == "nvfp4") return CacheType::kNvfp4;
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text,
      "' is no cache type; accepted: auto, bfloat16, float16, fp8, int8, "
      "nvfp4"));
}

absl::string_view Name(CacheType type) {
  switch (type) {
    case CacheType::kAuto:
      return "auto";
    case CacheType::kBf16:
      return "two bytes";
    case CacheType::kFp8:
      return "fp8";
    case CacheType::kInt8:
      return "int8";
    case CacheType::kNvfp4:
      return "nvfp4";
  }
  return "";
}

absl::Status Settings::Validate() const {
  constexpr int64_t kMost = int64_t{1} << 40;
  absl::Status status = CheckRange("--tp_size", tp_size, 1, 65536);
  if (status.ok()) status = CheckRange("--pp_size", pp_size, 1, 65536);
  if (status.ok()) {
    status = CheckRange("tokens_per_block", tokens_per_block, 1, 1 << 20);
  }
  if (status.ok() && (tokens_per_block & (tokens_per_block - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tokens_per_block ", tokens_per_block, ": must be a power of two"));
  }
  if (status.ok()) {
    status = CheckRange("max_tokens", max_tokens.value_or(1), 1, kMost);
  }
  if (status.ok()) {
    status = CheckRange("--max_seq_len", max_seq_len.value_or(1), 1, kMost);
  }
  if (status.ok()) {
    status = CheckRange("--max_batch_size", max_batch_size, 1, 1 << 24);
  }
  if (status.ok()) {
    status = CheckRange("--max_num_tokens", max_num_tokens, 1, kMost);
  }
  for (const int64_t window : max_attention_window) {
    if (status.ok()) {
      status = CheckRange("max_attention_window", window, 1, kMost);
    }
  }
  return status.ok() ? CheckShares(*this) : status;
}

}  // namespace kvsim::tensorrt_llm
