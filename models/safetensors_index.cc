#include "models/safetensors_index.h"

#include "absl/strings/str_cat.h"
#include "models/config_fields.h"

namespace kvsim {

absl::StatusOr<int64_t> ReadTotalSize(absl::string_view json,
                                      absl::string_view name) {
  const absl::StatusOr<nlohmann::json> index = ParseJsonObject(json, name);
  if (!index.ok()) return index.status();
  const auto metadata = index->find("metadata");
  if (metadata == index->end() || !metadata->is_object()) return 0;
  const auto size = metadata->find("total_size");
  if (size == metadata->end()) return 0;
  // Some writers print it as a float.
  constexpr double kMost = 1152921504606846976.0;  // 2^60
  const double bytes = size->is_number() ? size->get<double>() : -1.0;
  if (!(bytes >= 0 && bytes <= kMost)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     ": field metadata.total_size is no size; accepted: "
                     "an integer from 0 to 2^60"));
  }
  return size->is_number_float() ? static_cast<int64_t>(bytes)
                                 : size->get<int64_t>();
}

}  // namespace kvsim
