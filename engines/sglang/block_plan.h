// SGLang's pools as blocks, so that requests can be counted in them.
//
// Model:   the main pool's blocks are pages of full history, drafts' rows
//          among them; page 0 is the padding's. Windows have pages of their own,
//          which are freed every 128 tokens; states have slots, of which a
//          request takes several. A model of nothing but states has their slots
//          as its main pool.

#ifndef KVSIM_ENGINES_SGLANG_BLOCK_PLAN_H_
#define KVSIM_ENGINES_SGLANG_BLOCK_PLAN_H_

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "engines/sglang/plan.h"
#include "engines/sglang/token_budget.h"

namespace kvsim::sglang {

// Fills `plan.pool` from the rest of the plan. `rest` is the memory of each
// stage's pools; empty: exactly what they take.
void WriteBlockPlan(const std::vector<BudgetInput>& stages, size_t binding,
                    const std::vector<Bytes>& rest, SglangPlan& plan);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_BLOCK_PLAN_H_
