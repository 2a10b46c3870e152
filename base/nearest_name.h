// "Did you mean": the known names nearest to one that is not known.
//
// Distance: single-character insertions, removals and replacements.
// Costs:    O(names x length^2); names are short, this is the path of an error.

#ifndef KVSIM_BASE_NEAREST_NAME_H_
#define KVSIM_BASE_NEAREST_NAME_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kvsim {

size_t EditDistance(absl::string_view a, absl::string_view b);

// At most `most` of `names`, nearest first, then in their own order; only such
// as differ from `name` in no more than half of its characters.
std::vector<std::string> NearestNames(
    absl::string_view name, const std::vector<absl::string_view>& names,
    size_t most);

}  // namespace kvsim

#endif  // KVSIM_BASE_NEAREST_NAME_H_
