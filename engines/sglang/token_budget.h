// How SGLang turns the memory that is left into tokens and state slots.
//
// Model:   states come first: their budget is rest x f / (1 + f) with f =
//          mamba_full_memory_ratio, and slots are that over one sequence's
//          states; the rest is for tokens. Tokens are the memory over the
//          charge of one token (row_bytes.h), rounded down to a page.
//            windows       two pools beside each other: a full token is charged
//                          its full layers and the ratio r of its windows, and
//                          the window pool has r times the tokens
//            compressed    a full token is charged r of its window row, a
//                          share of each compressed row and of the states of
//                          the compressors of 4; the state of the others is per
//                          request and taken off first
//            drafts        (1 + draft layers / layers) times the charge
//            context ranks the allocator's tokens are those of all dcp ranks
// Exact:   the doubles are the engine's own; r x tokens is cut, not rounded.
// Source:  model_executor/pool_configurator.py of 2026-07-20.

#ifndef KVSIM_ENGINES_SGLANG_TOKEN_BUDGET_H_
#define KVSIM_ENGINES_SGLANG_TOKEN_BUDGET_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "engines/rank_layers.h"
#include "engines/sglang/settings.h"

namespace kvsim::sglang {

// The layers of one rank and what is known about them.
struct BudgetInput {
  std::vector<RankLayer> layers;      // of one pipeline stage, drafts last
  CacheType type = CacheType::kBf16;  // resolved
  int64_t page_size = 1;
  int64_t context_length = 0;
  Settings settings;
};

struct TokenBudget {
  double token_bytes = 0;  // charged for one full token
  Bytes taken_first;       // states of requests, before tokens
  int64_t tokens = 0;      // of one rank, whole pages
};

// Two pools, one for windows, beside each other.
bool HasTwoPools(const BudgetInput& input);
bool HasCompressedRows(const BudgetInput& input);

// Windows' share of the full tokens: flag, else 0.1 for compressed attention,
// else 0.8.
double WindowRatio(const BudgetInput& input);
// Tokens of the window pool beside `tokens` full ones; whole pages.
int64_t WindowTokens(const BudgetInput& input, int64_t tokens);

// States of one sequence on this rank; 0 without recurrent layers.
Bytes SlotBytes(const BudgetInput& input);
// State slots that the flags name; none: memory decides.
std::optional<int64_t> SlotsByFlag(const Settings& settings);
// State slots that `rest` gives, or that a flag names.
int64_t StateSlots(const BudgetInput& input, Bytes rest);

// Tokens in `rest` bytes. Never negative.
TokenBudget BudgetTokens(const BudgetInput& input, Bytes rest);

// Requests that run at once: the flag, else by the ratio of tokens to the
// longest request; never more than the tokens or the state slots allow. 0: no
// request can run.
int64_t RunningRequests(const BudgetInput& input, int64_t tokens,
                        int64_t state_slots);

// Rows of the states that compressors of more than 4 tokens keep for each
// request, in every such layer.
int64_t CompressorStateRows(const Settings& settings);
// Entries of a ring of compressor states of 4 tokens, in each window.
int64_t CompressorRing(const Settings& settings);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_TOKEN_BUDGET_H_
