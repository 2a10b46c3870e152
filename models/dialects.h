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
  kHeads,       // num_attention_heads, num_key_value_heads, head_dim
  kMla,         // kv_lora_rank, qk_rope_head_dim, perhaps index_*
  kCompressed,  // DeepSeek V4: compress_ratios, sliding_window, index_*
};

// What tells layers apart in the absence of `layer_types`.
enum class LayerPattern : uint8_t {
  kUniform,           // all layers full
  kWindowEverywhere,  // all windowed when sliding_window is set
  kWindowIfEnabled,   // use_sliding_window, from max_window_layers on
  kAlternating,       // even layers windowed, odd full
  kEveryNthFull,      // sliding_window_pattern: N, or "LLLG"
  kIntervalFull,      // full_attention_interval: N; others linear
  kKdaLists,          // linear_attn_config's two lists of 1-based ids
  kChunkedRope,       // no_rope_layers or every N-th full; others chunked
  kHybridBits,        // hybrid_layer_pattern: 0 full, 1 windowed
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
};

struct Dialect {
  absl::string_view model_type;
  absl::string_view architecture;
  AttentionFamily family = AttentionFamily::kHeads;
  LayerPattern pattern = LayerPattern::kUniform;
  int64_t pattern_period = 0;  // class default of the pattern's N
  std::optional<RecurrentKind> linear;
  uint32_t traits = kNoTraits;

  bool Has(DialectTrait trait) const { return (traits & trait) != 0; }
};

std::span<const Dialect> AllDialects();

// The row for the first of `names` (model types, then architectures, inner
// before outer) that the table knows; nullptr when none is.
const Dialect* FindDialect(const std::vector<std::string>& names);

}  // namespace kvsim

#endif  // KVSIM_MODELS_DIALECTS_H_
