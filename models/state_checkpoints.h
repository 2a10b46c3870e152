// How many recurrent states a prefix cache keeps, and their bytes.
//
// A running sequence holds one state; to resume at other prefixes, copies at
// several boundaries are stored. The article counts ceil(T / C) of them, one
// for each begun interval. Engines keep a state only at whole blocks that some
// later request can hit, which never includes the last token: floor((T-1)/B).
// Retention rules may keep fewer; see the engines' own.

#ifndef KVSIM_MODELS_STATE_CHECKPOINTS_H_
#define KVSIM_MODELS_STATE_CHECKPOINTS_H_

#include <cstdint>

#include "base/units.h"
#include "models/cache_layout.h"

namespace kvsim {

// REQUIRES: tokens >= 0, interval > 0.
int64_t CheckpointsAsArticle(Tokens tokens, Tokens interval);

// Dense retention: one state per block boundary below the last token.
// REQUIRES: tokens >= 0, block > 0.
int64_t CheckpointsOfEngines(Tokens tokens, Tokens block);

// Bytes of that many copies of every recurrent and convolution state.
Bytes CheckpointBytes(const CacheLayout& layout, int64_t checkpoints);

}  // namespace kvsim

#endif  // KVSIM_MODELS_STATE_CHECKPOINTS_H_
