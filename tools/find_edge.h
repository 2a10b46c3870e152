// Where along the integers a property stops to hold.
//
// Model:      the property holds on one side of an edge and fails on the other.
//             Doubling (or halving) from `start` finds one value of each kind,
//             bisection brings them together. Whether there is only one edge is
//             for the caller to say; both values returned were really tried.
// Costs:      about log2(edge / start) + log2(1 / precision) calls.
// Errors:     the first one that `holds` returns.
#ifndef KVSIM_TOOLS_FIND_EDGE_H_
#define KVSIM_TOOLS_FIND_EDGE_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "base/check.h"

namespace kvsim {

struct EdgeSearch {
  int64_t start = 1;
  int64_t least = 1, most = 1;
  bool holds_below = true;  // else above
  // Stop when the two values differ by at most this share of the smaller one,
  // or by 1. In millionths.
  int64_t precision_ppm = 0;
};

// A missing value: the property holds, or fails, at every value tried up to that
// end of the range.
struct Edge {
  std::optional<int64_t> holds, fails;
};

// holds(value) gives absl::StatusOr<bool>.
// REQUIRES: 1 <= least <= start <= most < 2^62.
template <typename Holds>
absl::StatusOr<Edge> FindEdge(const EdgeSearch& search, Holds&& holds) {
  KVSIM_CHECK(1 <= search.least && search.least <= search.start &&
              search.start <= search.most && search.most < int64_t{1} << 62);
  Edge edge;
  int64_t value = search.start;
  while (true) {
    const absl::StatusOr<bool> held = holds(value);
    if (!held.ok()) return held.status();
    (*held ? edge.holds : edge.fails) = value;
    if (!edge.holds || !edge.fails) {  // away from where it was the same
      const bool up = *held == search.holds_below;
      if (value == (up ? search.most : search.least)) return edge;
      value = up ? std::min(search.most, value * 2)
                 : std::max(search.least, value / 2);
      continue;
    }
    const int64_t low = std::min(*edge.holds, *edge.fails);
    const int64_t gap = std::max(*edge.holds, *edge.fails) - low;
    const int64_t enough = low / 1'000'000 * search.precision_ppm +
                           low % 1'000'000 * search.precision_ppm / 1'000'000;
    if (gap <= std::max<int64_t>(1, enough)) return edge;
    value = low + gap / 2;
  }
}

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FIND_EDGE_H_
