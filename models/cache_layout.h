// CacheLayout: what every layer of a model stores for one sequence.
//
// Model:      per layer a list of cache tensors. A tensor gets one entry per
//             `tokens_per_entry` tokens (1 for plain K/V, 4 or 128 for V4's
//             compressed rows, kPerSequence for recurrent states), an entry
//             has `elements` numbers of `dtype` and `scale_bytes` of scales,
//             and `retention` says which entries are still kept. One formula
//             covers every model:
//               M = B*sum_l T_l*E_l*S_l + B*sum_l R_l*S_l + scales + metadata.
//             A new kind of attention is a new list, not a new formula.
// Scope:      one logical copy of one sequence: no sharding, no rounding of
//             the token count to blocks, no allocator reserve. The padding
//             that a row format's page alignment adds is kept apart
//             (padding_bytes) and counted only where a function says so.
// Units:      tokens and bytes. Sums cannot overflow for lengths up to
//             kMaxLayoutTokens: BuildCacheLayout refuses such layouts.
// Costs:      every function is O(number of tensors).

#ifndef KVSIM_MODELS_CACHE_LAYOUT_H_
#define KVSIM_MODELS_CACHE_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/units.h"
#include "models/dtype.h"

namespace kvsim {

inline constexpr int64_t kPerSequence = 0;
inline constexpr Tokens kMaxLayoutTokens = Tokens(int64_t{1} << 32);

// Which entries of a tensor stay alive.
enum class RetentionKind : uint8_t {
  kAllHistory,
  kLastWindow,           // the first `sinks` and the last `window` tokens
  kCurrentChunk,         // the chunk of `chunk` tokens the newest token lies in
  kPromptAndLastWindow,  // the prompt and the last `window` generated tokens
  kLatestState,          // one value per sequence
};

struct Retention {
  RetentionKind kind = RetentionKind::kAllHistory;
  int64_t window = 0;
  int64_t sinks = 0;
  int64_t chunk = 0;
};

// Whose tokens produce the entries.
enum class TokenSource : uint8_t { kDecoder, kEncoder, kNone };

// What tensor parallelism does with an entry.
enum class ShardAxis : uint8_t {
  kHeads,       // split over `heads`; replicated once ranks exceed heads
  kReplicated,  // a whole copy on every rank (MLA latents, index keys)
  kSequence,    // rows split over ranks, whatever their width
};

// The physical cache an entry is part of. Tensors of one layer with the same
// store are columns of one row and share its pages (an engine registers one
// cache per layer and store).
enum class CacheStore : uint8_t {
  kMain,                  // K and V, MLA latents, V4 compressed rows
  kIndex,                 // index keys and their scales
  kWindow,                // V4's sliding window beside the compressed rows
  kCompressorState,       // V4's unfinished compression groups
  kIndexCompressorState,  // the same for V4's index keys
  kRecurrent,             // convolution and recurrent state
  kShortConv,             // inputs of short convolutions over K and V
  kCross,                 // K and V of the encoder's output
};

// Length of one sequence. A decoder-only sequence is just tokens.
struct SequenceLength {
  Tokens tokens;          // prompt and generated
  Tokens encoder_tokens;  // audio frames, source text
  Tokens generated;       // of `tokens`; matters to kPromptAndLastWindow
};

struct CacheTensor {
  // k, v, latent, rope_key, index_key, index_scale, conv_state,
  // recurrent_state, csa_entry, hca_entry, swa_entry, compressor_state,
  // index_compressor_state, cross_k, cross_v.
  std::string name;
  CacheStore store = CacheStore::kMain;
  int64_t elements = 0;  // per entry, all heads together
  DType dtype = DType::kBf16;
  int64_t scale_bytes = 0;    // per entry, stored inside the entry
  int64_t padding_bytes = 0;  // per entry, what the page alignment adds
  int64_t tokens_per_entry = 1;
  Retention retention;
  TokenSource source = TokenSource::kDecoder;
  ShardAxis shard = ShardAxis::kHeads;
  int64_t heads = 1;  // equal shares an entry can be split into

  // Bytes of one entry: elements and scales, no padding.
  Bytes EntryBytes() const;
  Bytes PaddedEntryBytes() const { return EntryBytes() + Bytes(padding_bytes); }

  // Entries alive when the sequence has this length. A started group of
  // tokens_per_entry tokens counts as an entry. kPerSequence: always 1.
  int64_t EntriesAt(const SequenceLength& length) const;

  // EntriesAt() * PaddedEntryBytes().
  Bytes BytesAt(const SequenceLength& length) const;

  // True when the tensor grows with the decoder's history for ever.
  bool GrowsWithHistory() const;

  // Growth per token of history; 0 for a tensor that does not grow with it.
  double BytesPerToken() const;

  // What a long sequence holds of a tensor that does not grow with the
  // history: its full window or chunk, its state, its encoder entries; 0 for
  // one that grows.
  Bytes FixedBytes(Tokens encoder_tokens) const;
};

struct LayerCache {
  int32_t layer = 0;  // index in ModelSpec::layers, or in mtp_layers
  bool is_mtp = false;
  std::string kind;                  // DescribeLayer() of the layer
  std::vector<CacheTensor> tensors;  // empty: the layer stores nothing

  Bytes BytesAt(const SequenceLength& length) const;
  double BytesPerToken() const;
  Bytes FixedBytes(Tokens encoder_tokens) const;
};

// Bytes of one tensor name, summed over layers.
struct NamedBytes {
  std::string name;
  Bytes bytes;
};

struct CacheLayout {
  std::vector<LayerCache> layers;  // in order, MTP layers last
  // Encoder length used where a caller has none (ModelSpec's maximum).
  Tokens default_encoder_tokens;

  // All bytes one sequence of this length holds, padding included.
  // REQUIRES: 0 <= tokens, encoder_tokens <= kMaxLayoutTokens.
  Bytes BytesAt(const SequenceLength& length) const;
  // A decoder-only length, the encoder at its default.
  Bytes BytesAt(Tokens tokens) const;

  // Of BytesAt(), what page alignment adds to the rows.
  Bytes PaddingBytesAt(const SequenceLength& length) const;

  // Growth per token of the full-history part. Exact: every denominator is a
  // power of two (compress ratios).
  double BytesPerToken() const;

  // What a long sequence holds beside the full history: full windows and
  // chunks, states, the encoder's part at its default length.
  Bytes FixedBytes() const;

  // BytesAt() by tensor name, in order of first appearance.
  std::vector<NamedBytes> BytesByTensor(const SequenceLength& length) const;
};

absl::string_view Name(RetentionKind kind);
absl::string_view Name(TokenSource source);
absl::string_view Name(ShardAxis axis);
absl::string_view Name(CacheStore store);

}  // namespace kvsim

#endif  // KVSIM_MODELS_CACHE_LAYOUT_H_
