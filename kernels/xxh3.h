// The hash XXH3, for kernels: 64 and 128 bits, without a seed.
//
// Model:      equals XXH3_64bits and XXH3_128bits of the xxHash library bit for bit.
//             A chain of keys hashes messages that begin with the key before. So a
//             hash comes in two steps: Rest… is all work that does not read the
//             first 16 bytes' own place in the algorithm, and Finish… the remainder.
//             Up to 128 bytes, Finish is one or two multiplications of 64 by 64 bits
//             and the last mixing; beyond 240 bytes it is a quarter of the message,
//             namely the two of eight accumulators that the first 16 bytes enter.
//             Only in hashes of 128 bits of 129 to 240 bytes every step waits for
//             the first bytes; there Rest does nothing.
// Messages:   any type with `uint64_t Word(int64_t offset) const`: the 8 bytes at
//             `offset`, little endian. Offsets are multiples of 4 if the length is.
// Units:      bytes. Lengths from 9 (64 bits) and from 17 (128 bits): shorter
//             messages do not occur.
// Costs:      O(length), accumulators in registers.
// Source:     xxHash 0.8.1, xxhash.h (Yann Collet), scalar paths.
#ifndef KVSIM_KERNELS_XXH3_H_
#define KVSIM_KERNELS_XXH3_H_

#include <cstdint>

#include "kernels/host_device.h"

namespace kvsim::xxh3 {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

inline constexpr uint64_t kPrime32_1 = 0x9E3779B1;
inline constexpr uint64_t kPrime32_2 = 0x85EBCA77;
inline constexpr uint64_t kPrime32_3 = 0xC2B2AE3D;
inline constexpr uint64_t kPrime64_1 = 0x9E3779B185EBCA87;
inline constexpr uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4F;
inline constexpr uint64_t kPrime64_3 = 0x165667B19E3779F9;
inline constexpr uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63;
inline constexpr uint64_t kPrime64_5 = 0x27D4EB2F165667C5;

inline constexpr int64_t kStripe = 64;  // bytes: one word for each accumulator
inline constexpr int64_t kStripesPerScramble = 16;
inline constexpr int kScrambleSecret = 128;
inline constexpr int kLastStripeSecret = 121;
inline constexpr int kMergeLowSecret = 11;
inline constexpr int kMergeHighSecret = 117;

// The 8 bytes at `offset` of the library's secret of 192 bytes.
KVSIM_HOST_DEVICE inline uint64_t Secret(int offset) {
  static constexpr uint64_t kWords[] = {
      0xBE4BA423396CFEB8, 0x1CAD21F72C81017C, 0xDB979083E96DD4DE,
      0x1F67B3B7A4A44072, 0x78E5C0CC4EE679CB, 0x2172FFCC7DD05A82,
      0x8E2443F7744608B8, 0x4C263A81E69035E0, 0xCB00C391BB52283C,
      0xA32E531B8B65D088, 0x4EF90DA297486471, 0xD8ACDEA946EF1938,
      0x3F349CE33F76FAA8, 0x1D4F0BC7C7BBDCF9, 0x3159B4CD4BE0518A,
      0x647378D9C97E9FC8, 0xC3EBD33483ACC5EA, 0xEB6313FAFFA081C5,
      0x49DAF0B751DD0D17, 0x9E68D429265516D3, 0xFCA1477D58BE162B,
      0xCE31D07AD1B8F88F, 0x280416958F3ACB45, 0x7E404BBBCAFBD7AF};
  const uint64_t word = kWords[offset / 8];
  const int shift = offset % 8 * 8;
  if (shift == 0) return word;
  return (word >> shift) | (kWords[offset / 8 + 1] << (64 - shift));
}

KVSIM_HOST_DEVICE inline uint64_t MultiplyAndFold(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

KVSIM_HOST_DEVICE inline uint64_t Avalanche(uint64_t hash) {
  hash = (hash ^ (hash >> 37)) * 0x165667919E3779F9;
  return hash ^ (hash >> 32);
}

KVSIM_HOST_DEVICE inline uint64_t SwapBytes(uint64_t x) {
  x = (x & 0x00FF00FF00FF00FF) << 8 | (x >> 8 & 0x00FF00FF00FF00FF);
  x = (x & 0x0000FFFF0000FFFF) << 16 | (x >> 16 & 0x0000FFFF0000FFFF);
  return x << 32 | x >> 32;
}

template <typename Message>
KVSIM_HOST_DEVICE uint64_t Mix16(const Message& message, int64_t offset,
                                 int secret) {
  return MultiplyAndFold(message.Word(offset) ^ Secret(secret),
                         message.Word(offset + 8) ^ Secret(secret + 8));
}

// --- messages of more than 240 bytes --------------------------------------------

// Accumulators 2 · pair and 2 · pair + 1, which depend on no other ones.
struct Pair {
  uint64_t even = 0;
  uint64_t odd = 0;
};

KVSIM_HOST_DEVICE inline Pair StartOfPair(int pair) {
  if (pair == 0) return {kPrime32_3, kPrime64_1};
  if (pair == 1) return {kPrime64_2, kPrime64_3};
  if (pair == 2) return {kPrime64_4, kPrime32_2};
  return {kPrime64_5, kPrime32_1};
}

template <typename Message>
KVSIM_HOST_DEVICE void AddStripe(const Message& message, int64_t offset,
                                 int secret, Pair* pair) {
  const uint64_t even = message.Word(offset);
  const uint64_t odd = message.Word(offset + 8);
  const uint64_t even_key = even ^ Secret(secret);
  const uint64_t odd_key = odd ^ Secret(secret + 8);
  pair->even += odd + (even_key & 0xFFFFFFFF) * (even_key >> 32);
  pair->odd += even + (odd_key & 0xFFFFFFFF) * (odd_key >> 32);
}

KVSIM_HOST_DEVICE inline uint64_t Scramble(uint64_t accumulator, int secret) {
  return (accumulator ^ (accumulator >> 47) ^ Secret(secret)) * kPrime32_1;
}

template <typename Message>
KVSIM_HOST_DEVICE Pair Accumulate(const Message& message, int64_t length,
                                  int pair) {
  Pair sums = StartOfPair(pair);
  const int64_t stripes = (length - 1) / kStripe;
  for (int64_t i = 0; i < stripes; ++i) {
    const auto turn = static_cast<int>(i % kStripesPerScramble);
    AddStripe(message, kStripe * i + 16 * pair, 8 * turn + 16 * pair, &sums);
    if (turn != kStripesPerScramble - 1) continue;
    sums.even = Scramble(sums.even, kScrambleSecret + 16 * pair);
    sums.odd = Scramble(sums.odd, kScrambleSecret + 16 * pair + 8);
  }
  AddStripe(message, length - kStripe + 16 * pair,
            kLastStripeSecret + 16 * pair, &sums);
  return sums;
}

KVSIM_HOST_DEVICE inline uint64_t Fold(const Pair& sums, int pair, int secret) {
  return MultiplyAndFold(sums.even ^ Secret(secret + 16 * pair),
                         sums.odd ^ Secret(secret + 16 * pair + 8));
}

// --- 64 bits --------------------------------------------------------------------

struct Rest64 {
  uint64_t sum = 0;    // joined by what the first 16 bytes give
  uint64_t after = 0;  // 129 to 240 bytes: added after that sum was mixed
};

// The first byte that RestOf64 may read.
KVSIM_HOST_DEVICE inline int64_t RestBegin64(int64_t length) {
  if (length <= 16) return length;
  if (length <= 32) return length - 16;
  return length < 48 ? length - 32 : 16;
}

template <typename Message>
KVSIM_HOST_DEVICE uint64_t Hash9To16(const Message& message, int64_t length) {
  const uint64_t low = message.Word(0) ^ Secret(24) ^ Secret(32);
  const uint64_t high = message.Word(length - 8) ^ Secret(40) ^ Secret(48);
  return Avalanche(static_cast<uint64_t>(length) + SwapBytes(low) + high +
                   MultiplyAndFold(low, high));
}

template <typename Message>
KVSIM_HOST_DEVICE uint64_t RestOf17To128(const Message& message,
                                         int64_t length) {
  uint64_t sum = Mix16(message, length - 16, 16);
  if (length > 32) {
    sum += Mix16(message, 16, 32) + Mix16(message, length - 32, 48);
  }
  if (length > 64) {
    sum += Mix16(message, 32, 64) + Mix16(message, length - 48, 80);
  }
  if (length > 96) {
    sum += Mix16(message, 48, 96) + Mix16(message, length - 64, 112);
  }
  return sum;
}

template <typename Message>
KVSIM_HOST_DEVICE Rest64 RestOf129To240(const Message& message,
                                        int64_t length) {
  Rest64 rest;
  for (int i = 1; i < 8; ++i) rest.sum += Mix16(message, 16 * i, 16 * i);
  rest.after = Mix16(message, length - 16, 119);
  for (int i = 8; i < length / 16; ++i) {
    rest.after += Mix16(message, 16 * i, 16 * (i - 8) + 3);
  }
  return rest;
}

template <typename Message>
KVSIM_HOST_DEVICE Rest64 RestOf64(const Message& message, int64_t length) {
  Rest64 rest;
  if (length <= 16) return rest;
  if (length <= 128) {
    rest.sum = RestOf17To128(message, length);
  } else if (length <= 240) {
    rest = RestOf129To240(message, length);
  } else {
    for (int pair = 1; pair < 4; ++pair) {
      rest.sum +=
          Fold(Accumulate(message, length, pair), pair, kMergeLowSecret);
    }
  }
  rest.sum += static_cast<uint64_t>(length) * kPrime64_1;
  return rest;
}

template <typename Message>
KVSIM_HOST_DEVICE uint64_t Finish64(const Rest64& rest, const Message& message,
                                    int64_t length) {
  if (length <= 16) return Hash9To16(message, length);
  if (length > 240) {
    return Avalanche(rest.sum +
                     Fold(Accumulate(message, length, 0), 0, kMergeLowSecret));
  }
  const uint64_t hash = Avalanche(rest.sum + Mix16(message, 0, 0));
  return length <= 128 ? hash : Avalanche(hash + rest.after);
}

// --- 128 bits -------------------------------------------------------------------

using Rest128 = Hash128;  // joined by what the first 16 bytes give

// The first byte that RestOf128 may read.
KVSIM_HOST_DEVICE inline int64_t RestBegin128(int64_t length) {
  if (length <= 32 || (length > 128 && length <= 240)) return length;
  return length < 48 ? length - 32 : 16;
}

template <typename Message>
KVSIM_HOST_DEVICE void Mix32(const Message& message, int64_t first,
                             int64_t second, int secret, Hash128* sums) {
  sums->low += Mix16(message, first, secret);
  sums->low ^= message.Word(second) + message.Word(second + 8);
  sums->high += Mix16(message, second, secret + 16);
  sums->high ^= message.Word(first) + message.Word(first + 8);
}

KVSIM_HOST_DEVICE inline Hash128 FinalMix(const Hash128& sums, int64_t length) {
  const uint64_t high = sums.low * kPrime64_1 + sums.high * kPrime64_4 +
                        static_cast<uint64_t>(length) * kPrime64_2;
  return {Avalanche(sums.low + sums.high), 0 - Avalanche(high)};
}

template <typename Message>
KVSIM_HOST_DEVICE Hash128 Hash129To240(const Message& message, int64_t length) {
  Hash128 sums = {static_cast<uint64_t>(length) * kPrime64_1, 0};
  for (int i = 0; i < 4; ++i) {
    Mix32(message, 32 * i, 32 * i + 16, 32 * i, &sums);
  }
  sums = {Avalanche(sums.low), Avalanche(sums.high)};
  for (int i = 4; i < length / 32; ++i) {
    Mix32(message, 32 * i, 32 * i + 16, 32 * (i - 4) + 3, &sums);
  }
  Mix32(message, length - 16, length - 32, 103, &sums);
  return FinalMix(sums, length);
}

template <typename Message>
KVSIM_HOST_DEVICE Rest128 RestOf128(const Message& message, int64_t length) {
  Rest128 rest = {static_cast<uint64_t>(length) * kPrime64_1, 0};
  if (length <= 128) {
    if (length > 96) Mix32(message, 48, length - 64, 96, &rest);
    if (length > 64) Mix32(message, 32, length - 48, 64, &rest);
    if (length > 32) Mix32(message, 16, length - 32, 32, &rest);
  } else if (length > 240) {
    rest.high = ~(static_cast<uint64_t>(length) * kPrime64_2);
    for (int pair = 1; pair < 4; ++pair) {
      const Pair sums = Accumulate(message, length, pair);
      rest.low += Fold(sums, pair, kMergeLowSecret);
      rest.high += Fold(sums, pair, kMergeHighSecret);
    }
  }
  return rest;
}

template <typename Message>
KVSIM_HOST_DEVICE Hash128 Finish128(const Rest128& rest, const Message& message,
                                    int64_t length) {
  if (length <= 128) {
    Hash128 sums = rest;
    Mix32(message, 0, length - 16, 0, &sums);
    return FinalMix(sums, length);
  }
  if (length <= 240) return Hash129To240(message, length);
  const Pair sums = Accumulate(message, length, 0);
  return {Avalanche(rest.low + Fold(sums, 0, kMergeLowSecret)),
          Avalanche(rest.high + Fold(sums, 0, kMergeHighSecret))};
}

}  // namespace kvsim::xxh3

#endif  // KVSIM_KERNELS_XXH3_H_
