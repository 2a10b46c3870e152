#include "models/cache_layout.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim {
namespace {

// Tokens of one sequence that a retention rule still keeps.
Tokens KeptTokens(const Retention& retention, Tokens total, Tokens generated) {
  switch (retention.kind) {
    case RetentionKind::kAllHistory:
      return total;
    case RetentionKind::kLastWindow:
      return std::min(total, Tokens(retention.window + retention.sinks));
    case RetentionKind::kCurrentChunk:
      // The newest token's own chunk, so a full chunk at its last token.
      if (total == Tokens(0)) return total;
      return (total - Tokens(1)) % Tokens(retention.chunk) + Tokens(1);
    case RetentionKind::kPromptAndLastWindow:
      return total - generated + std::min(generated, Tokens(retention.window));
    case RetentionKind::kLatestState:
      return Tokens(1);
  }
  KVSIM_CHECK(false) << "retention " << static_cast<int>(retention.kind);
  return Tokens(0);
}

}  // namespace

Bytes CacheTensor::EntryBytes() const {
  return Bytes(BytesOf(dtype, elements) + scale_bytes);
}

int64_t CacheTensor::EntriesAt(const SequenceLength& length) const {
  KVSIM_CHECK(length.generated <= length.tokens);
  if (tokens_per_entry == kPerSequence) return 1;
  const bool encoder = source == TokenSource::kEncoder;
  const Tokens total = encoder ? length.encoder_tokens : length.tokens;
  KVSIM_CHECK(total >= Tokens(0) && total <= kMaxLayoutTokens) << total;
  const Tokens generated = encoder ? Tokens(0) : length.generated;
  const Tokens kept = KeptTokens(retention, total, generated);
  return CeilDiv(kept, Tokens(tokens_per_entry));
}

Bytes CacheTensor::BytesAt(const SequenceLength& length) const {
  return PaddedEntryBytes() * EntriesAt(length);
}

bool CacheTensor::GrowsWithHistory() const {
  return source == TokenSource::kDecoder && tokens_per_entry != kPerSequence &&
         (retention.kind == RetentionKind::kAllHistory ||
          retention.kind == RetentionKind::kPromptAndLastWindow);
}

double CacheTensor::BytesPerToken() const {
  if (!GrowsWithHistory()) return 0;
  return static_cast<double>(PaddedEntryBytes().value()) /
         static_cast<double>(tokens_per_entry);
}

Bytes CacheTensor::FixedBytes(Tokens encoder_tokens) const {
  if (GrowsWithHistory()) return Bytes(0);
  SequenceLength full;
  full.encoder_tokens = encoder_tokens;
  full.tokens = retention.kind == RetentionKind::kCurrentChunk
                    ? Tokens(retention.chunk)
                    : Tokens(retention.window + retention.sinks);
  return BytesAt(full);
}

Bytes LayerCache::BytesAt(const SequenceLength& length) const {
  Bytes sum;
  for (const CacheTensor& tensor : tensors) sum += tensor.BytesAt(length);
  return sum;
}

double LayerCache::BytesPerToken() const {
  double sum = 0;
  for (const CacheTensor& tensor : tensors) sum += tensor.BytesPerToken();
  return sum;
}

Bytes LayerCache::FixedBytes(Tokens encoder_tokens) const {
  Bytes sum;
  for (const CacheTensor& tensor : tensors) {
    sum += tensor.FixedBytes(encoder_tokens);
  }
  return sum;
}

Bytes CacheLayout::BytesAt(const SequenceLength& length) const {
  Bytes sum;
  for (const LayerCache& layer : layers) sum += layer.BytesAt(length);
  return sum;
}

Bytes CacheLayout::BytesAt(Tokens tokens) const {
  SequenceLength length;
  length.tokens = tokens;
  length.encoder_tokens = default_encoder_tokens;
  return BytesAt(length);
}

Bytes CacheLayout::PaddingBytesAt(const SequenceLength& length) const {
  Bytes sum;
  for (const LayerCache& layer : layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      sum += Bytes(tensor.padding_bytes) * tensor.EntriesAt(length);
    }
  }
  return sum;
}

double CacheLayout::BytesPerToken() const {
  double sum = 0;
  for (const LayerCache& layer : layers) sum += layer.BytesPerToken();
  return sum;
}

Bytes CacheLayout::FixedBytes() const {
  Bytes sum;
  for (const LayerCache& layer : layers) {
    sum += layer.FixedBytes(default_encoder_tokens);
  }
  return sum;
}

std::vector<NamedBytes> CacheLayout::BytesByTensor(
    const SequenceLength& length) const {
  std::vector<NamedBytes> sums;
  for (const LayerCache& layer : layers) {
    for (const CacheTensor& tensor : layer.tensors) {
      auto sum = std::find_if(
          sums.begin(), sums.end(),
          [&](const NamedBytes& named) { return named.name == tensor.name; });
      if (sum == sums.end()) sum = sums.insert(sums.end(), {tensor.name, {}});
      sum->bytes += tensor.BytesAt(length);
    }
  }
  return sums;
}

absl::string_view Name(RetentionKind kind) {
  switch (kind) {
    case RetentionKind::kAllHistory:
      return "all history";
    case RetentionKind::kLastWindow:
      return "last window";
    case RetentionKind::kCurrentChunk:
      return "current chunk";
    case RetentionKind::kPromptAndLastWindow:
      return "prompt and last window";
    case RetentionKind::kLatestState:
      return "latest state";
  }
  return "";
}

absl::string_view Name(TokenSource source) {
  switch (source) {
    case TokenSource::kDecoder:
      return "decoder";
    case TokenSource::kEncoder:
      return "encoder";
    case TokenSource::kNone:
      return "none";
  }
  return "";
}

absl::string_view Name(ShardAxis axis) {
  switch (axis) {
    case ShardAxis::kHeads:
      return "heads";
    case ShardAxis::kReplicated:
      return "replicated";
    case ShardAxis::kSequence:
      return "sequence";
  }
  return "";
}

absl::string_view Name(CacheStore store) {
  switch (store) {
    case CacheStore::kMain:
      return "main";
    case CacheStore::kIndex:
      return "index";
    case CacheStore::kWindow:
      return "window";
    case CacheStore::kCompressorState:
      return "compressor_state";
    case CacheStore::kIndexCompressorState:
      return "index_compressor_state";
    case CacheStore::kRecurrent:
      return "recurrent";
    case CacheStore::kShortConv:
      return "short_conv";
    case CacheStore::kCross:
      return "cross";
  }
  return "";
}

}  // namespace kvsim
