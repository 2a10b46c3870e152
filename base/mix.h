// A bijection of 64 bits with full avalanche, for hashes of our own.
//
// Source: Stafford's variant 13 of the MurmurHash3 finaliser, as in SplitMix64.
#ifndef KVSIM_BASE_MIX_H_
#define KVSIM_BASE_MIX_H_

#include <cstdint>

namespace kvsim {

constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace kvsim

#endif  // KVSIM_BASE_MIX_H_
