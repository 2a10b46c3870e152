// The bytes of a checkpoint, from the index beside its safetensors files.

#ifndef KVSIM_MODELS_SAFETENSORS_INDEX_H_
#define KVSIM_MODELS_SAFETENSORS_INDEX_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

// metadata.total_size of a model.safetensors.index.json; 0 where it has none.
// Errors name the file and field: no JSON object, or a size that is no integer
// from 0 to 2^60.
absl::StatusOr<int64_t> ReadTotalSize(absl::string_view json,
                                      absl::string_view name);

}  // namespace kvsim

#endif  // KVSIM_MODELS_SAFETENSORS_INDEX_H_
