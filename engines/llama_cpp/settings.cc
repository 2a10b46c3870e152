#include "engines/llama_cpp/settings.h"

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace kvsim::llama_cpp {
namespace {

struct TypeRow {
  CacheType type;
  absl::string_view name;
  int64_t elements;  // of a block
  int64_t bytes;
};

constexpr TypeRow kTypes[] = {
    {CacheType::kF32, "f32", 1, 4},       {CacheType::kF16, "f16", 1, 2},
    {CacheType::kBf16, "bf16", 1, 2},     {CacheType::kQ8_0, "q8_0", 32, 34},
    {CacheType::kQ4_0, "q4_0", 32, 18},   {CacheType::kQ4_1, "q4_1", 32, 20},
    {CacheType::kQ5_0, "q5_0", 32, 22},   {CacheType::kQ5_1, "q5_1", 32, 24},
    {CacheType::kIq4Nl, "iq4_nl", 32, 18}};

const TypeRow& RowOf(CacheType type) {
  return kTypes[static_cast<size_t>(type)];
}

absl::Status CheckRange(absl::string_view flag, int64_t value, int64_t least,
                        int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", value, ": must be from ", least, " to ", most));
}

}  // namespace

absl::StatusOr<CacheType> ParseCacheType(absl::string_view text) {
  std::string names;
  for (const TypeRow& row : kTypes) {
    if (row.name == text) return row.type;
    absl::StrAppend(&names, names.empty() ? "" : ", ", row.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no cache type; accepted: ", names));
}

absl::string_view Name(CacheType type) { return RowOf(type).name; }

int64_t BytesOf(CacheType type, int64_t elements) {
  const TypeRow& row = RowOf(type);
  KVSIM_CHECK(elements % row.elements == 0) << elements;
  return elements / row.elements * row.bytes;
}

int64_t BlockElements(CacheType type) { return RowOf(type).elements; }

absl::Status Settings::Validate() const {
  constexpr int64_t kMost = int64_t{1} << 32;
  absl::Status status = CheckRange("--ctx-size", ctx_size, 0, kMost);
  if (status.ok()) {
    status = CheckRange("--batch-size", batch_size, 1, kMost);
  }
  if (status.ok()) {
    status = CheckRange("--ubatch-size", ubatch_size, 1, kMost);
  }
  if (status.ok()) status = CheckRange("--parallel", parallel, 1, 65536);
  if (status.ok()) status = CheckRange("--draft-max", draft_max, 0, 65536);
  if (status.ok()) {
    status = CheckRange("--ctx-size-draft", draft_ctx_size, 0, kMost);
  }
  if (!status.ok()) return status;
  if (flash_attn == FlashAttention::kOff && BlockElements(cache_type_v) > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cache-type-v ", Name(cache_type_v),
                     ": V in blocks needs --flash-attn on or auto"));
  }
  return absl::OkStatus();
}

}  // namespace kvsim::llama_cpp
