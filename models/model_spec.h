// ModelSpec: what a model's config.json says about its layers, in one form for
// every family of models.
//
// Model:      a stack of layers. Each layer mixes tokens by attention, by a
//             recurrent state, by both (Falcon-H1), by several attentions
//             (LongCat-Flash: two) or not at all (a pure feed-forward layer),
//             and then applies a feed-forward part. What the layer *stores* is
//             derived from this by BuildCacheLayout(); nothing here depends on
//             an engine, a cache dtype or a parallel plan.
// Units:      counts of heads, elements and tokens; never bytes.
// Invariants: those of ValidateModelSpec(); every ModelSpec a reader returns
//             satisfies them.

#ifndef KVSIM_MODELS_MODEL_SPEC_H_
#define KVSIM_MODELS_MODEL_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "models/dtype.h"

namespace kvsim {

enum class AttentionKind : uint8_t {
  kFull,           // K and V of every token (MHA, GQA, MQA by the head counts)
  kSlidingWindow,  // K and V of the last `window` tokens, plus `sink_tokens`
  kChunkedLocal,   // K and V of the current `chunk` of tokens (Llama 4)
  kPromptWindow,   // K and V of the prompt and of the last `window` generated
  kMla,            // one latent row per token (DeepSeek V2/V3, Kimi)
  kCompressed,     // DeepSeek V4: window of shared K=V rows, plus rows that
                   // stand for `compress_ratio` tokens (0: window only)
  kEncoderOnly,    // an encoder's own attention: nothing outlives the pass
};

// Who computes the sparse selection of a DSA-like attention, and so who keeps
// a cache of index keys.
enum class IndexerKind : uint8_t {
  kNone,
  kFull,    // own indexer, own cache of index keys
  kShared,  // reuses the selection of the nearest full indexer before it
};

// How engines store one index key (facts differ by family, not by model).
enum class IndexKeyFormat : uint8_t {
  kFp8WithScale,  // fp8 elements and one fp32 scale per 128 of them (DSA)
  kCacheDtype,    // in the K/V cache's dtype, no scale (MiniMax-M3)
};

struct IndexerSpec {
  IndexerKind kind = IndexerKind::kNone;
  IndexKeyFormat format = IndexKeyFormat::kFp8WithScale;
  int64_t query_heads = 0;  // index_n_heads; exist on the query side only
  int64_t head_dim = 0;     // index_head_dim: width of the one key per token
  int64_t top_k = 0;        // entries read per step; does not bound the cache
  int64_t tokens_per_key = 1;  // one key stands for so many tokens
};

struct AttentionSpec {
  AttentionKind kind = AttentionKind::kFull;

  int64_t query_heads = 0;
  int64_t kv_heads = 0;    // 1 for MLA and V4: one row serves every head
  int64_t head_dim = 0;    // of Q and K (MLA: nope + rope)
  int64_t head_dim_v = 0;  // of V; equals head_dim unless the config differs

  int64_t window = 0;       // kSlidingWindow, kPromptWindow, kCompressed
  int64_t sink_tokens = 0;  // first tokens kept beside the window
  int64_t chunk = 0;        // kChunkedLocal

  int64_t q_lora_rank = 0;  // MLA, V4; query side only, never cached
  int64_t kv_lora_rank = 0;
  int64_t qk_rope_head_dim = 0;
  int64_t qk_nope_head_dim = 0;
  bool mla_without_rope = false;  // mla_use_nope: the rope part is not rotated

  int64_t compress_ratio = 0;  // V4: 0 (window only), 4 or 128
  int64_t o_lora_rank = 0;     // V4's grouped output projection
  int64_t o_groups = 0;

  IndexerSpec indexer;

  // Inkling: short convolutions over K, V and two streams of hidden width,
  // kept for the last `short_conv_kernel` tokens; 0 without.
  int64_t short_conv_kernel = 0;
  int64_t short_conv_width = 0;  // elements per KV head, as engines pack them

  // Layer whose K and V this one reads instead of storing its own; -1: none.
  int32_t kv_sharing_target = -1;
  // One projection serves as key and value (Gemma 4). Allocators still keep
  // two tensors; V4, whose row is stored once, does not use this flag.
  bool key_equals_value_weights = false;

  // Shape of the weights only.
  bool query_bias = false, key_value_bias = false, output_bias = false;
  bool query_key_norm = false;
  bool sink_logits = false;  // gpt-oss: one learned number per head, no cache
  // Width of the output gate's projection, 0 without a gate.
  int64_t gate_width = 0;
};

enum class RecurrentKind : uint8_t {
  kMamba1,
  kMamba2,
  kGatedDeltaNet,
  kKda,        // Kimi delta attention: state always fp32 in engines
  kLightning,  // linear attention: heads x dim x dim, no convolution
  kShortConv,  // LFM2: convolution only
  kRgLru,      // RecurrentGemma: one number per channel, and a convolution
  kRwkv7,      // heads x dim x dim, and the last input of both halves
};

// A fixed state per sequence: value_heads x value_dim x key_dim numbers, and
// the last conv_kernel - 1 inputs of a short convolution over conv_channels.
// Mamba: heads x head_dim x state_size; Mamba-1 and RG-LRU have no heads, so
// every channel counts as one of width 1.
struct RecurrentSpec {
  RecurrentKind kind = RecurrentKind::kMamba2;
  int64_t key_heads = 0;    // GDN; elsewhere equal to value_heads
  int64_t value_heads = 0;  // what tensor parallelism divides
  int64_t key_dim = 0;      // Mamba: state size
  int64_t value_dim = 0;    // Mamba: head dim
  int64_t groups = 0;       // Mamba-2 B/C groups; 0 elsewhere
  int64_t conv_kernel = 0;  // 0: no convolution
  int64_t conv_channels = 0;
  // Tokens that the kernels work on at once, where a config says so; states
  // that are kept for every block lie on multiples of it.
  int64_t chunk = 2048;
  bool full_rank_gate = false;       // shape of KDA's gate weights only
  std::optional<DType> state_dtype;  // mamba_ssm_dtype and the like
};

// Attention of a decoder layer to the encoder's output.
struct CrossAttentionSpec {
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
};

enum class FfnKind : uint8_t { kNone, kDense, kMoe };

struct FfnSpec {
  FfnKind kind = FfnKind::kNone;
  int64_t intermediate = 0;  // dense width
  int64_t matrices = 3;      // 3 gated (SwiGLU), 2 plain
  int64_t experts = 0;
  int64_t experts_per_token = 0;
  int64_t expert_intermediate = 0;
  int64_t shared_intermediate = 0;  // all shared experts together
  int64_t routed_hidden = 0;        // experts work in this width; 0: hidden
  bool shared_expert_gate = false;  // one more hidden x 1 projection
  bool router_bias = false;
  bool expert_bias = false;  // biases on every expert matrix
};

struct LayerSpec {
  std::vector<AttentionSpec> attention;  // usually one; none is allowed
  std::optional<RecurrentSpec> recurrent;
  std::optional<CrossAttentionSpec> cross;
  FfnSpec ffn;
  int64_t norms = 2;  // norm vectors of hidden width
  // Halves that a search replaced by one hidden x hidden matrix.
  int64_t linear_replacements = 0;
};

// What the checkpoint says about quantized weights and cache.
struct QuantizationSpec {
  std::string method;                 // quant_method as written; "" if none
  bool weights_known = true;          // false: a method this reader lacks
  DType weight_dtype = DType::kBf16;  // of attention and dense FFN weights
  DType expert_dtype = DType::kBf16;  // of routed experts
  // KV dtype the checkpoint was calibrated for; engines' "auto" follows it.
  std::optional<DType> kv_cache_dtype;
};

// What an article assumes where it differs from engines. Selected by
// --as-article; a config without such a record takes these defaults, which are
// those of "estimating the cache from config.json".
struct ArticleAssumptions {
  int64_t index_key_heads = 1;
  DType index_key_dtype = DType::kBf16;
  DType cache_dtype = DType::kBf16;
  DType state_dtype = DType::kBf16;
  bool counts_recurrent_state = true;
};

struct ModelSpec {
  std::string name;    // catalogue name or path it was loaded from
  std::string source;  // where the figures come from; "" for a user's file
  std::string model_type;
  std::string architecture;

  std::vector<LayerSpec> layers;
  std::vector<LayerSpec> mtp_layers;  // multi-token-prediction layers

  int64_t hidden_size = 0;
  int64_t vocab_size = 0;               // 0: the config does not say
  int64_t max_position_embeddings = 0;  // 0: the config does not say
  int64_t max_encoder_tokens = 0;       // encoder-decoder models; else 0
  DType dtype = DType::kBf16;           // of activations and plain weights
  bool tie_word_embeddings = false;
  // Of a vision tower beside the language model, as far as the config describes
  // it; no other weight count holds it.
  int64_t tower_weights = 0;
  // Bytes of all weight files, as an index beside the config or the file itself
  // says: towers and MTP layers included. 0: nothing says so.
  int64_t checkpoint_bytes = 0;
  QuantizationSpec quantization;
  ArticleAssumptions article;
  // Fields that are nobody's published figure but somebody's assumption.
  std::vector<std::string> assumed_fields;
};

// Limits every ModelSpec obeys, so that no sum of bytes can overflow.
inline constexpr int64_t kMaxLayers = 4096;
inline constexpr int64_t kMaxDimension = int64_t{1} << 24;
inline constexpr int64_t kMaxStateElements = int64_t{1} << 40;

// Checks what readers promise; the Status names layer, field, value and what
// would be accepted.
//   (1) 1 <= layers <= kMaxLayers, every count in [0, kMaxDimension].
//   (2) Each attention has the counts its kind needs, all positive; windows
//       and chunks are positive; query_heads is a multiple of kv_heads.
//   (3) kv_sharing_target is an earlier layer that stores its own K and V of
//       the same shape.
//   (4) A shared indexer has a full one before it.
absl::Status ValidateModelSpec(const ModelSpec& spec);

absl::string_view Name(AttentionKind kind);
absl::string_view Name(RecurrentKind kind);
absl::string_view Name(IndexerKind kind);

// One line for people: "GQA 32q/8kv x 128, window 4096", "MLA 512+64",
// "KDA 96 x 128 x 128", "none".
std::string DescribeLayer(const LayerSpec& layer);

}  // namespace kvsim

#endif  // KVSIM_MODELS_MODEL_SPEC_H_
