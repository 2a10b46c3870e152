#include "engines/cache_pools.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

TEST(CachePoolsTest, PartsAddUpAndAreFoundByName) {
  const std::vector<CachePool> pools = {
      {"full", {0, 1}, 10, {{"K", Bytes(3)}, {"V", Bytes(4)}}},
      {"state", {2}, 1, {{"conv", Bytes(5)}}}};
  EXPECT_EQ(TotalBytes(pools[0]), Bytes(7));
  EXPECT_EQ(TotalBytes(pools), Bytes(12));
  EXPECT_EQ(PartBytes(*FindPool(pools, "full"), "V"), Bytes(4));
  EXPECT_EQ(PartBytes(*FindPool(pools, "full"), "ssm"), Bytes(0));
  EXPECT_EQ(FindPool(pools, "draft"), nullptr);
}

// 149.625 MiB is printed as 149.62 and 448.875 as 448.88: both are ties, which
// go to the even digit, as llama.cpp's own lines show.
TEST(CachePoolsTest, PrintsTiesToEven) {
  const Bytes state(156893184);  // 149.625 x 2^20
  EXPECT_EQ(PrintedMiB(state), "149.62");
  EXPECT_EQ(PrintedMiB(state * 3), "448.88");
  EXPECT_EQ(PrintedGiB(Bytes(int64_t{20} << 30)), "20.00");
}

}  // namespace
}  // namespace kvsim
