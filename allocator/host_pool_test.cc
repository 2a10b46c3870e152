#include "allocator/host_pool.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

TEST(HostPoolTest, TakesTheLowestFreeBlock) {
  HostPool pool(4);
  EXPECT_EQ(pool.Take(), 0u);
  EXPECT_EQ(pool.Take(), 1u);
  EXPECT_EQ(pool.Take(), 2u);
  pool.Release(1);
  pool.Release(0);
  EXPECT_EQ(pool.num_held(), 1);
  EXPECT_EQ(pool.num_free(), 3);
  EXPECT_EQ(pool.Take(), 0u);
  EXPECT_EQ(pool.Take(), 1u);
  EXPECT_EQ(pool.Take(), 3u);
  EXPECT_EQ(pool.num_free(), 0);
}

TEST(HostPoolTest, RefusesMisuse) {
  HostPool pool(1);
  EXPECT_DEATH(pool.Release(0), "");
  pool.Take();
  EXPECT_DEATH(pool.Take(), "");
  pool.Release(0);
  EXPECT_DEATH(pool.Release(0), "");
}

}  // namespace
}  // namespace kvsim
