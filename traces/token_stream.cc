#include "traces/token_stream.h"

#include "base/check.h"

namespace kvsim {

TokenStream::TokenStream(const TokenStreamOptions& options)
    : options_(options) {}

std::shared_ptr<const RequestTokens> TokenStream::Add(const TraceRequest& row) {
  KVSIM_CHECK_GT(row.id, last_id_);
  last_id_ = row.id;
  if (!options_.continue_sessions || row.session < 0) {
    return std::make_shared<RequestTokens>(row, options_.partial_tail);
  }
  std::shared_ptr<const RequestTokens>& latest = latest_[row.session];
  const bool continues =
      latest != nullptr && latest->request() == row.previous &&
      latest->scope() == row.scope && latest->hash_block() == row.hash_block;
  auto tokens =
      continues
          ? std::make_shared<RequestTokens>(row, options_.partial_tail, *latest)
          : std::make_shared<RequestTokens>(row, options_.partial_tail);
  if (tokens->continued_tokens() > 0) ++continued_turns_;
  continued_tokens_ += tokens->continued_tokens();
  latest = tokens;
  return tokens;
}

}  // namespace kvsim
