// One side of `kvsim compare`: a line of flags, or an engine's command.
//
// Model:   a side is text as a shell takes it: flags of `kvsim capacity`, with
//          an engine's command behind `--` or without; an engine's command
//          alone, which also says which engine; "@FILE", a file that holds
//          either; or nothing. Flags given for both sides hold where the side's
//          own flags say nothing.
// Errors:  wrong usage, "A: ...", naming the word and the nearest flags.

#ifndef KVSIM_TOOLS_COMPARE_SIDE_H_
#define KVSIM_TOOLS_COMPARE_SIDE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/capacity_flags.h"

namespace kvsim {

struct ComparedSide {
  CapacityFlags flags;
  std::vector<std::string> serve_words;
};

// `side` is "A" or "B", for errors.
absl::StatusOr<ComparedSide> ReadSide(absl::string_view side,
                                      absl::string_view text,
                                      const CapacityFlags& both);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMPARE_SIDE_H_
