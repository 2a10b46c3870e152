#include "allocator/hit_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "allocator/fifo_cache.h"
#include "allocator/key_rows.h"
#include "allocator/lru_cache.h"
#include "allocator/naive_hit_caches.h"
#include "allocator/optimal_cache.h"
#include "allocator/tree_rows.h"
#include "base/random.h"

namespace kvsim {
namespace {

using Row = std::vector<uint64_t>;

void ExpectTwins(HitCache& cache, HitCache& twin, const KeyRows& rows) {
  for (int64_t r = 0; r < rows.size(); ++r) {
    ASSERT_EQ(cache.Access(rows[r]), twin.Access(rows[r])) << "row " << r;
    ASSERT_EQ(cache.size(), twin.size()) << "row " << r;
    ASSERT_EQ(cache.evictions(), twin.evictions()) << "row " << r;
  }
}

TEST(HitCacheTest, LruEqualsItsTwinOnRandomTrees) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "rows");
    const KeyRows rows = TreeRows(random, 60, 1 + seed % 4, 8);
    const auto capacity = static_cast<int64_t>(1 + random.Below(24));
    LruCache cache(capacity);
    NaiveLruCache twin(capacity);
    ExpectTwins(cache, twin, rows);
    cache.CheckInvariants();
  }
}

TEST(HitCacheTest, FifoEqualsItsTwinOnRandomTrees) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "rows");
    const KeyRows rows = TreeRows(random, 60, 1 + seed % 4, 8);
    const auto capacity = static_cast<int64_t>(1 + random.Below(24));
    FifoCache cache(capacity);
    NaiveFifoCache twin(capacity);
    ExpectTwins(cache, twin, rows);
  }
}

TEST(HitCacheTest, OptimalEqualsItsTwinOnRandomTrees) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "rows");
    const KeyRows rows = TreeRows(random, 40, 1 + seed % 4, 6);
    const auto capacity = static_cast<int64_t>(1 + random.Below(16));
    OptimalCache cache(capacity, rows);
    NaiveOptimalCache twin(capacity, rows);
    ExpectTwins(cache, twin, rows);
  }
}

TEST(HitCacheTest, OptimalHitsAtLeastAsMuchOnOneBlockRows) {
  // With rows of one key the rule is Belady's own, which no policy beats.
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "rows");
    const KeyRows rows = TreeRows(random, 200, 12, 1);
    LruCache lru(4);
    FifoCache fifo(4);
    OptimalCache optimal(4, rows);
    int64_t hits[3] = {};
    for (int64_t r = 0; r < rows.size(); ++r) {
      hits[0] += lru.Access(rows[r]);
      hits[1] += fifo.Access(rows[r]);
      hits[2] += optimal.Access(rows[r]);
    }
    EXPECT_GE(hits[2], hits[0]);
    EXPECT_GE(hits[2], hits[1]);
  }
}

TEST(LruCacheTest, EvictsTailBeforeHead) {
  LruCache cache(3);
  EXPECT_EQ(cache.Access(Row{1, 2, 3}), 0);
  // The new key takes the place of 3, the tail of the older row.
  EXPECT_EQ(cache.Access(Row{9}), 0);
  EXPECT_EQ(cache.CountPrefix(Row{1, 2, 3}), 2);
}

TEST(LruCacheTest, ARowLongerThanTheCacheKeepsItsHead) {
  LruCache cache(2);
  EXPECT_EQ(cache.Access(Row{1, 2, 3, 4}), 0);
  // 4 and 3 entered first and were pushed out by 2 and 1.
  EXPECT_EQ(cache.evictions(), 2);
  EXPECT_EQ(cache.CountPrefix(Row{1, 2, 3, 4}), 2);
}

TEST(LruCacheTest, TakesAnyKeyAndAtMost64BytesPerBlock) {
  LruCache cache(4096);
  EXPECT_EQ(cache.Access(Row{0, ~uint64_t{0}, 1}), 0);
  EXPECT_EQ(cache.Access(Row{0, ~uint64_t{0}, 1}), 3);
  EXPECT_LE(cache.MemoryBytes(), 64 * 4096);
}

TEST(FifoCacheTest, AHitDoesNotRenewAndHeadsGoFirst) {
  FifoCache cache(3);
  EXPECT_EQ(cache.Access(Row{1, 2, 3}), 0);
  EXPECT_EQ(cache.Access(Row{1, 2, 3}), 3);
  EXPECT_EQ(cache.Access(Row{9}), 0);  // drops 1, however recent its hit
  EXPECT_EQ(cache.Access(Row{1, 2, 3}), 0);
}

TEST(OptimalCacheTest, DoesNotLetInWhatIsNeededLater) {
  KeyRows rows;
  rows.Append(Row{1});
  rows.Append(Row{2});  // needed again in row 4, after 1: stays out
  rows.Append(Row{3});  // never needed again: stays out
  rows.Append(Row{1});
  rows.Append(Row{2});
  OptimalCache cache(1, rows);
  EXPECT_EQ(cache.Access(rows[0]), 0);
  EXPECT_EQ(cache.Access(rows[1]), 0);
  EXPECT_EQ(cache.Access(rows[2]), 0);
  EXPECT_EQ(cache.Access(rows[3]), 1);
}

}  // namespace
}  // namespace kvsim
