// Reserves one contiguous range per request, as engines did before paging.
//
// Model:      slots 0 .. capacity-1 in a row. A reservation takes the first
//             hole, lowest address first, that is long enough, from its low
//             end; a release joins the hole with its neighbours.
// Invariants: (1) holes and reservations cover all slots, without overlap;
//             (2) no two holes touch;
//             (3) free() is the sum of the holes.
// Units:      slots; the caller says what a slot is (here: a token).
// Costs:      Reserve and LargestHole O(holes), Release O(log holes). There are
//             at most reservations + 1 holes.
// Errors:     no hole is nullopt; releasing what is not reserved is a check
//             failure.
// Source:     first fit with coalescing: Knuth, TAOCP 1, section 2.5.
#ifndef KVSIM_ALLOCATOR_CONTIGUOUS_RESERVER_H_
#define KVSIM_ALLOCATOR_CONTIGUOUS_RESERVER_H_

#include <cstdint>
#include <map>
#include <optional>

namespace kvsim {

class ContiguousReserver {
 public:
  // REQUIRES: capacity > 0.
  explicit ContiguousReserver(int64_t capacity);

  // The first slot of the range. REQUIRES: length > 0.
  std::optional<int64_t> Reserve(int64_t length);
  // REQUIRES: `begin` was returned by Reserve and not released since.
  void Release(int64_t begin);

  int64_t capacity() const { return capacity_; }
  int64_t free() const { return free_; }
  int64_t LargestHole() const;
  int64_t num_holes() const { return static_cast<int64_t>(holes_.size()); }

  // Checks the numbered invariants; O(holes + reservations).
  void CheckInvariants() const;

 private:
  using Ranges = std::map<int64_t, int64_t>;  // begin to length

  int64_t capacity_;
  int64_t free_;
  Ranges holes_;
  Ranges reserved_;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_CONTIGUOUS_RESERVER_H_
