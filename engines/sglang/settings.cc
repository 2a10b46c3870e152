#include "engines/sglang/settings.h"

#include "absl/strings/str_cat.h"

namespace kvsim::sglang {
namespace {

constexpr int64_t kMaxSize = 65536;
constexpr int64_t kMaxPage = int64_t{1} << 20;
constexpr int64_t kMaxRequests = int64_t{1} << 24;
constexpr int64_t kMaxTokens = int64_t{1} << 40;

absl::Status CheckRange(absl::string_view flag, int64_t value, int64_t least,
                        int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", value, ": must be from ", least, " to ", most));
}

absl::Status CheckOptional(absl::string_view flag,
                           const std::optional<int64_t>& value, int64_t least) {
  return value.has_value() ? CheckRange(flag, *value, least, kMaxTokens)
                           : absl::OkStatus();
}

// Not a number is outside every range.
absl::Status CheckShare(absl::string_view flag, double value, double most) {
  if (value > 0 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      flag, " ", value, ": must be greater than 0 and at most ", most));
}

absl::Status CheckSizes(const Settings& settings) {
  absl::Status status = CheckRange("--tp-size", settings.tp_size, 1, kMaxSize);
  if (status.ok()) {
    status = CheckRange("--pp-size", settings.pp_size, 1, kMaxSize);
  }
  if (status.ok()) {
    status = CheckRange("--dp-size", settings.dp_size, 1, kMaxSize);
  }
  if (status.ok()) {
    status = CheckRange("--dcp-size", settings.dcp_size, 1, kMaxSize);
  }
  if (!status.ok()) return status;
  if (settings.enable_dp_attention &&
      settings.tp_size % settings.dp_size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dp-size ", settings.dp_size,
                     ": with --enable-dp-attention it must "
                     "divide --tp-size ",
                     settings.tp_size));
  }
  if (settings.tp_size % settings.dcp_size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dcp-size ", settings.dcp_size,
                     ": must divide --tp-size ", settings.tp_size));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CacheType> ParseCacheType(absl::string_view text) {
  if (text == "auto") return CacheType::kAuto;
  if (text == "bf16" || text == "bfloat16") return CacheType::kBf16;
  if (text == "fp8_e4m3" || text == "fp8_e5m2") return CacheType::kFp8;
  if (text == "fp4_e2m1") return CacheType::kFp4;
  if (text == "mxfp8") return CacheType::kMxfp8;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text,
                   "' is no cache type; accepted: auto, bf16, bfloat16, "
                   "fp8_e4m3, fp8_e5m2, fp4_e2m1, mxfp8"));
}

absl::string_view Name(CacheType type) {
  switch (type) {
    case CacheType::kAuto:
      return "auto";
    case CacheType::kBf16:
      return "bfloat16";
    case CacheType::kFp8:
      return "fp8_e4m3";
    case CacheType::kFp4:
      return "fp4_e2m1";
    case CacheType::kMxfp8:
      return "mxfp8";
  }
  return "";
}

absl::StatusOr<MambaStrategy> ParseMambaStrategy(absl::string_view text) {
  if (text == "no_buffer") return MambaStrategy::kNoBuffer;
  if (text == "extra_buffer" || text == "auto") {
    return MambaStrategy::kExtraBuffer;
  }
  if (text == "extra_buffer_lazy") return MambaStrategy::kExtraBufferLazy;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text,
                   "' is no strategy; accepted: auto, no_buffer, extra_buffer, "
                   "extra_buffer_lazy"));
}

absl::Status Settings::Validate() const {
  absl::Status status = CheckSizes(*this);
  if (status.ok()) {
    status = CheckRange("--page-size", page_size.value_or(1), 1, kMaxPage);
  }
  if (status.ok()) {
    status = CheckOptional("--context-length", context_length, 1);
  }
  if (status.ok()) {
    status = CheckOptional("--max-total-tokens", max_total_tokens, 0);
  }
  if (status.ok()) {
    status = CheckRange("--max-running-requests",
                        max_running_requests.value_or(1), 1, kMaxRequests);
  }
  if (status.ok()) {
    status = CheckOptional("--max-mamba-cache-size", max_mamba_cache_size, 0);
  }
  if (status.ok()) {
    status = CheckShare("--swa-full-tokens-ratio",
                        swa_full_tokens_ratio.value_or(1), 1);
  }
  if (status.ok()) {
    status =
        CheckShare("--mem-fraction-static", mem_fraction_static.value_or(1), 1);
  }
  if (status.ok()) {
    status =
        CheckShare("--mamba-full-memory-ratio", mamba_full_memory_ratio, 1e6);
  }
  return status;
}

int64_t Settings::SlotsPerRequest() const {
  if (disable_radix_cache) return 1;
  switch (mamba_scheduler_strategy) {
    case MambaStrategy::kNoBuffer:
      return 3;
    case MambaStrategy::kExtraBuffer:
      return disable_overlap_schedule ? 4 : 5;
    case MambaStrategy::kExtraBufferLazy:
      return 4;
  }
  return 1;
}

}  // namespace kvsim::sglang
