#include "engines/vllm/capacity_log.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"

namespace kvsim::vllm {
namespace {

// N // groups x the smallest block x the ranks that share a sequence.
Tokens TokensByBlocks(const PoolPlan& plan) {
  Tokens smallest = Tokens::Max();
  int64_t sharded_over = 1;
  for (const CacheGroup& group : plan.groups) {
    smallest = std::min(smallest, group.demand.block_tokens);
    sharded_over = std::max(sharded_over, group.demand.sharded_over);
  }
  const auto groups = static_cast<int64_t>(plan.groups.size());
  const absl::int128 tokens = absl::int128(plan.num_blocks.value() / groups) *
                              smallest.value() * sharded_over;
  if (tokens > absl::int128(Tokens::Max().value())) return Tokens::Max();
  return Tokens(static_cast<int64_t>(tokens));
}

// Saturates where the engine's Python would go on: beyond 2^62 tokens.
Tokens TokensByConcurrency(const PoolPlan& plan) {
  const auto length = static_cast<double>(plan.max_model_len.value());
  const double tokens = plan.max_concurrency * length;
  if (tokens >= 0x1p62) return Tokens::Max();
  return Tokens(static_cast<int64_t>(tokens));
}

// GiB as Python prints round(x, 2): at most two decimals, at least one.
std::string RoundedGib(Bytes bytes) {
  const double gib = static_cast<double>(bytes.value()) / 1073741824.0;
  std::string text = absl::StrFormat("%.2f", gib);
  if (text.back() == '0') text.pop_back();
  return text;
}

// What grew and what was padded, before any size is known.
std::vector<std::string> LayoutLines(const LogContext& context,
                                     const PoolPlan& plan) {
  std::vector<std::string> lines;
  if (context.natural_block > Tokens(0) &&
      plan.block_tokens > context.natural_block) {
    lines.push_back(absl::StrCat(
        "Setting attention block size to ", plan.block_tokens.value(),
        " tokens to ensure that attention page size is >= mamba page size."));
  }
  if (plan.state_padding_percent > 0) {
    lines.push_back(absl::StrFormat(
        "Padding mamba page size by %.2f%% to ensure that mamba page size and "
        "attention page size are exactly equal.",
        plan.state_padding_percent));
  }
  for (const LayerPadding& padding : plan.layer_padding) {
    lines.push_back(absl::StrFormat(
        "Add %d padding layers, may waste at most %.2f%% KV cache memory",
        padding.layers, padding.waste_percent));
  }
  return lines;
}

}  // namespace

void WriteCapacityLog(const PlannerSwitches& switches,
                      const LogContext& context, PoolPlan& plan) {
  plan.max_concurrency = static_cast<double>(plan.num_blocks.value()) /
                         static_cast<double>(plan.blocks_per_request.value());
  plan.kv_cache_tokens = switches.token_line == TokenLine::kBlocks
                             ? TokensByBlocks(plan)
                             : TokensByConcurrency(plan);
  std::string size = absl::StrCat(
      "GPU KV cache size: ", FormatCount(plan.kv_cache_tokens.value()),
      " tokens");
  std::string concurrency = absl::StrFormat(
      "Maximum concurrency for %s tokens per request: %.2fx",
      FormatCount(plan.max_model_len.value()), plan.max_concurrency);
  plan.log_lines = LayoutLines(context, plan);
  if (switches.one_log_line) {
    plan.log_lines.push_back(absl::StrCat(size, ", ", concurrency));
    return;
  }
  const int64_t pairs = switches.lines_per_worker ? context.num_workers : 1;
  for (int64_t i = 0; i < pairs; ++i) {
    plan.log_lines.push_back(size);
    plan.log_lines.push_back(concurrency);
  }
}

void WritePreviousLog(const PlannerSwitches& switches, PoolPlan& plan) {
  const absl::int128 tokens =
      absl::int128(plan.num_blocks.value()) * plan.block_tokens.value();
  plan.kv_cache_tokens = tokens > absl::int128(Tokens::Max().value())
                             ? Tokens::Max()
                             : Tokens(static_cast<int64_t>(tokens));
  plan.max_concurrency = static_cast<double>(plan.num_blocks.value()) *
                         static_cast<double>(plan.block_tokens.value()) /
                         static_cast<double>(plan.max_model_len.value());
  plan.log_lines = {
      absl::StrCat("# ", switches.says_gpu_blocks ? "GPU" : "cuda",
                   " blocks: ", plan.num_blocks.value(),
                   ", # CPU blocks: ", plan.host_blocks.value()),
      absl::StrFormat("Maximum concurrency for %d tokens per request: %.2fx",
                      plan.max_model_len.value(), plan.max_concurrency)};
}

void WritePreviousRefusal(Tokens max_model_len, StartRefusal& refusal) {
  if (refusal.available <= Bytes(0)) {
    WriteRefusal(max_model_len, refusal);
    return;
  }
  refusal.message = absl::StrCat(
      "The model's max seq len (", max_model_len.value(),
      ") is larger than the maximum number of tokens that can be stored in KV "
      "cache (",
      refusal.max_len_that_fits.value(),
      "). Try increasing `gpu_memory_utilization` or decreasing "
      "`max_model_len` when initializing the engine.");
}

void WriteRefusal(Tokens max_model_len, StartRefusal& refusal) {
  if (refusal.available <= Bytes(0)) {
    refusal.message =
        "No available memory for the cache blocks. Try increasing "
        "`gpu_memory_utilization` when initializing the engine.";
    return;
  }
  std::string estimate;
  if (refusal.max_len_that_fits > Tokens(0)) {
    estimate = absl::StrCat(
        "Based on the available memory, the estimated maximum model length is ",
        refusal.max_len_that_fits.value(), ". ");
  }
  refusal.message = absl::StrCat(
      "To serve at least one request with the model's max seq len (",
      max_model_len.value(), "), (", RoundedGib(refusal.needed),
      " GiB KV cache is needed, which is larger than the available KV cache "
      "memory (",
      RoundedGib(refusal.available), " GiB). ", estimate,
      "Try increasing `gpu_memory_utilization` or decreasing `max_model_len` "
      "when initializing the engine.");
}

}  // namespace kvsim::vllm
