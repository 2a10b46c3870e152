// Bytes of SGLang's rows and states: what its token budget charges for them and
// what its buffers then store.
//
// Model:   the budget divides memory by the charge, the buffers are allocated
//          by the stored size. The two differ for sparse attention with an fp8
//          cache under older accounting, and where pages are padded.
//            dense    K and V of this rank's heads
//            latent   latent and rope part, one row
//            sparse   a latent and an index key of 132 B, on every layer, also
//                     on those that use another layer's selection; with an fp8
//                     cache 656 B are stored (512 fp8, 4 scales, 64 bf16), but
//                     576 with the trtllm backend
//            fp4      half a byte, and one scale byte per 16 elements
//            mxfp8    one byte, and one scale byte per 32 elements
//            state    convolution inputs 2 B, recurrent state fp32 unless flag
//                     or config say otherwise
// Units:   bytes of one token or sequence on one rank.
// Source:  model_executor/pool_configurator.py, mem_cache/memory_pool.py.

#ifndef KVSIM_ENGINES_SGLANG_ROW_BYTES_H_
#define KVSIM_ENGINES_SGLANG_ROW_BYTES_H_

#include "base/units.h"
#include "engines/rank_layers.h"
#include "engines/sglang/settings.h"
#include "models/model_spec.h"

namespace kvsim::sglang {

// What "auto" stands for: fp8 where the checkpoint records an 8-bit cache, else
// the model's own two bytes.
CacheType ResolveCacheType(const Settings& settings, const ModelSpec& model);

struct RowBytes {
  Bytes k;  // a latent row counts here
  Bytes v;
  Bytes index;  // index key and scale

  Bytes Total() const { return k + v + index; }
};

// As stored in the pool. `type` is resolved.
RowBytes StoredRow(const RankLayer& layer, CacheType type,
                   const Settings& settings);
// As the budget counts it.
Bytes ChargedRow(const RankLayer& layer, CacheType type,
                 const Settings& settings);

struct StateBytes {
  Bytes conv;
  Bytes ssm;

  Bytes Total() const { return conv + ssm; }
};

StateBytes StateOf(const RankLayer& layer, const Settings& settings);

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_ROW_BYTES_H_
