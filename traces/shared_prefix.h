// How many leading tokens two requests share.
//
// Costs:      O(runs of equal source), not tokens.
#ifndef KVSIM_TRACES_SHARED_PREFIX_H_
#define KVSIM_TRACES_SHARED_PREFIX_H_

#include <cstdint>

#include "traces/request_tokens.h"

namespace kvsim {

// The first position, at most `limit`, at which the tokens of `a` and `b` differ;
// what follows a prompt is the request's own, unless a later turn repeats it.
// REQUIRES: limit >= 0; both come from one trace.
int64_t SharedPrefix(const RequestTokens& a, const RequestTokens& b,
                     int64_t limit);

}  // namespace kvsim

#endif  // KVSIM_TRACES_SHARED_PREFIX_H_
