// Which rows of a table nobody beats.

#ifndef KVSIM_TOOLS_PARETO_H_
#define KVSIM_TOOLS_PARETO_H_

#include <cstddef>
#include <vector>

namespace kvsim {

// The indices, ascending, of the rows that no other row dominates: at least as
// good everywhere and better somewhere. More is better. Equal rows all stay.
// REQUIRES: rows of one length. O(rows²).
inline std::vector<size_t> ParetoFront(
    const std::vector<std::vector<double>>& rows) {
  const auto dominates = [](const std::vector<double>& a,
                            const std::vector<double>& b) {
    bool better = false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] < b[i]) return false;
      better = better || a[i] > b[i];
    }
    return better;
  };
  std::vector<size_t> front;
  for (size_t i = 0; i < rows.size(); ++i) {
    bool beaten = false;
    for (size_t j = 0; j < rows.size() && !beaten; ++j) {
      beaten = dominates(rows[j], rows[i]);
    }
    if (!beaten) front.push_back(i);
  }
  return front;
}

}  // namespace kvsim

#endif  // KVSIM_TOOLS_PARETO_H_
