#include "base/nearest_name.h"

#include <algorithm>
#include <utility>

namespace kvsim {

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<std::string> NearestNames(
    absl::string_view name, const std::vector<absl::string_view>& names,
    size_t most) {
  std::vector<std::pair<size_t, absl::string_view>> ranked;
  for (absl::string_view known : names) {
    const size_t distance = EditDistance(name, known);
    if (2 * distance <= name.size()) ranked.emplace_back(distance, known);
  }
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i) {
    nearest.emplace_back(ranked[i].second);
  }
  return nearest;
}

}  // namespace kvsim
