#include "traces/request_keys.h"

#include <algorithm>

#include "base/check.h"
#include "base/mix.h"

namespace kvsim {
namespace {

// Odd constants with no pattern: digits of pi, e and the square root of 2.
constexpr uint64_t kChainStart = 0x243f6a8885a308d3;
constexpr uint64_t kIdKind = 0x13198a2e03707344;
constexpr uint64_t kRequestKind = 0xb7e151628aed2a6b;
constexpr uint64_t kStartFactor = 0x9e3779b97f4a7c15;
constexpr uint64_t kLengthFactor = 0x6a09e667f3bcc909;

// The word of one run of a source: injective in (start, length) for every pair
// that occurs, because the factors are odd and unrelated.
constexpr uint64_t RunWord(uint64_t source, int64_t start, int64_t length) {
  return source + static_cast<uint64_t>(start) * kStartFactor +
         static_cast<uint64_t>(length) * kLengthFactor;
}

constexpr uint64_t Absorb(uint64_t state, uint64_t run) {
  return Mix(state ^ run);
}

constexpr uint64_t RequestSource(uint64_t request) {
  return Mix(Mix(kRequestKind) ^ request);
}

}  // namespace

RequestKeys::RequestKeys(const RequestTokens* tokens, int64_t block_tokens)
    : tokens_(tokens),
      block_tokens_(block_tokens),
      scope_hash_(Mix(kIdKind ^ Mix(tokens->scope()))),
      last_key_(kChainStart) {
  KVSIM_CHECK_GT(block_tokens, 0);
}

RequestKeys::RequestKeys(const RequestTokens* tokens, const RequestKeys& parent,
                         int64_t begin)
    : RequestKeys(tokens, parent.block_tokens_) {
  const auto same = std::min(static_cast<int64_t>(parent.keys_.size()),
                             begin / block_tokens_);
  if (same == 0) return;
  keys_.reserve(parent.keys_.capacity());
  keys_.assign(parent.keys_.begin(), parent.keys_.begin() + same);
  last_key_ = keys_.back();
  const auto& segments = tokens_->segments();
  while (tokens_->SegmentEnd(segments[segment_]) <= same * block_tokens_) {
    ++segment_;
  }
}

std::span<const uint64_t> RequestKeys::Prefix(int64_t num_blocks) {
  KVSIM_CHECK_GE(num_blocks, 0);
  if (num_blocks > static_cast<int64_t>(keys_.size())) Extend(num_blocks);
  return std::span<const uint64_t>(keys_).first(
      static_cast<size_t>(num_blocks));
}

void RequestKeys::Extend(int64_t num_blocks) {
  KVSIM_CHECK_LE(num_blocks, RequestTokens::kEndless / block_tokens_);
  if (keys_.empty()) {
    const int64_t expected = tokens_->input_length() / block_tokens_ +
                             tokens_->output_length() / block_tokens_ + 1;
    // A row may claim any length; never reserve more than twice what is asked.
    keys_.reserve(static_cast<size_t>(
        std::max(num_blocks, std::min(expected, 2 * num_blocks))));
  }
  while (static_cast<int64_t>(keys_.size()) < num_blocks) {
    AddBlocksOfSegment(num_blocks);
    if (static_cast<int64_t>(keys_.size()) < num_blocks) AddBlockOfRuns();
  }
}

// The blocks up to num_blocks that lie in the current segment and hold one run
// each. Leaves the others to AddBlockOfRuns.
void RequestKeys::AddBlocksOfSegment(int64_t num_blocks) {
  const RequestTokens::Segment& segment = tokens_->segments()[segment_];
  const int64_t whole = tokens_->SegmentEnd(segment) / block_tokens_;
  const int64_t end = std::min(num_blocks, whole);
  if (segment.source == RequestTokens::Source::kRequest) {
    AddRequestBlocks(RequestSource(segment.value), end);
  } else if (segment.source == RequestTokens::Source::kOwnIds &&
             tokens_->hash_block() % block_tokens_ == 0) {
    AddIdBlocks(end);
  }
}

void RequestKeys::AddRequestBlocks(uint64_t source, int64_t end_block) {
  uint64_t key = last_key_;
  for (int64_t i = static_cast<int64_t>(keys_.size()); i < end_block; ++i) {
    key = Absorb(key, RunWord(source, i * block_tokens_, block_tokens_));
    keys_.push_back(key);
  }
  last_key_ = key;
}

// REQUIRES: the block size divides the hash block.
void RequestKeys::AddIdBlocks(int64_t end_block) {
  const int64_t per_id = tokens_->hash_block() / block_tokens_;
  int64_t i = static_cast<int64_t>(keys_.size());
  if (i >= end_block) return;
  int64_t id_index = i / per_id;
  int64_t in_id = i % per_id;
  uint64_t key = last_key_;
  keys_.resize(static_cast<size_t>(end_block));
  while (i < end_block) {
    const uint64_t source = IdSource(tokens_->ids()[id_index]);
    for (; in_id < per_id && i < end_block; ++in_id, ++i) {
      key = Absorb(key, RunWord(source, in_id * block_tokens_, block_tokens_));
      keys_[static_cast<size_t>(i)] = key;
    }
    ++id_index;
    in_id = 0;
  }
  last_key_ = key;
}

// The next block, run by run: it may cross segments and hash blocks.
void RequestKeys::AddBlockOfRuns() {
  const auto& segments = tokens_->segments();
  int64_t position = static_cast<int64_t>(keys_.size()) * block_tokens_;
  const int64_t block_end = position + block_tokens_;
  uint64_t key = last_key_;
  while (true) {
    const RequestTokens::Segment& segment = segments[segment_];
    const int64_t segment_end = tokens_->SegmentEnd(segment);
    while (position < std::min(block_end, segment_end)) {
      const Run run =
          RunAt(segment, position, std::min(block_end, segment_end));
      key = Absorb(key, RunWord(run.source, run.start, run.length));
      position += run.length;
    }
    if (position == segment_end) ++segment_;
    if (position == block_end) break;
  }
  keys_.push_back(key);
  last_key_ = key;
}

RequestKeys::Run RequestKeys::RunAt(const RequestTokens::Segment& segment,
                                    int64_t position, int64_t end) const {
  if (segment.source == RequestTokens::Source::kRequest) {
    return {RequestSource(segment.value), position, end - position};
  }
  const int64_t hash_block = tokens_->hash_block();
  const int64_t index = position / hash_block;
  const int64_t start = position - index * hash_block;
  const uint64_t id = segment.source == RequestTokens::Source::kOwnIds
                          ? tokens_->ids()[static_cast<size_t>(index)]
                          : segment.value;
  return {IdSource(id), start, std::min(end - position, hash_block - start)};
}

uint64_t RequestKeys::IdSource(uint64_t id) const {
  return Mix(scope_hash_ ^ id);
}

}  // namespace kvsim
