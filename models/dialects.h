// The table of dialects: how each family of config.json says what its layers
// are.
//
// A row names the fields by which a family describes attention, the rule that
// tells the layers apart when the config has no `layer_types`, what its linear
// layers are, and the class defaults of fields that may be absent. Everything
// else is read by field names common to all families. Adding a family is
// adding a row; a row never depends on a model's name.
// Source: the config classes of transformers 5.13 and vLLM's model files.

#ifndef KVSIM_MODELS_DIALECTS_H_
#define KVSIM_MODELS_DIALECTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "models/model_spec.h"

namespace kvsim {

// Which fields describe an attention layer.
enum class AttentionFamily : uint8_t {
  kHeads,        // num_attention_heads, num_key_value_heads, head_dim
  kMla,          // kv_lora_rank, qk_rope_head_dim, perhaps index_*
  kMlaIfRanked,  // kMla where kv_lora_rank is set, else kHeads (Bailing)
  kCompressed,   // DeepSeek V4: compress_ratios, sliding_window, index_*
};

// What tells layers apart in the absence of `layer_types`.
enum class LayerPattern : uint8_t {
  kUniform,           // all layers full
  kLayerTypesOnly,    // nothing but layer_types says it
  kWindowEverywhere,  // all windowed when sliding_window is set
  kWindowIfEnabled,   // use_sliding_window, from max_window_layers on
  kAlternating,       // even layers windowed, odd full
  kEveryNthFull,      // sliding_window_pattern: N, or "LLLG"
  kIntervalFull,      // full_attention_interval: N; others linear
  kKdaLists,          // linear_attn_config's two lists of layer ids
  kChunkedRope,       // no_rope_layers or every N-th full; others chunked
  kHybridBits,        // hybrid_layer_pattern: 0 full, 1 windowed
  kLinearEverywhere,  // no attention at all (Mamba)
  kHybridEverywhere,  // attention and a recurrent state in every layer
  kGroupTail,         // layer_group_size: N-th full, so are those of the
                      // last, incomplete group; others linear
  kAttnTypeList,      // attn_type_list: 1 full, 0 linear; absent: all full
  kPeriodOffset,      // attn_layer_period, attn_layer_offset; others linear
  kIndexList,         // attn_layer_indices or full_attn_idxs; others linear
  kLayerLetters,      // hybrid_override_pattern or layers_block_type: each
                      // layer is a mixer or a feed-forward part
  kLocalIds,          // local_layer_ids windowed, others full
  kSparseBits,        // sparse_attention_config: 1 with index keys, 0 without
  kBlockConfigs,      // block_configs: each layer on its own (Nemotron-NAS)
  kBlockTypes,        // block_types repeated: attention windowed, others
                      // linear (RecurrentGemma)
};

// Class defaults and facts about the weights, as bits.
enum DialectTrait : uint32_t {
  kNoTraits = 0,
  kTiedByDefault = 1 << 0,    // tie_word_embeddings absent means true
  kQkvBias = 1 << 1,          // Q, K and V have biases without a field
  kBiasOnOutput = 1 << 2,     // attention_bias covers the output projection
  kQkNorm = 1 << 3,           // Q and K are normed without a field
  kFourNorms = 1 << 4,        // norms before and after both halves
  kOutputGate = 1 << 5,       // attn_output_gate absent means true
  kSinkLogits = 1 << 6,       // a learned sink per head: a weight, not cache
  kPlainMlp = 1 << 7,         // two matrices instead of a gated three
  kExpertBias = 1 << 8,       // biases in router and experts
  kSharedExpert = 1 << 9,     // one shared expert without a field
  kCrossAttention = 1 << 10,  // decoder layers attend to an encoder
  kFp32ByDefault = 1 << 11,   // no dtype field means float32
  kMultiQuery = 1 << 12,      // multi_query (absent means true): one KV head,
                              // unless new_decoder_architecture is set
  kWideFfn = 1 << 13,         // feed-forward of 4 x hidden without a field
  kLastLayerFull = 1 << 14,   // whatever the pattern says of the last layer
  kTwoAttentions = 1 << 15,   // two attentions and two dense halves per layer
  kSplitLayers = 1 << 16,     // a layer is a mixer or a feed-forward part
  kNoFfn = 1 << 17,           // mixers only
  kOneNorm = 1 << 18,         // both halves share one norm
  kFirstDense = 1 << 19,      // the first layer has no experts
  kDenseBesideExperts = 1 << 20,  // a dense half runs beside the experts
  kEncoder = 1 << 21,             // an encoder: nothing outlives a pass
};

struct Dialect {
  absl::string_view model_type;
  absl::string_view architecture;
  AttentionFamily family = AttentionFamily::kHeads;
  LayerPattern pattern = LayerPattern::kUniform;
  int64_t pattern_period = 0;  // class default of the pattern's N
  std::optional<RecurrentKind> linear;
  uint32_t traits = kNoTraits;
  int64_t indexer_period = 1;  // class default of index_topk_freq

  bool Has(DialectTrait trait) const { return (traits & trait) != 0; }
};

std::span<const Dialect> AllDialects();

// The row for the first of `names` (model types, then architectures, inner
// before outer) that the table knows; nullptr when none is.
const Dialect* FindDialect(const std::vector<std::string>& names);

}  // namespace kvsim

#endif  // KVSIM_MODELS_DIALECTS_H_
