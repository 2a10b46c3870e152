// What one tensor rank keeps in each layer, in elements: for engines that pick
// their own number formats and pools.
//
// Model:   a layer keeps rows for tokens (K and V of its heads, or one latent
//          row that every rank holds whole, and perhaps an index key), states
//          for sequences (the inputs of a convolution and a recurrent state),
//          or both. Layers that read another layer's K and V keep nothing.
//          Compressed attention (DeepSeek V4) keeps the tensors of its layout.
// Units:   elements of one token or one sequence, unless a name says bytes.
// Ownership: plain values. Costs: O(layers).

#ifndef KVSIM_ENGINES_RANK_LAYERS_H_
#define KVSIM_ENGINES_RANK_LAYERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cache_layout.h"
#include "models/dtype.h"
#include "models/model_spec.h"

namespace kvsim {

struct RankLayer {
  int32_t layer = 0;      // MTP layers count on from the model's last
  bool is_draft = false;  // an MTP layer

  Retention retention;   // of the rows: which tokens they are kept for
  int64_t k = 0;         // of one token; a latent row with its rope part
  int64_t v = 0;         // of one token; 0 for latent rows
  int64_t rope = 0;      // the part of a latent row that is rotated
  int64_t kv_heads = 0;  // of K on this rank; 0 for latent rows
  int64_t index = 0;     // index key of one token
  int64_t index_scale_bytes = 0;  // 0: the key has the cache's own format
  int64_t cross = 0;              // K and V of one encoder token

  int64_t conv = 0;   // of one sequence
  int64_t state = 0;  // of one sequence
  // What the config says its recurrent states are kept in.
  std::optional<DType> state_dtype;

  std::vector<CacheTensor>
      compressed;  // DeepSeek V4; then the rows above are 0

  bool HasRows() const { return k > 0; }
  bool HasState() const { return conv > 0 || state > 0; }
  bool IsLatent() const { return k > 0 && kv_heads == 0; }
  // Rows that are not kept for all history: a window or a chunk.
  bool IsWindow() const {
    return retention.kind == RetentionKind::kLastWindow ||
           retention.kind == RetentionKind::kCurrentChunk;
  }
  // Tokens of that window or chunk.
  int64_t Window() const {
    return retention.kind == RetentionKind::kCurrentChunk ? retention.chunk
                                                          : retention.window;
  }
};

struct RankRules {
  int64_t tensor = 1;  // ranks that share heads
  // Heads that the ranks do not divide: the share rounds up (else an error).
  bool heads_round_up = false;
  bool index_keys_on_shared_layers = false;
  bool encoders_keep_rows = false;  // those of encoder-only attention too
  bool mtp_layers = false;
};

// All layers in order, MTP layers last; a layer that keeps nothing has none of
// the parts. Errors: InvalidArgument naming both numbers when heads do not
// divide; those of BuildCacheLayout.
absl::StatusOr<std::vector<RankLayer>> LayersOnRank(const ModelSpec& model,
                                                    const RankRules& rules);

// Convolution channels of all ranks together. Mamba-2 shares its B and C groups
// out; where ranks do not divide them, every rank gets one.
int64_t ConvolutionChannels(const RecurrentSpec& recurrent, int64_t ranks);

// Refuses caches whose bytes could leave int64, whatever their format: rows of
// `tokens` tokens and states of `sequences` sequences. Errors: InvalidArgument
// with both numbers. REQUIRES: neither is negative.
absl::Status CheckCacheSize(const std::vector<RankLayer>& layers,
                            int64_t tokens, int64_t sequences);

// Layers with rows of full history / rows of a window / a state.
enum class RankLayerKind { kHistory, kWindow, kState };
std::vector<RankLayer> Select(const std::vector<RankLayer>& layers,
                              RankLayerKind kind, bool drafts);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_RANK_LAYERS_H_
