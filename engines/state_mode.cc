#include "engines/state_mode.h"

#include "absl/status/status.h"

namespace kvsim {

const char* StateModeName(StateMode mode) {
  switch (mode) {
    case StateMode::kNone:
      return "none";
    case StateMode::kAlign:
      return "align";
    case StateMode::kAll:
      return "all";
  }
  return "?";
}

absl::StatusOr<StateMode> ParseStateMode(absl::string_view text) {
  for (const StateMode mode :
       {StateMode::kNone, StateMode::kAlign, StateMode::kAll}) {
    if (text == StateModeName(mode)) return mode;
  }
  return absl::InvalidArgumentError("accepted: none, align, all");
}

}  // namespace kvsim
