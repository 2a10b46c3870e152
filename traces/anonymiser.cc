#include "traces/anonymiser.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr char kNamed = 'n';    // an id of the trace
constexpr char kUnnamed = 'u';  // a block without one

// Two hashes of the salt make the key.
SipKey KeyOf(const std::string& salt) {
  return {SipHash({1, 2}, salt), SipHash({3, 4}, salt)};
}

}  // namespace

Anonymiser::Anonymiser(std::unique_ptr<TraceReader> reader,
                       const std::string& salt)
    : WrappedReader(std::move(reader)), key_(KeyOf(salt)) {
  KVSIM_CHECK(!salt.empty());
}

absl::StatusOr<bool> Anonymiser::Next(TraceRequest* row) {
  absl::StatusOr<bool> found = inner().Next(row);
  if (!found.ok() || !*found) return found;
  if (!zero_ns_.has_value()) zero_ns_ = row->arrival_ns;
  row->arrival_ns -= *zero_ns_;
  SaltIds(row);
  return true;
}

uint64_t Anonymiser::Salted(char kind, uint64_t scope, uint64_t id) const {
  char bytes[17] = {kind};
  for (int i = 0; i < 8; ++i) {
    bytes[1 + i] = static_cast<char>(scope >> (8 * i));
    bytes[9 + i] = static_cast<char>(id >> (8 * i));
  }
  return SipHash(key_, absl::string_view(bytes, sizeof(bytes)));
}

void Anonymiser::SaltIds(TraceRequest* row) const {
  for (uint64_t& id : row->hash_ids) id = Salted(kNamed, row->scope, id);
  row->scope = 0;
  if (row->hash_block == 0) {
    row->hash_block =
        std::clamp<int64_t>(row->input_length, 512, kMaxHashBlock);
  }
  const int64_t blocks = (row->input_length - 1) / row->hash_block + 1;
  while (static_cast<int64_t>(row->hash_ids.size()) < blocks) {
    row->hash_ids.push_back(
        Salted(kUnnamed, static_cast<uint64_t>(row->id), row->hash_ids.size()));
  }
}

}  // namespace kvsim
