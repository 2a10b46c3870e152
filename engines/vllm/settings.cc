#include "engines/vllm/settings.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace kvsim::vllm {
namespace {

// 7.5 GB of bookkeeping at 56 bytes a block: what a machine can hold.
constexpr int64_t kMaxBlocks = int64_t{1} << 27;
constexpr int64_t kMaxTokens = int64_t{1} << 40;
constexpr int64_t kMaxBlockTokens = (int64_t{1} << 31) - 1;

absl::Status InRange(absl::string_view flag, int64_t value, int64_t low,
                     int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is ", value, "; accepted: ", low, " to ", high));
}

}  // namespace

absl::Status Settings::Validate() const {
  const struct {
    const char* flag;
    int64_t value, low, high;
  } kRanges[] = {
      {"--num-gpu-blocks", num_gpu_blocks, 2, kMaxBlocks},
      {"--block-size", block_size, 1, kMaxBlockTokens},
      {"--max-num-seqs", max_num_seqs, 1, kMaxBlockTokens},
      {"--max-num-batched-tokens", max_num_batched_tokens, 1, kMaxBlockTokens},
      {"--max-model-len", max_model_len, 2, kMaxTokens},
      {"--long-prefill-token-threshold", long_prefill_token_threshold, 0,
       kMaxTokens},
      {"--num-speculative-tokens", num_speculative_tokens, 0, 1024},
  };
  for (const auto& r : kRanges) {
    absl::Status status = InRange(r.flag, r.value, r.low, r.high);
    if (!status.ok()) return status;
  }
  if (!(watermark >= 0.0 && watermark < 1.0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--watermark is ", watermark, "; accepted: a share from 0 to below 1"));
  }
  if (!enable_chunked_prefill && max_num_batched_tokens < max_num_seqs) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-num-batched-tokens is ", max_num_batched_tokens,
                     ", below --max-num-seqs ", max_num_seqs,
                     "; accepted: at least one token per sequence"));
  }
  return absl::OkStatus();
}

}  // namespace kvsim::vllm
