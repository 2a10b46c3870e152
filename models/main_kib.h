// The figure that a public gallery of architectures prints, for tests.

#ifndef KVSIM_MODELS_MAIN_KIB_H_
#define KVSIM_MODELS_MAIN_KIB_H_

#include "models/cache_layout.h"
#include "models/layout_builder.h"
#include "models/model_spec.h"

namespace kvsim {

// KiB of K and V per token in bf16 over all layers, without windows, states and
// index keys.
inline double MainKibPerToken(const ModelSpec& spec) {
  const CacheLayout layout =
      *BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kBf16});
  double bytes = 0;
  for (const LayerCache& layer : layout.layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      if (tensor.store == CacheStore::kMain) {
        bytes += static_cast<double>(tensor.EntryBytes().value()) /
                 static_cast<double>(tensor.tokens_per_entry);
      }
    }
  }
  return bytes / 1024;
}

}  // namespace kvsim

#endif  // KVSIM_MODELS_MAIN_KIB_H_
