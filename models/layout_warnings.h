// Where a common way of estimating a cache would mislead, with its number.

#ifndef KVSIM_MODELS_LAYOUT_WARNINGS_H_
#define KVSIM_MODELS_LAYOUT_WARNINGS_H_

#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "models/cache_layout.h"
#include "models/layout_builder.h"
#include "models/model_spec.h"

namespace kvsim {

// One sentence or two per trap that this model sets, each with the wrong
// figure at `tokens`, the right one and the cause: query heads taken for KV
// heads, latents taken for heads, q_lora_rank counted, index keys forgotten or
// counted per head, top-k taken for retention, windows taken for full history,
// shared K = V doubled, the weights' dtype taken for the cache's, GiB for GB.
// Bytes are written in `units`. `layout` is BuildCacheLayout(spec, options).
std::vector<std::string> LayoutWarnings(const ModelSpec& spec,
                                        const LayoutOptions& options,
                                        const CacheLayout& layout,
                                        Tokens tokens,
                                        ByteUnits units = ByteUnits::kBinary);

}  // namespace kvsim

#endif  // KVSIM_MODELS_LAYOUT_WARNINGS_H_
