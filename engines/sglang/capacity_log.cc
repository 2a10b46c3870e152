#include "engines/sglang/capacity_log.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kvsim::sglang {
namespace {

constexpr int64_t kChunkedPrefill = 8192;
constexpr int64_t kMaxPrefillTokens = 16384;

std::string RowLine(const SglangPlan& plan, const CachePool& pool) {
  const std::string head =
      absl::StrCat("KV Cache is allocated. dtype: torch.", plan.kv_cache_dtype,
                   ", #tokens: ", pool.entries);
  const Bytes latent = PartBytes(pool, "KV");
  if (latent > Bytes(0)) {
    return absl::StrCat(head, ", KV size: ", PrintedGiB(TotalBytes(pool)),
                        " GB");
  }
  return absl::StrCat(head, ", K size: ", PrintedGiB(PartBytes(pool, "K")),
                      " GB, V size: ", PrintedGiB(PartBytes(pool, "V")), " GB");
}

std::string StateLine(const SglangPlan& plan, const CachePool& pool) {
  return absl::StrCat(
      "Mamba Cache is allocated. max_mamba_cache_size: ", plan.mamba_slots,
      ", conv_state size: ", PrintedGiB(PartBytes(pool, "conv")),
      "GB, ssm_state size: ", PrintedGiB(PartBytes(pool, "ssm")), "GB ");
}

int64_t EntriesOf(const SglangPlan& plan, absl::string_view name) {
  const CachePool* pool = FindPool(plan.pools, name);
  return pool == nullptr ? 0 : pool->entries;
}

std::string CompressedLine(const SglangPlan& plan) {
  return absl::StrCat("DSV4 pool sizes: full=", plan.max_total_tokens,
                      ", swa=", EntriesOf(plan, "swa"),
                      ", c4=", EntriesOf(plan, "c4"),
                      ", c128=", EntriesOf(plan, "c128"),
                      ", c4_state=", EntriesOf(plan, "c4_state"),
                      ", c128_state=", EntriesOf(plan, "c128_state"));
}

void WindowLines(const SglangPlan& plan, const CachePool& windows,
                 const CachePool& full, std::vector<std::string>& lines) {
  lines.push_back(absl::StrCat(
      "Use sliding window memory pool. full_layer_tokens=",
      plan.max_total_tokens, ", swa_layer_tokens=", plan.window_tokens));
  lines.push_back(RowLine(plan, windows));
  lines.push_back(RowLine(plan, full));
  lines.push_back(absl::StrCat(
      "SWAKVPool mem usage: ",
      PrintedGiB(TotalBytes(windows) + TotalBytes(full)), " GB, swa size: ",
      plan.window_tokens, ", full size: ", plan.max_total_tokens));
}

}  // namespace

std::vector<std::string> CapacityLog(const SglangPlan& plan,
                                     const Settings& settings) {
  std::vector<std::string> lines;
  const CachePool* states = FindPool(plan.pools, "state");
  const CachePool* windows = FindPool(plan.pools, "swa");
  const CachePool* full = FindPool(plan.pools, "full");
  const CachePool* drafts = FindPool(plan.pools, "draft");
  if (states != nullptr) lines.push_back(StateLine(plan, *states));
  if (windows != nullptr && full != nullptr) {
    WindowLines(plan, *windows, *full, lines);
  } else if (windows != nullptr) {
    lines.push_back(CompressedLine(plan));
  } else if (full != nullptr) {
    lines.push_back(RowLine(plan, *full));
  }
  if (drafts != nullptr) lines.push_back(RowLine(plan, *drafts));
  lines.push_back(absl::StrCat(
      "max_total_num_tokens=", plan.max_total_tokens, ", chunked_prefill_size=",
      settings.chunked_prefill_size.value_or(kChunkedPrefill),
      ", max_prefill_tokens=", kMaxPrefillTokens, ", max_running_requests=",
      plan.max_running_requests, ", context_len=", plan.context_length));
  return lines;
}

std::string NotEnoughMemory(const Settings& settings) {
  std::string text =
      "Not enough memory. Please try to increase --mem-fraction-static.";
  if (settings.mem_fraction_static.has_value()) {
    absl::StrAppend(&text,
                    absl::StrFormat(" Current value: mem_fraction_static=%g",
                                    *settings.mem_fraction_static));
  }
  return text;
}

std::string TooFewStates(const SglangPlan& plan) {
  return absl::StrCat(
      "Hybrid (mamba/linear-attention) state cache is too small to serve any "
      "requests. max_mamba_cache_size=",
      plan.mamba_slots, ", mamba_ratio=", plan.slots_per_request,
      ", resulting max_num_reqs=0.");
}

}  // namespace kvsim::sglang
