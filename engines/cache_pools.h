// Buffers that an engine allocates beside each other, each for some layers and
// with a size of its own.
//
// Model:   a pool has `entries` that requests can use (tokens, cells, blocks,
//          sequences) and a few named parts ("K", "V", "conv", "ssm"), each of
//          so many bytes as the engine allocates and prints them: sinks and
//          rounding included.
// Units:   bytes on one rank.  Ownership: plain values.

#ifndef KVSIM_ENGINES_CACHE_POOLS_H_
#define KVSIM_ENGINES_CACHE_POOLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/units.h"

namespace kvsim {

struct PoolPart {
  std::string name;
  Bytes bytes;
};

struct CachePool {
  std::string name;             // the engine's word: "full", "swa", "state"
  std::vector<int32_t> layers;  // ascending
  int64_t entries = 0;          // that requests can use
  std::vector<PoolPart> parts;
};

// All parts together.
Bytes TotalBytes(const CachePool& pool);
Bytes TotalBytes(const std::vector<CachePool>& pools);

// Bytes of the part of that name; 0 when there is none.
Bytes PartBytes(const CachePool& pool, absl::string_view part);

// The pool of that name, or nullptr.
const CachePool* FindPool(const std::vector<CachePool>& pools,
                          absl::string_view name);

// "20.00": binary GiB or MiB with two decimals, rounded as C's printf does
// (ties to even). Engines print so, whatever they call the unit.
std::string PrintedGiB(Bytes bytes);
std::string PrintedMiB(Bytes bytes);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CACHE_POOLS_H_
