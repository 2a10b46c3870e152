#include "traces/request_tokens.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvsim {
namespace {

// Full blocks whose ids agree from the start.
int64_t CommonBlocks(const std::vector<uint64_t>& a, int64_t a_blocks,
                     const std::vector<uint64_t>& b, int64_t b_blocks) {
  const int64_t limit = std::min(a_blocks, b_blocks);
  const auto end = a.begin() + limit;
  return std::mismatch(a.begin(), end, b.begin()).first - a.begin();
}

}  // namespace

RequestTokens::RequestTokens(const TraceRequest& row, PartialTail partial_tail)
    : request_(row.id),
      input_length_(row.input_length),
      output_length_(row.output_length),
      hash_block_(row.hash_block),
      full_blocks_(row.full_hash_blocks()),
      scope_(row.scope),
      ids_(row.hash_ids) {
  AppendOwn(0, partial_tail);
}

RequestTokens::RequestTokens(const TraceRequest& row, PartialTail partial_tail,
                             const RequestTokens& previous)
    : request_(row.id),
      input_length_(row.input_length),
      output_length_(row.output_length),
      hash_block_(row.hash_block),
      full_blocks_(row.full_hash_blocks()),
      scope_(row.scope),
      ids_(row.hash_ids) {
  KVSIM_CHECK_EQ(scope_, previous.scope_);
  KVSIM_CHECK_EQ(hash_block_, previous.hash_block_);
  AppendOwn(Inherit(previous), partial_tail);
}

RequestTokens::RequestTokens(const RequestTokens& parent, int64_t begin,
                             uint64_t name)
    : RequestTokens(parent) {
  KVSIM_CHECK_GT(begin, 0);
  while (segments_.back().begin >= begin) segments_.pop_back();
  Append(begin, Source::kRequest, name);
}

// Takes the head of the previous turn's segments; returns where it ends.
int64_t RequestTokens::Inherit(const RequestTokens& previous) {
  const int64_t common_blocks =
      CommonBlocks(previous.ids_, previous.full_blocks_, ids_, full_blocks_);
  const int64_t common = common_blocks * hash_block_;
  int64_t end = common;
  if (common_blocks == previous.full_blocks_ &&
      previous.output_length_ <= input_length_ - previous.input_length_) {
    end = previous.input_length_ + previous.output_length_;
    continued_tokens_ = end - common;
  }
  for (const Segment& segment : previous.segments_) {
    if (segment.begin >= end) break;
    if (segment.source != Source::kOwnIds) {
      Append(segment.begin, segment.source, segment.value);
      continue;
    }
    if (segment.begin < common) Append(segment.begin, Source::kOwnIds, 0);
    // Only a shared partial tail lies behind the common blocks.
    const int64_t own_end = previous.SegmentEnd(segment);
    if (own_end > common && end > common) {
      Append(std::max(segment.begin, common), Source::kForeignId,
             previous.ids_[common_blocks]);
    }
  }
  return end;
}

void RequestTokens::AppendOwn(int64_t begin, PartialTail partial_tail) {
  const bool shares_tail = partial_tail == PartialTail::kShared &&
                           static_cast<int64_t>(ids_.size()) > full_blocks_;
  const int64_t ids_end =
      shares_tail ? input_length_ : full_blocks_ * hash_block_;
  if (begin < ids_end) {
    Append(begin, Source::kOwnIds, 0);
    begin = ids_end;
  }
  Append(begin, Source::kRequest, static_cast<uint64_t>(request_));
}

// Adds a segment unless it only goes on with the last one.
void RequestTokens::Append(int64_t begin, Source source, uint64_t value) {
  if (source == Source::kForeignId) {
    const auto block = static_cast<size_t>(begin / hash_block_);
    if (block < ids_.size() && ids_[block] == value) {
      source = Source::kOwnIds;
      value = 0;
    }
  }
  if (!segments_.empty()) {
    const Segment& last = segments_.back();
    const bool same_block = source != Source::kForeignId ||
                            last.begin / hash_block_ == begin / hash_block_;
    if (last.source == source && last.value == value && same_block) return;
  }
  segments_.push_back({begin, source, value});
}

int64_t RequestTokens::SegmentEnd(const Segment& segment) const {
  const auto next = static_cast<size_t>(&segment - segments_.data()) + 1;
  return next < segments_.size() ? segments_[next].begin : kEndless;
}

void RequestTokens::CheckInvariants() const {
  KVSIM_CHECK(!segments_.empty());
  KVSIM_CHECK_EQ(segments_.front().begin, 0);
  KVSIM_CHECK(segments_.back().source == Source::kRequest);
  for (size_t i = 1; i < segments_.size(); ++i) {
    const Segment& a = segments_[i - 1];
    const Segment& b = segments_[i];
    KVSIM_CHECK_LT(a.begin, b.begin);
    KVSIM_CHECK(a.source != b.source || a.value != b.value ||
                (a.source == Source::kForeignId &&
                 a.begin / hash_block_ != b.begin / hash_block_));
  }
  for (const Segment& segment : segments_) {
    if (segment.source != Source::kForeignId) continue;
    // A foreign id lies inside one hash block.
    KVSIM_CHECK_EQ(segment.begin / hash_block_,
                   (SegmentEnd(segment) - 1) / hash_block_);
  }
}

}  // namespace kvsim
