#include "engines/figure_rules.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"

namespace kvsim {
namespace {

// A rule of one engine. `numbers` may be null: the text is all.
struct Rule {
  absl::string_view engine;
  absl::string_view key;  // of the figure, or its beginning
  absl::string_view text;
  std::string (*numbers)(const CapacityAnswer& answer);
};

std::string Number(int64_t value) { return FormatCount(value); }

Bytes MemoryOf(const PoolPlan& pool) {
  return pool.ranks[pool.binding_rank].kv_memory;
}

std::string VllmBlocks(const CapacityAnswer& answer) {
  const PoolPlan& pool = answer.pool;
  if (pool.num_blocks != pool.ranks[pool.binding_rank].own_blocks) return "";
  return absl::StrCat(Number(MemoryOf(pool).value()), " B // ",
                      Number(pool.bytes_per_block.value()),
                      " B = ", Number(pool.num_blocks.value()));
}

// The size line of versions that print the concurrency's tokens.
std::string VllmTokens(const CapacityAnswer& answer) {
  const PoolPlan& pool = answer.pool;
  const double tokens =
      pool.max_concurrency * static_cast<double>(pool.max_model_len.value());
  if (static_cast<int64_t>(tokens) != pool.kv_cache_tokens.value()) return "";
  return absl::StrCat(Number(pool.num_blocks.value()), " / ",
                      Number(pool.blocks_per_request.value()), " x ",
                      Number(pool.max_model_len.value()));
}

std::string TokensOfPages(const CapacityAnswer& answer) {
  const PoolPlan& pool = answer.pool;
  return absl::StrCat(Number(pool.kv_cache_tokens.value()),
                      " tokens in pages of ",
                      Number(pool.scheduler_block_tokens.value()), ", and ",
                      Number(pool.reserved_blocks.value()),
                      " more: ", Number(pool.num_blocks.value()));
}

// States and windows take their share before the tokens.
std::string SidePools(const CapacityAnswer& answer) {
  std::string text;
  for (const SidePool& side : answer.pool.side_pools) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", side.name, " ",
                    Number(side.num_blocks.value()), " x ",
                    FormatBytes(side.bytes_per_block));
  }
  return text.empty() ? "no pool beside it" : absl::StrCat("beside it ", text);
}

constexpr absl::string_view kTightest =
    "the engine prints none: the tightest pool over one request's worst case";
constexpr absl::string_view kVllmRow =
    "a block holds a page of every slot; a slot that a group does not use is "
    "padding";
constexpr absl::string_view kPagesAlone =
    "a page holds the layers of its own pool alone: nothing is padded to "
    "another kind of layer";

constexpr Rule kRules[] = {
    {"vllm", "kv_cache_tokens",
     "what the size line prints: concurrency x longest request; up to 0.19 "
     "blocks // groups x smallest block",
     VllmTokens},
    {"vllm", "num_blocks", "memory over the bytes of a block, block 0 included",
     VllmBlocks},
    {"vllm", "reserved_blocks", "block 0 pads block tables", nullptr},
    {"vllm", "block_tokens",
     "16 or the kernel's block; with states it grows until an attention page "
     "holds one",
     nullptr},
    {"vllm", "scheduler_block_tokens",
     "hits are whole blocks of every group: their least common multiple",
     nullptr},
    {"vllm", "page_bytes", "all groups share pages of one size", nullptr},
    {"vllm", "bytes_per_block", kVllmRow, nullptr},
    {"vllm", "remainder_bytes", "too little for one more block", nullptr},
    {"vllm", "group", "layers of one kind are split into groups of equal size",
     nullptr},
    {"vllm", "blocks_per_request",
     "every group's blocks of one request while its prompt is computed",
     nullptr},
    {"vllm", "contexts.*.engine_line", "blocks / blocks of the longest request",
     nullptr},
    {"vllm", "fixed_b", "blocks that windows and states hold at any length",
     nullptr},
    {"vllm", "blocks_of_one_token_request", "a block of every group", nullptr},
    {"vllm", "rank_bytes_per_token",
     "a block of the groups that keep all history, over its tokens", nullptr},
    {"vllm", "max_num_seqs", "--max-num-seqs, or by the card's memory",
     nullptr},
    {"vllm", "max_num_batched_tokens",
     "--max-num-batched-tokens, or by the card's memory", nullptr},
    {"vllm", "log_lines",
     "padding if any, then size and concurrency: one line, two up to 0.26",
     nullptr},

    {"sglang", "kv_cache_tokens",
     "memory over the charge of one token in all layers, in whole pages; "
     "states "
     "take their share before",
     SidePools},
    {"sglang", "num_blocks", "tokens over the page, and a sink page",
     TokensOfPages},
    {"sglang", "reserved_blocks", "the sink page pads", nullptr},
    {"sglang", "block_tokens",
     "1 token a page, or what the attention backend forces", nullptr},
    {"sglang", "scheduler_block_tokens", "the radix tree matches whole pages",
     nullptr},
    {"sglang", "page_bytes", kPagesAlone, nullptr},
    {"sglang", "bytes_per_block", kPagesAlone, nullptr},
    {"sglang", "remainder_bytes", "pools are rounded one by one", nullptr},
    {"sglang", "group", "windows and states have pools of their own", nullptr},
    {"sglang", "side_pools",
     "windows: --swa-full-tokens-ratio of the full tokens; states: "
     "--mamba-full-memory-ratio of memory over one state",
     nullptr},
    {"sglang", "blocks_per_request", "pages of the longest request", nullptr},
    {"sglang", "contexts.*.engine_line", kTightest, SidePools},
    {"sglang", "fixed_b",
     "state slots of a running request (1 to 5) and pages of its window",
     nullptr},
    {"sglang", "blocks_of_one_token_request",
     "one page; states are slots of another pool", nullptr},
    {"sglang", "rank_bytes_per_token", "rows of the full layers alone",
     nullptr},
    {"sglang", "max_num_seqs",
     "tokens over the context length x 512, from 2,048 to 4,096, or what the "
     "state slots serve",
     nullptr},
    {"sglang", "max_num_batched_tokens", "--chunked-prefill-size", nullptr},
    {"sglang", "log_lines", "a line for each pool", nullptr},

    {"llama.cpp", "kv_cache_tokens",
     "-c, divided over -np sequences, in steps of 256: memory decides nothing",
     nullptr},
    {"llama.cpp", "num_blocks", "cells of one token", nullptr},
    {"llama.cpp", "reserved_blocks", "no cell is kept back", nullptr},
    {"llama.cpp", "block_tokens", "a cell is one token", nullptr},
    {"llama.cpp", "scheduler_block_tokens", "a cell is one token", nullptr},
    {"llama.cpp", "page_bytes", kPagesAlone, nullptr},
    {"llama.cpp", "bytes_per_block", kPagesAlone, nullptr},
    {"llama.cpp", "remainder_bytes", "memory that the cells leave", nullptr},
    {"llama.cpp", "group", "windows and states have caches of their own",
     nullptr},
    {"llama.cpp", "side_pools",
     "windows: the window and a batch; states: one per sequence", nullptr},
    {"llama.cpp", "blocks_per_request", "cells of the longest request",
     nullptr},
    {"llama.cpp", "contexts.*.engine_line", kTightest, SidePools},
    {"llama.cpp", "fixed_b", "cells of windows, and a state", nullptr},
    {"llama.cpp", "max_num_seqs", "-np", nullptr},
    {"llama.cpp", "max_num_batched_tokens", "-b", nullptr},
    {"llama.cpp", "log_lines", "a line for each cache", nullptr},

    {"tensorrt-llm", "kv_cache_tokens", "blocks x tokens_per_block", nullptr},
    {"tensorrt-llm", "num_blocks",
     "a fraction (0.9) of what is free after loading, over a block's bytes",
     nullptr},
    {"tensorrt-llm", "reserved_blocks", "no block is kept back", nullptr},
    {"tensorrt-llm", "block_tokens", "tokens_per_block (32)", nullptr},
    {"tensorrt-llm", "page_bytes", kPagesAlone, nullptr},
    {"tensorrt-llm", "bytes_per_block", kPagesAlone, nullptr},
    {"tensorrt-llm", "remainder_bytes", "too little for one more block",
     nullptr},
    {"tensorrt-llm", "group", "a pool for each window and number of heads",
     nullptr},
    {"tensorrt-llm", "side_pools",
     "every window's pool gets an equal part of memory", nullptr},
    {"tensorrt-llm", "contexts.*.engine_line", kTightest, SidePools},
    {"tensorrt-llm", "max_num_seqs", "--max_batch_size", nullptr},
    {"tensorrt-llm", "max_num_batched_tokens", "--max_num_tokens", nullptr},
    {"tensorrt-llm", "log_lines", "a line for each pool", nullptr},
};

// Rules of requests are the same for every context.
bool Matches(absl::string_view key, absl::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return absl::StartsWith(key, pattern);
  return absl::StartsWith(key, pattern.substr(0, star)) &&
         absl::EndsWith(key, pattern.substr(star + 1));
}

struct Source {
  absl::string_view engine, file;
};

constexpr Source kSources[] = {
    {"vllm", "engines/vllm/pool_planner.h"},
    {"sglang", "engines/sglang/pool_planner.h"},
    {"llama.cpp", "engines/llama_cpp/pool_planner.h"},
    {"tensorrt-llm", "engines/tensorrt_llm/pool_planner.h"},
};

}  // namespace

std::string FigureRule(absl::string_view key, const CapacityAnswer& answer) {
  for (const Rule& rule : kRules) {
    if (rule.engine != answer.engine || !Matches(key, rule.key)) continue;
    const std::string numbers =
        rule.numbers == nullptr ? "" : rule.numbers(answer);
    return absl::StrCat(rule.text, numbers.empty() ? "" : ": ", numbers);
  }
  return "";
}

absl::string_view RuleSource(absl::string_view engine) {
  for (const Source& source : kSources) {
    if (source.engine == engine) return source.file;
  }
  KVSIM_CHECK(false) << std::string(engine);
  return "";
}

}  // namespace kvsim
