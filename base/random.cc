#include "base/random.h"

#include <bit>
#include <cmath>

#include "absl/numeric/int128.h"
#include "base/check.h"
#include "base/fixed_log.h"

namespace kvsim {
namespace {

constexpr double kTwoToMinus53 = 0x1p-53;
constexpr double kTwoToMinus32 = 0x1p-32;

uint64_t Fnv1a(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

uint64_t SplitMix64(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// -ln(value / 2^64).
double MinusLog(uint64_t value) {
  const int64_t minus_log2 = 64 * kQ32One - FixedLog2(value);
  return static_cast<double>(minus_log2) * kTwoToMinus32 * kLn2;
}

}  // namespace

RandomStream::RandomStream(uint64_t seed, absl::string_view name) {
  // The name is mixed before it meets the seed, so that neighbouring seeds and
  // similar names do not cancel.
  uint64_t mixer = Fnv1a(name);
  mixer = SplitMix64(&mixer) ^ seed;
  for (uint64_t& word : state_) word = SplitMix64(&mixer);
}

uint64_t RandomStream::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t RandomStream::Below(uint64_t bound) {
  KVSIM_CHECK(bound > 0);
  // Lemire's method: the high half of a product is uniform once the few low
  // halves that would be one too many are thrown away.
  const uint64_t surplus = (0 - bound) % bound;  // 2^64 mod bound
  while (true) {
    const absl::uint128 product = absl::uint128(Next()) * bound;
    if (absl::Uint128Low64(product) >= surplus) {
      return absl::Uint128High64(product);
    }
  }
}

int64_t RandomStream::Between(int64_t low, int64_t high) {
  KVSIM_CHECK_LE(low, high);
  const uint64_t span =
      static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = span == 0 ? Next() : Below(span);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double RandomStream::Uniform() {
  return static_cast<double>(Next() >> 11) * kTwoToMinus53;
}

bool RandomStream::Chance(double probability) {
  KVSIM_CHECK(probability >= 0 && probability <= 1) << probability;
  return Uniform() < probability;
}

double RandomStream::Exponential() {
  // Next() | 1 keeps zero, whose logarithm does not exist, away.
  return MinusLog(Next() | 1);
}

SimTime RandomStream::ExponentialTime(SimTime mean) {
  KVSIM_CHECK_GE(mean, SimTime(0));
  const double gap_ns = static_cast<double>(mean.value()) * Exponential();
  KVSIM_CHECK(gap_ns < 9e18) << "mean of " << mean;
  return SimTime(static_cast<int64_t>(gap_ns + 0.5));
}

double RandomStream::Normal() {
  while (true) {
    const double x = 2 * Uniform() - 1;
    const double y = 2 * Uniform() - 1;
    const double s = x * x + y * y;
    if (s >= 1 || s == 0) continue;
    // s < 1 is a multiple of 2^-106; as a share of 2^64 it may fall to 0.
    const auto share = static_cast<uint64_t>(s * 0x1p64) | 1;
    return x * std::sqrt(2 * MinusLog(share) / s);
  }
}

int64_t RandomStream::LogNormal(int64_t median, double sigma) {
  KVSIM_CHECK(median >= 0 && median <= (int64_t{1} << 30)) << median;
  KVSIM_CHECK(sigma >= 0) << sigma;
  const double exponent = sigma * Normal() * kLog2E;
  if (exponent >= 31) return median << 31;
  if (exponent <= -34) return 0;
  const auto factor = static_cast<uint64_t>(
      FixedExp2(static_cast<int64_t>(exponent * static_cast<double>(kQ32One))));
  const absl::uint128 scaled =
      absl::uint128(factor) * static_cast<uint64_t>(median);
  return static_cast<int64_t>((scaled + kQ32One / 2) >> kQ32Bits);
}

int64_t RandomStream::Geometric(double probability) {
  KVSIM_CHECK(probability >= 0x1p-20 && probability <= 1) << probability;
  // floor(ln U / ln(1 - p)) needs ln(1 - p); as a share of 2^64, 1 - p is exact
  // to 2^-53.
  const auto failure = static_cast<uint64_t>((1 - probability) * 0x1p64);
  if (failure == 0) return 0;
  return static_cast<int64_t>(Exponential() / MinusLog(failure));
}

size_t RandomStream::Weighted(std::span<const int64_t> weights) {
  int64_t sum = 0;
  for (const int64_t weight : weights) {
    KVSIM_CHECK_GE(weight, 0);
    sum = CheckedAdd(sum, weight);
  }
  KVSIM_CHECK_GT(sum, 0);
  auto rest = static_cast<int64_t>(Below(static_cast<uint64_t>(sum)));
  for (size_t i = 0; i < weights.size(); ++i) {
    if (rest < weights[i]) return i;
    rest -= weights[i];
  }
  KVSIM_CHECK(false) << "the weights sum to more than their sum";
  return 0;
}

}  // namespace kvsim
