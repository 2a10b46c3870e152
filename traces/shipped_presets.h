// The presets that are part of kvsim.
#ifndef KVSIM_TRACES_SHIPPED_PRESETS_H_
#define KVSIM_TRACES_SHIPPED_PRESETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/trace_preset.h"

namespace kvsim {

// Their names, in order.
std::vector<std::string> ShippedPresetNames();

// The preset of that name, or else the one in the file of that name. Errors
// name the file and what is wrong with it, or list the names.
absl::StatusOr<TracePreset> LoadTracePreset(const std::string& name);

}  // namespace kvsim

#endif  // KVSIM_TRACES_SHIPPED_PRESETS_H_
