#include "allocator/contiguous_reserver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace kvsim {
namespace {

// The rules on a row of cells: 0 is free, else the owner's mark.
class NaiveReserver {
 public:
  explicit NaiveReserver(int64_t capacity)
      : cells_(static_cast<size_t>(capacity), 0) {}

  std::optional<int64_t> Reserve(int64_t length) {
    for (size_t begin = 0; begin + static_cast<size_t>(length) <= cells_.size();
         ++begin) {
      const auto first = cells_.begin() + static_cast<int64_t>(begin);
      if (std::all_of(first, first + length, [](int c) { return c == 0; })) {
        std::fill(first, first + length, ++mark_);
        return static_cast<int64_t>(begin);
      }
    }
    return std::nullopt;
  }
  void Release(int64_t begin) {
    const int mark = cells_[static_cast<size_t>(begin)];
    std::replace(cells_.begin(), cells_.end(), mark, 0);
  }
  int64_t free() const { return std::count(cells_.begin(), cells_.end(), 0); }
  int64_t LargestHole() const {
    int64_t largest = 0;
    int64_t run = 0;
    for (const int cell : cells_) {
      run = cell == 0 ? run + 1 : 0;
      largest = std::max(largest, run);
    }
    return largest;
  }

 private:
  std::vector<int> cells_;
  int mark_ = 0;
};

// One step of a program: below `max_length` reserve code + 1 slots, else
// release one of the ranges that are held.
void Step(int64_t code, int64_t max_length, ContiguousReserver& reserver,
          NaiveReserver& twin, std::vector<int64_t>& held) {
  if (code < max_length) {
    const auto begin = reserver.Reserve(code + 1);
    ASSERT_EQ(begin, twin.Reserve(code + 1));
    if (begin.has_value()) held.push_back(*begin);
  } else if (!held.empty()) {
    const auto victim =
        held.begin() + (code - max_length) % static_cast<int64_t>(held.size());
    reserver.Release(*victim);
    twin.Release(*victim);
    held.erase(victim);
  }
  ASSERT_EQ(reserver.free(), twin.free());
  ASSERT_EQ(reserver.LargestHole(), twin.LargestHole());
  reserver.CheckInvariants();
}

// All programs of 7 steps over 5 slots: reserve 1, 2 or 3, release the first or
// the second range held.
TEST(ContiguousReserverTest, EqualsItsTwinOnAllShortPrograms) {
  constexpr int kCodes = 5;
  constexpr int kSteps = 7;
  int programs = 1;
  for (int i = 0; i < kSteps; ++i) programs *= kCodes;
  for (int program = 0; program < programs; ++program) {
    SCOPED_TRACE(program);
    ContiguousReserver reserver(5);
    NaiveReserver twin(5);
    std::vector<int64_t> held;
    for (int code = program, step = 0; step < kSteps; ++step, code /= kCodes) {
      Step(code % kCodes, 3, reserver, twin, held);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ContiguousReserverTest, EqualsItsTwinOnLongRandomPrograms) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    uint64_t state = seed;
    ContiguousReserver reserver(200);
    NaiveReserver twin(200);
    std::vector<int64_t> held;
    for (int step = 0; step < 300; ++step) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      Step(static_cast<int64_t>((state >> 33) % 80), 40, reserver, twin, held);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ContiguousReserverTest, FreeSpaceInPiecesServesNobody) {
  ContiguousReserver reserver(30);
  const auto a = reserver.Reserve(10);
  const auto b = reserver.Reserve(10);
  const auto c = reserver.Reserve(10);
  reserver.Release(*a);
  reserver.Release(*c);
  EXPECT_EQ(reserver.free(), 20);
  EXPECT_EQ(reserver.LargestHole(), 10);
  EXPECT_EQ(reserver.Reserve(11), std::nullopt);
  reserver.Release(*b);
  EXPECT_EQ(reserver.num_holes(), 1);
  EXPECT_EQ(reserver.Reserve(30), 0);
}

TEST(ContiguousReserverDeathTest, RefusesAReleaseTwice) {
  ContiguousReserver reserver(10);
  const auto range = reserver.Reserve(4);
  reserver.Release(*range);
  EXPECT_DEATH(reserver.Release(*range), "slot 0");
}

}  // namespace
}  // namespace kvsim
