#include "traces/block_size_ceiling.h"

#include <algorithm>
#include <span>

#include "traces/request_keys.h"
#include "traces/request_tokens.h"

namespace kvsim {

void BlockSizeCeiling::Add(const TraceRequest& row) {
  tail_tokens_ += row.input_length % block_tokens_;
  // Behind the ids every token is the request's own and never hits again.
  const int64_t named = row.full_hash_blocks() * row.hash_block;
  const int64_t blocks = std::min(row.input_length, named) / block_tokens_;
  const RequestTokens tokens(row, PartialTail::kUnique);
  RequestKeys keys(&tokens, block_tokens_);
  bool in_prefix = true;
  for (const uint64_t key : keys.Prefix(blocks)) {
    in_prefix = !keys_.insert(key).second && in_prefix;
    if (in_prefix) hit_tokens_ += block_tokens_;
  }
}

}  // namespace kvsim
