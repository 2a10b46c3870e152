#include "engines/vllm/capacity_log.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"

namespace kvsim::vllm {
namespace {

// N // groups x the smallest block x the ranks that share a sequence.
Tokens TokensByBlocks(const PoolPlan& plan, Blocks blocks) {
  Tokens smallest = Tokens::Max();
  int64_t sharded_over = 1;
  for (const CacheGroup& group : plan.groups) {
    smallest = std::min(smallest, group.demand.block_tokens);
    sharded_over = std::max(sharded_over, group.demand.sharded_over);
  }
  const auto groups = static_cast<int64_t>(plan.groups.size());
  const absl::int128 tokens =
      absl::int128(blocks.value() / groups) * smallest.value() * sharded_over;
  if (tokens > absl::int128(Tokens::Max().value())) return Tokens::Max();
  return Tokens(static_cast<int64_t>(tokens));
}

// Saturates where the engine's Python would go on: beyond 2^62 tokens.
Tokens TokensByConcurrency(const PoolPlan& plan, double concurrency) {
  const auto length = static_cast<double>(plan.max_model_len.value());
  const double tokens = concurrency * length;
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

// What a pool of so many blocks holds.
struct PoolFigures {
  double concurrency = 0;
  Tokens tokens;
};

PoolFigures FiguresOf(const PlannerSwitches& switches, const PoolPlan& plan,
                      Blocks blocks) {
  PoolFigures figures;
  figures.concurrency = static_cast<double>(blocks.value()) /
                        static_cast<double>(plan.blocks_per_request.value());
  figures.tokens = switches.token_line == TokenLine::kBlocks
                       ? TokensByBlocks(plan, blocks)
                       : TokensByConcurrency(plan, figures.concurrency);
  return figures;
}

// The size and the concurrency, in one line or two.
void AppendFigures(const PlannerSwitches& switches, Tokens max_model_len,
                   const PoolFigures& figures,
                   std::vector<std::string>& lines) {
  std::string size = absl::StrCat(
      "GPU KV cache size: ", FormatCount(figures.tokens.value()), " tokens");
  std::string concurrency =
      absl::StrFormat("Maximum concurrency for %s tokens per request: %.2fx",
                      FormatCount(max_model_len.value()), figures.concurrency);
  if (switches.one_log_line) {
    lines.push_back(absl::StrCat(size, ", ", concurrency));
    return;
  }
  lines.push_back(std::move(size));
  lines.push_back(std::move(concurrency));
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
  const PoolFigures figures = FiguresOf(switches, plan, plan.num_blocks);
  plan.max_concurrency = figures.concurrency;
  plan.kv_cache_tokens = figures.tokens;
  plan.log_lines = LayoutLines(context, plan);
  if (!switches.lines_per_worker) {
    AppendFigures(switches, plan.max_model_len, figures, plan.log_lines);
    return;
  }
  for (int64_t i = 0; i < context.num_workers; ++i) {
    const auto worker = static_cast<size_t>(i);
    const Blocks blocks = worker < context.worker_blocks.size()
                              ? context.worker_blocks[worker]
                              : plan.num_blocks;
    AppendFigures(switches, plan.max_model_len,
                  FiguresOf(switches, plan, blocks), plan.log_lines);
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

void WriteFittedLength(Tokens asked, Tokens fitted, Bytes available,
                       PoolPlan& plan) {
  const std::string line =
      fitted == asked
          ? absl::StrCat("Auto-fit max_model_len: full model context length ",
                         asked.value(), " fits in available GPU memory")
          : absl::StrCat("Auto-fit max_model_len: reduced from ", asked.value(),
                         " to ", fitted.value(),
                         " to fit in available GPU memory (",
                         RoundedGib(available), " GiB available for KV cache)");
  const auto size =
      std::find_if(plan.log_lines.begin(), plan.log_lines.end(),
                   [](const std::string& text) {
                     return absl::StartsWith(text, "GPU KV cache size");
                   });
  plan.log_lines.insert(size, line);
}

}  // namespace kvsim::vllm
