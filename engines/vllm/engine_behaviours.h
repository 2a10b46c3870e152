// The behaviours of vLLM's scheduler and cache that changed with its version.
//
// Model:   each named behaviour of Settings has the date of the commit that brought
//          it. A date decides exactly; a release decides where it is known to lie
//          before or behind that date, and between takes the older behaviour with
//          a note.
// Source:  first commits that contain each symbol (2026-02-10 to 2026-08-17); what
//          releases have, from start-up logs.

#ifndef KVSIM_ENGINES_VLLM_ENGINE_BEHAVIOURS_H_
#define KVSIM_ENGINES_VLLM_ENGINE_BEHAVIOURS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

// Sets every behaviour of *settings as `version` has it; what is no behaviour stays.
// Appends to *notes, for people, what was assumed. "" is the newest known version.
// Errors: InvalidArgument quoting a version that cannot be read.
absl::Status ApplyVersion(absl::string_view version, Settings* settings,
                          std::vector<std::string>* notes);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_ENGINE_BEHAVIOURS_H_
