#include "models/state_checkpoints.h"

#include "base/check.h"

namespace kvsim {

int64_t CheckpointsAsArticle(Tokens tokens, Tokens interval) {
  return CeilDiv(tokens, interval);
}

int64_t CheckpointsOfEngines(Tokens tokens, Tokens block) {
  KVSIM_CHECK(block > Tokens(0)) << block;
  return tokens > Tokens(0) ? (tokens - Tokens(1)) / block : 0;
}

Bytes CheckpointBytes(const CacheLayout& layout, int64_t checkpoints) {
  Bytes state;
  for (const LayerCache& layer : layout.layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      if (tensor.store == CacheStore::kRecurrent) state += tensor.EntryBytes();
    }
  }
  return state * checkpoints;
}

}  // namespace kvsim
