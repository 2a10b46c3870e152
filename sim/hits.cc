#include "sim/hits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "allocator/fifo_cache.h"
#include "allocator/lru_cache.h"
#include "allocator/optimal_cache.h"
#include "base/check.h"
#include "base/units.h"
#include "traces/request_keys.h"

namespace kvsim {
namespace {

// 5.4 GB of bookkeeping at 40 bytes an entry: what a machine can hold.
constexpr int64_t kMaxBlocks = int64_t{1} << 27;
constexpr int64_t kMillion = 1'000'000;

std::unique_ptr<HitCache> MakeCache(const HitOptions& options,
                                    const KeyRows& rows) {
  switch (options.policy) {
    case HitPolicy::kLru:
      return std::make_unique<LruCache>(options.num_blocks);
    case HitPolicy::kFifo:
      return std::make_unique<FifoCache>(options.num_blocks);
    case HitPolicy::kOptimal:
      return std::make_unique<OptimalCache>(options.num_blocks, rows);
  }
  KVSIM_CHECK(false) << static_cast<int>(options.policy);
  return nullptr;
}

}  // namespace

absl::StatusOr<HitPolicy> ParseHitPolicy(absl::string_view text) {
  for (const HitPolicy policy :
       {HitPolicy::kLru, HitPolicy::kFifo, HitPolicy::kOptimal}) {
    if (text == HitPolicyName(policy)) return policy;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "found \"", text, "\"; accepted: \"lru\", \"fifo\", \"optimal\""));
}

const char* HitPolicyName(HitPolicy policy) {
  switch (policy) {
    case HitPolicy::kLru:
      return "lru";
    case HitPolicy::kFifo:
      return "fifo";
    case HitPolicy::kOptimal:
      return "optimal";
  }
  return "?";
}

absl::StatusOr<HitTrace> HitTrace::Read(TraceReader* reader,
                                        const TokenStreamOptions& options,
                                        int64_t block_tokens) {
  KVSIM_CHECK(block_tokens > 0) << block_tokens;
  HitTrace trace(options, block_tokens);
  TraceRequest row;
  while (true) {
    const absl::StatusOr<bool> more = reader->Next(&row);
    if (!more.ok()) return more.status();
    if (!*more) break;
    const auto room =
        kMaxBlocks - static_cast<int64_t>(trace.rows_.keys.size());
    if (trace.NumBlocks(row.input_length) > room) {
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", row.id, ": field `input_length`: found ", row.input_length,
          "; accepted: a trace of at most ", kMaxBlocks, " blocks of ",
          block_tokens, " tokens in all"));
    }
    trace.Add(row);
  }
  if (trace.rows() == 0) {
    return absl::InvalidArgumentError("the trace has no rows");
  }
  return trace;
}

// With a shared tail the row is taken to be as long as its ids say: the partial
// block then has the key of the whole block that its id names. When the
// engine's last block ends behind that, the last id stands for the rest too.
void HitTrace::Add(const TraceRequest& row) {
  const int64_t blocks = NumBlocks(row.input_length);
  input_lengths_.push_back(row.input_length);
  TraceRequest whole = row;
  if (options_.partial_tail == PartialTail::kShared &&
      row.last_id_is_partial()) {
    const int64_t ids = CeilDiv(blocks * block_tokens_, row.hash_block);
    whole.hash_ids.resize(
        std::max(row.hash_ids.size(), static_cast<size_t>(ids)),
        row.hash_ids.back());
    whole.input_length =
        static_cast<int64_t>(whole.hash_ids.size()) * row.hash_block;
  }
  const auto tokens = stream_.Add(whole);
  RequestKeys keys(tokens.get(), block_tokens_);
  rows_.Append(keys.Prefix(blocks));
}

int64_t HitTrace::NumBlocks(int64_t input_length) const {
  return options_.partial_tail == PartialTail::kShared
             ? CeilDiv(input_length, block_tokens_)
             : input_length / block_tokens_;
}

int64_t HitTrace::HitLimit(int64_t input_length) const {
  if (options_.partial_tail == PartialTail::kShared) {
    return NumBlocks(input_length);
  }
  return std::max<int64_t>(0, input_length - 1) / block_tokens_;
}

absl::StatusOr<HitResult> HitTrace::Replay(const HitOptions& options) const {
  if (options.num_blocks <= 0 || options.num_blocks > kMaxBlocks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", options.num_blocks, " blocks; accepted: 1 to ", kMaxBlocks));
  }
  return Replay(*MakeCache(options, rows_), options.measured_share);
}

HitResult HitTrace::Counted(double measured_share) const {
  KVSIM_CHECK(measured_share >= 0 && measured_share <= 1) << measured_share;
  const auto skipped_ppm =
      kMillion - static_cast<int64_t>(measured_share * kMillion + 0.5);
  const int64_t first_measured = rows() * skipped_ppm / kMillion;
  HitResult result;
  result.rows = rows();
  result.measured_rows = rows() - first_measured;
  result.references = static_cast<int64_t>(rows_.keys.size());
  for (int64_t r = first_measured; r < rows(); ++r) {
    result.measured_tokens += input_length(r);
    result.measured_references += static_cast<int64_t>(rows_[r].size());
  }
  return result;
}

HitResult HitTrace::Replay(HitCache& cache, double measured_share) const {
  HitResult result = Counted(measured_share);
  const int64_t first_measured = result.rows - result.measured_rows;
  for (int64_t r = 0; r < rows(); ++r) {
    const int64_t length = input_length(r);
    const int64_t hits = std::min(cache.Access(rows_[r]), HitLimit(length));
    if (r < first_measured) continue;
    result.hit_blocks += hits;
    result.hit_tokens += std::min(hits * block_tokens_, length);
    result.hit_rows += hits > 0 ? 1 : 0;
  }
  result.evictions = cache.evictions();
  return result;
}

}  // namespace kvsim
