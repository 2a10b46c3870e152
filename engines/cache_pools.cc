#include "engines/cache_pools.h"

#include "absl/strings/str_format.h"

namespace kvsim {

Bytes TotalBytes(const CachePool& pool) {
  Bytes total(0);
  for (const PoolPart& part : pool.parts) total += part.bytes;
  return total;
}

Bytes TotalBytes(const std::vector<CachePool>& pools) {
  Bytes total(0);
  for (const CachePool& pool : pools) total += TotalBytes(pool);
  return total;
}

Bytes PartBytes(const CachePool& pool, absl::string_view name) {
  for (const PoolPart& part : pool.parts) {
    if (part.name == name) return part.bytes;
  }
  return Bytes(0);
}

const CachePool* FindPool(const std::vector<CachePool>& pools,
                          absl::string_view name) {
  for (const CachePool& pool : pools) {
    if (pool.name == name) return &pool;
  }
  return nullptr;
}

std::string PrintedGiB(Bytes bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes.value()) / 0x1p30);
}

std::string PrintedMiB(Bytes bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes.value()) / 0x1p20);
}

}  // namespace kvsim
