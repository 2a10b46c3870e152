// Configs of families that no dialect describes.
//
// Reading one as if it were another family gives wrong bytes silently, so the
// default is an error that names the nearest known kind and the field that
// makes it the nearest. A user who knows better says which of two plain kinds
// to assume for every layer.

#ifndef KVSIM_MODELS_UNKNOWN_FAMILY_H_
#define KVSIM_MODELS_UNKNOWN_FAMILY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assumed_attention.h"
#include "models/config_fields.h"
#include "models/dialects.h"

namespace kvsim {

// The error about `model_type`: the nearest kind by the fields of `fields`,
// the field that decided, what --assume would do, and the known families.
absl::Status UnknownFamilyError(absl::string_view model_type,
                                const ConfigFields& fields);

// The dialect that an assumption stands for: K and V of every head, or one
// latent row, in every layer; layer_types is still obeyed. nullptr for kNone.
const Dialect* AssumedDialect(AssumedAttention assume);

// What an assumed reading rests on, for ModelSpec::assumed_fields: a line
// about the family, and one about fields the assumption passes over.
std::vector<std::string> AssumptionNotes(absl::string_view model_type,
                                         AssumedAttention assume,
                                         const ConfigFields& fields);

}  // namespace kvsim

#endif  // KVSIM_MODELS_UNKNOWN_FAMILY_H_
