// Strong units: Tokens, Blocks, Bytes and SimTime.
//
// Model:     a Quantity is an int64 with a unit that the compiler checks. Equal
//            units add and compare; a count scales a quantity; dividing two
//            quantities of one unit gives a plain count. Nothing converts
//            silently in either direction: `Tokens(5)` in, `.value()` out.
// Overflow:  every operation checks it and aborts. An aggregate that may leave
//            int64 (bytes × nanoseconds) belongs in an absl::int128.
// Division:  `/` and `%` round toward zero as integers do; use CeilDiv,
//            RoundUp and RoundDown where the direction matters.
// Costs:     8 bytes, trivially copyable, one branch per operation.

#ifndef KVSIM_BASE_UNITS_H_
#define KVSIM_BASE_UNITS_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>
#include <utility>

#include "base/check.h"

namespace kvsim {

// Plain counts. Each checks that the result fits.
constexpr int64_t CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  KVSIM_CHECK(!__builtin_add_overflow(a, b, &sum)) << a << " + " << b;
  return sum;
}

constexpr int64_t CheckedSub(int64_t a, int64_t b) {
  int64_t difference = 0;
  KVSIM_CHECK(!__builtin_sub_overflow(a, b, &difference)) << a << " - " << b;
  return difference;
}

constexpr int64_t CheckedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  KVSIM_CHECK(!__builtin_mul_overflow(a, b, &product)) << a << " * " << b;
  return product;
}

// The least q with q * divisor >= dividend.
// REQUIRES: dividend >= 0, divisor > 0.
constexpr int64_t CeilDiv(int64_t dividend, int64_t divisor) {
  KVSIM_CHECK(dividend >= 0 && divisor > 0) << dividend << " / " << divisor;
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

// The least multiple of `step` that is >= value.
// REQUIRES: value >= 0, step > 0, the result fits.
constexpr int64_t RoundUp(int64_t value, int64_t step) {
  return CheckedMul(CeilDiv(value, step), step);
}

// The greatest multiple of `step` that is <= value.
// REQUIRES: value >= 0, step > 0.
constexpr int64_t RoundDown(int64_t value, int64_t step) {
  KVSIM_CHECK(value >= 0 && step > 0) << value << " by " << step;
  return value - value % step;
}

template <typename Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t value) : value_(value) {}

  static constexpr Quantity Max() {
    return Quantity(std::numeric_limits<int64_t>::max());
  }

  constexpr int64_t value() const { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(CheckedAdd(a.value_, b.value_));
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(CheckedSub(a.value_, b.value_));
  }
  friend constexpr Quantity operator*(Quantity a, int64_t count) {
    return Quantity(CheckedMul(a.value_, count));
  }
  friend constexpr Quantity operator*(int64_t count, Quantity a) {
    return a * count;
  }
  friend constexpr Quantity operator/(Quantity a, int64_t count) {
    KVSIM_CHECK(count != 0);
    return Quantity(a.value_ / count);
  }
  friend constexpr int64_t operator/(Quantity a, Quantity b) {
    KVSIM_CHECK(b.value_ != 0);
    return a.value_ / b.value_;
  }
  friend constexpr Quantity operator%(Quantity a, Quantity b) {
    KVSIM_CHECK(b.value_ != 0);
    return Quantity(a.value_ % b.value_);
  }

  constexpr Quantity& operator+=(Quantity other) {
    return *this = *this + other;
  }
  constexpr Quantity& operator-=(Quantity other) {
    return *this = *this - other;
  }
  constexpr Quantity& operator*=(int64_t count) {
    return *this = *this * count;
  }
  constexpr Quantity& operator++() { return *this += Quantity(1); }
  constexpr Quantity& operator--() { return *this -= Quantity(1); }

  // For messages of tests and checks, with the unit: "12 tokens". Text that
  // people read comes from base/text.h.
  friend std::ostream& operator<<(std::ostream& out, Quantity a) {
    return out << a.value_ << " " << Tag::kUnit;
  }

  template <typename H>
  friend H AbslHashValue(H state, Quantity a) {
    return H::combine(std::move(state), a.value_);
  }

 private:
  int64_t value_ = 0;
};

// REQUIRES: dividend >= 0, divisor > 0, as for plain counts.
template <typename Tag>
constexpr int64_t CeilDiv(Quantity<Tag> dividend, Quantity<Tag> divisor) {
  return CeilDiv(dividend.value(), divisor.value());
}
template <typename Tag>
constexpr Quantity<Tag> RoundUp(Quantity<Tag> value, Quantity<Tag> step) {
  return Quantity<Tag>(RoundUp(value.value(), step.value()));
}
template <typename Tag>
constexpr Quantity<Tag> RoundDown(Quantity<Tag> value, Quantity<Tag> step) {
  return Quantity<Tag>(RoundDown(value.value(), step.value()));
}

struct TokensTag {
  static constexpr char kUnit[] = "tokens";
};
struct BlocksTag {
  static constexpr char kUnit[] = "blocks";
};
struct BytesTag {
  static constexpr char kUnit[] = "bytes";
};
struct SimTimeTag {
  static constexpr char kUnit[] = "ns";
};

using Tokens = Quantity<TokensTag>;
using Blocks = Quantity<BlocksTag>;
using Bytes = Quantity<BytesTag>;

// Simulated time in nanoseconds: an instant since the start of the run, or the
// distance between two. The wall clock never enters it.
using SimTime = Quantity<SimTimeTag>;

constexpr Bytes KiB(int64_t count) { return Bytes(1024) * count; }
constexpr Bytes MiB(int64_t count) { return KiB(1024) * count; }
constexpr Bytes GiB(int64_t count) { return MiB(1024) * count; }

constexpr SimTime Microseconds(int64_t count) { return SimTime(1000) * count; }
constexpr SimTime Milliseconds(int64_t count) {
  return Microseconds(1000) * count;
}
constexpr SimTime Seconds(int64_t count) { return Milliseconds(1000) * count; }

// The nearest nanosecond to `seconds`, halves upward.
// REQUIRES: 0 <= seconds < 9e9 (285 years).
constexpr SimTime FromSeconds(double seconds) {
  KVSIM_CHECK(seconds >= 0 && seconds < 9e9) << seconds << " s";
  const auto whole = static_cast<int64_t>(seconds);
  const double rest_ns = (seconds - static_cast<double>(whole)) * 1e9;
  return Seconds(whole) + SimTime(static_cast<int64_t>(rest_ns + 0.5));
}

// For rates and reports; exact below 2^53 ns (104 days).
constexpr double ToSeconds(SimTime time) {
  return static_cast<double>(time.value()) / 1e9;
}

}  // namespace kvsim

#endif  // KVSIM_BASE_UNITS_H_
