#include "allocator/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "allocator/naive_block_pool.h"
#include "base/random.h"

namespace kvsim {
namespace {

using Ids = std::vector<BlockId>;
using Keys = std::vector<BlockKey>;

// --- the rules, one by one -----------------------------------------------------

class BlockPoolTest : public ::testing::Test {
 protected:
  void Pool(int64_t num_blocks, FreeOrder order = FreeOrder::kPrependUnkeyed,
            bool caching = true) {
    pool_.emplace(num_blocks, caching, order);
  }
  Ids Take(int64_t n) {
    Ids ids;
    pool_->Allocate(n, &ids);
    return ids;
  }
  void Release(const Ids& table) { pool_->ReleaseReversed(table); }
  // Takes n blocks, keys the first `keyed` of them 100, 101, ...
  Ids TakeKeyed(int64_t n, int64_t keyed) {
    const Ids ids = Take(n);
    for (int64_t i = 0; i < keyed; ++i) {
      pool_->AssignKey(ids[static_cast<size_t>(i)],
                       static_cast<BlockKey>(100 + i));
    }
    return ids;
  }
  void TearDown() override { EXPECT_EQ(pool_->CheckInvariants(), ""); }

  std::optional<BlockPool> pool_;
};

TEST_F(BlockPoolTest, GivesBlocksInIdOrderAndNeverTheNullBlock) {
  Pool(5);
  EXPECT_EQ(pool_->FreeQueue(), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(Take(4), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(pool_->num_free(), 0);
  EXPECT_EQ(pool_->num_held(), 4);
  EXPECT_EQ(pool_->FreeQueue(), Ids{});
}

// Tail first, so that the tail is evicted before the head. Recorded experiment
// P2: four keyed blocks and one partial free to 5, the rest, 4, 3, 2, 1.
TEST_F(BlockPoolTest, ReleasesUnkeyedToTheFrontAndKeyedToTheBackTailFirst) {
  Pool(8);
  Release(TakeKeyed(5, 4));
  EXPECT_EQ(pool_->FreeQueue(), (Ids{5, 6, 7, 4, 3, 2, 1}));
}

// Several unkeyed blocks keep the order of the list: the last of the table is
// the new front.
TEST_F(BlockPoolTest, ReleasesUnkeyedBlocksInListOrder) {
  Pool(8);
  Release(TakeKeyed(5, 2));
  EXPECT_EQ(pool_->FreeQueue(), (Ids{5, 4, 3, 6, 7, 2, 1}));
}

TEST_F(BlockPoolTest, AppendsEverythingUnderTheOldOrder) {
  Pool(8, FreeOrder::kAppend);
  Release(TakeKeyed(5, 2));
  EXPECT_EQ(pool_->FreeQueue(), (Ids{6, 7, 5, 4, 3, 2, 1}));
}

TEST_F(BlockPoolTest, FreeOrderWithoutCachingDependsOnTheVersion) {
  Pool(6, FreeOrder::kPrependWhenCaching, false);
  Release(Take(3));
  EXPECT_EQ(pool_->FreeQueue(), (Ids{4, 5, 3, 2, 1}));
  Pool(6, FreeOrder::kPrependUnkeyed, false);
  Release(Take(3));
  EXPECT_EQ(pool_->FreeQueue(), (Ids{3, 2, 1, 4, 5}));
}

TEST_F(BlockPoolTest, KeepsKeysOfReleasedBlocksUntilTheyArePopped) {
  Pool(4);
  Release(TakeKeyed(2, 2));  // queue 3, 2, 1
  EXPECT_EQ(pool_->Find(101), 2u);
  EXPECT_EQ(pool_->num_idle(), 2);
  Take(1);  // block 3 had no key
  EXPECT_EQ(pool_->evictions(), 0);
  Take(1);  // block 2 loses its key now
  EXPECT_EQ(pool_->Find(101), kNullBlock);
  EXPECT_EQ(pool_->Find(100), 1u);
  EXPECT_EQ(pool_->evictions(), 1);
}

TEST_F(BlockPoolTest, TouchTakesABlockOutOfTheMiddleOfTheQueue) {
  Pool(5);
  Release(TakeKeyed(3, 3));  // queue 4, 3, 2, 1
  pool_->Touch(2);
  EXPECT_EQ(pool_->FreeQueue(), (Ids{4, 3, 1}));
  EXPECT_EQ(pool_->RefCount(2), 1);
  pool_->Touch(2);  // a second owner takes nothing from the queue
  EXPECT_EQ(pool_->num_free(), 3);
  Release({2});
  EXPECT_EQ(pool_->FreeQueue(), (Ids{4, 3, 1}));
  Release({2});
  EXPECT_EQ(pool_->FreeQueue(), (Ids{4, 3, 1, 2}));
}

TEST_F(BlockPoolTest, PassesOverNullEntriesOfATable) {
  Pool(4);
  const Ids ids = Take(2);
  Release({kNullBlock, ids[0], kNullBlock, ids[1]});
  EXPECT_EQ(pool_->FreeQueue(), (Ids{2, 1, 3}));
}

TEST_F(BlockPoolTest, KeepsEqualBlocksAndFindsTheFirst) {
  Pool(4);
  const Ids ids = Take(2);
  pool_->AssignKey(ids[0], 7);
  pool_->AssignKey(ids[1], 7);
  EXPECT_EQ(pool_->Find(7), ids[0]);
  EXPECT_EQ(pool_->num_keys(), 1);
  EXPECT_EQ(pool_->num_keyed_blocks(), 2);
}

// Rows of a block with k owners count once as held, and k - 1 times as saved.
TEST_F(BlockPoolTest, CountsRowsOfSharedBlocksOnce) {
  Pool(4);
  TakeKeyed(1, 1);
  pool_->AddRows(1, 16);
  pool_->Touch(1);
  pool_->Touch(1);
  EXPECT_EQ(pool_->group(0).held_rows, 16);
  EXPECT_EQ(pool_->group(0).shared_rows, 16);
  EXPECT_EQ(pool_->group(0).saved_rows, 32);
  Release({1});
  Release({1});
  EXPECT_EQ(pool_->group(0).shared_rows, 0);
  EXPECT_EQ(pool_->group(0).saved_rows, 0);
  Release({1});  // idle: the rows stay in the block but nobody holds them
  EXPECT_EQ(pool_->group(0).held_rows, 0);
  EXPECT_EQ(pool_->Rows(1), 16);
  pool_->Touch(1);
  EXPECT_EQ(pool_->group(0).held_rows, 16);
}

TEST_F(BlockPoolTest, APoppedBlockHasNoRows) {
  Pool(2);
  TakeKeyed(1, 1);
  pool_->AddRows(1, 5);
  Release({1});
  Take(1);
  EXPECT_EQ(pool_->Rows(1), 0);
}

// 16 bytes here and 40 in the index.
TEST_F(BlockPoolTest, TakesFiftySixBytesForEachBlock) {
  Pool(1000);
  EXPECT_EQ(pool_->MemoryBytes(), 56'000);
}

// --- the watch, one by one -------------------------------------------------------

TEST_F(BlockPoolTest, AWatchSurvivesWhatDoesNotConcernIt) {
  Pool(10);
  const Ids held = TakeKeyed(2, 2);
  pool_->Watch(held, Keys{102});
  const Ids other = Take(3);
  pool_->AssignKey(other[0], 55);
  pool_->Touch(held[0]);  // held already: the count of unheld does not change
  Release({held[0]});
  Release(other);
  EXPECT_FALSE(pool_->WatchBroken());
}

TEST_F(BlockPoolTest, AWatchBreaksWhenAHitBlockChangesHands) {
  Pool(4);
  const Ids ids = TakeKeyed(2, 2);
  pool_->Watch(ids, {});
  Release({ids[1]});  // from held to idle
  EXPECT_TRUE(pool_->WatchBroken());
  pool_->Watch(ids, {});
  EXPECT_FALSE(pool_->WatchBroken());
  pool_->Touch(ids[1]);  // and back
  EXPECT_TRUE(pool_->WatchBroken());
  Release(ids);
  pool_->Watch(ids, {});
  Take(2);  // pops block 3, then evicts block 2
  EXPECT_TRUE(pool_->WatchBroken());
}

TEST_F(BlockPoolTest, AWatchBreaksWhenTheMissedKeyAppears) {
  Pool(4);
  const Ids ids = Take(2);
  pool_->Watch(Ids{}, Keys{9});
  pool_->AssignKey(ids[0], 8);
  EXPECT_FALSE(pool_->WatchBroken());
  pool_->AssignKey(ids[1], 9);
  EXPECT_TRUE(pool_->WatchBroken());
}

TEST_F(BlockPoolTest, NothingIsWatchedAfterUnwatch) {
  Pool(4);
  EXPECT_TRUE(pool_->WatchBroken());
  pool_->Watch(Ids{}, {});
  pool_->Unwatch();
  EXPECT_TRUE(pool_->WatchBroken());
}

TEST(BlockPoolDeathTest, RefusesMisuse) {
  BlockPool pool(3, true, FreeOrder::kPrependUnkeyed);
  BlockPool uncached(3, false, FreeOrder::kPrependUnkeyed);
  Ids ids;
  pool.Allocate(1, &ids);
  EXPECT_DEATH(pool.Allocate(2, &ids), "num_free_");
  EXPECT_DEATH(pool.ReleaseReversed(Ids{2}), "refs > 0");
  EXPECT_DEATH(pool.AssignKey(2, 5), "refs > 0");
  EXPECT_DEATH(pool.AddRows(2, 1), "refs > 0");
  uncached.Allocate(1, &ids);
  EXPECT_DEATH(uncached.AssignKey(1, 5), "prefix_caching_");
  EXPECT_DEATH(BlockPool(1, true, FreeOrder::kAppend), "num_blocks > 1");
}

// --- against the naive pool --------------------------------------------------------

// Prompts that the programs below admit: keys of blocks 0, 1, 2, … They share
// one, two or no leading blocks.
BlockKey ContentKey(int content, int64_t block) {
  static constexpr int64_t kShared[] = {9, 2, 1, 0};
  const bool shared = block < kShared[content];
  return static_cast<BlockKey>(block + 1 + (shared ? 0 : 100 * (content + 1)));
}

// What a look-up finds: the leading blocks, and how many of them nobody holds.
struct Hit {
  Ids blocks;
  int64_t unheld = 0;
  friend bool operator==(const Hit&, const Hit&) = default;
};

template <typename Pool>
Hit LookUp(const Pool& pool, int content, int64_t limit) {
  Hit hit;
  for (int64_t i = 0; i < limit; ++i) {
    const BlockId id = pool.Find(ContentKey(content, i));
    if (id == kNullBlock) break;
    hit.blocks.push_back(id);
    if (pool.RefCount(id) == 0) ++hit.unheld;
  }
  return hit;
}

// Owners of tables over one pool.
template <typename Pool>
struct Owners {
  // Hits, takes and keys as an admitted request does; nothing when it does not
  // fit. `unkeyed` blocks at the end get no key.
  void Admit(int content, int64_t length, int64_t unkeyed) {
    const int64_t limit = caching ? length - 1 : 0;
    const Hit hit = LookUp(pool, content, limit);
    const int64_t hits = static_cast<int64_t>(hit.blocks.size());
    if (length - hits + hit.unheld > pool.num_free()) return;
    Ids table = hit.blocks;
    for (BlockId id : table) pool.Touch(id);
    pool.Allocate(length - hits, &table);
    for (int64_t i = hits; i < length; ++i) {
      const BlockId id = table[static_cast<size_t>(i)];
      if (caching && i < length - unkeyed) {
        pool.AssignKey(id, ContentKey(content, i));
      }
      pool.AddRows(id, i + 1);
    }
    tables.push_back(table);
  }
  void Release(size_t index) {
    if (tables.empty()) return;
    const size_t at = std::min(index, tables.size() - 1);
    pool.ReleaseReversed(tables[at]);
    tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(at));
  }

  Pool pool;
  bool caching;
  std::vector<Ids> tables;
};

struct Mode {
  FreeOrder order;
  bool caching;
};
constexpr Mode kModes[] = {{FreeOrder::kAppend, true},
                           {FreeOrder::kPrependWhenCaching, true},
                           {FreeOrder::kPrependUnkeyed, true},
                           {FreeOrder::kAppend, false},
                           {FreeOrder::kPrependUnkeyed, false},
                           {FreeOrder::kPrependWhenCaching, false}};

// Both pools under one program, and one watched look-up.
class Both {
 public:
  Both(int64_t num_blocks, const Mode& mode)
      : real_{BlockPool(num_blocks, mode.caching, mode.order),
              mode.caching,
              {}},
        naive_{NaiveBlockPool(num_blocks, mode.caching, mode.order),
               mode.caching,
               {}} {}

  void Admit(int content, int64_t length, int64_t unkeyed) {
    real_.Admit(content, length, unkeyed);
    naive_.Admit(content, length, unkeyed);
  }
  void Release(size_t index) {
    real_.Release(index);
    naive_.Release(index);
  }
  void Watch(int content, int64_t limit) {
    watched_content_ = content;
    watched_limit_ = limit;
    watched_ = LookUp(naive_.pool, content, limit);
    const auto run = static_cast<int64_t>(watched_.blocks.size());
    Keys missed;
    if (run < limit) missed.push_back(ContentKey(content, run));
    real_.pool.Watch(watched_.blocks, missed);
  }
  // Empty when both pools and the watch agree.
  std::string Difference() const;

 private:
  Owners<BlockPool> real_;
  Owners<NaiveBlockPool> naive_;
  int watched_content_ = 0;
  int64_t watched_limit_ = 0;
  Hit watched_;
};

std::string Both::Difference() const {
  const BlockPool& a = real_.pool;
  const NaiveBlockPool& b = naive_.pool;
  const std::string wrong = a.CheckInvariants();
  if (!wrong.empty()) return wrong;
  if (real_.tables != naive_.tables) return "tables";
  if (a.FreeQueue() != b.FreeQueue()) return "free queue";
  const struct {
    const char* name;
    int64_t real, naive;
  } levels[] = {
      {"num_free", a.num_free(), b.num_free()},
      {"num_held", a.num_held(), b.num_held()},
      {"num_idle", a.num_idle(), b.num_idle()},
      {"num_keys", a.num_keys(), b.num_keys()},
      {"num_keyed_blocks", a.num_keyed_blocks(), b.num_keyed_blocks()},
      {"held_rows", a.group(0).held_rows, b.held_rows()},
      {"shared_rows", a.group(0).shared_rows, b.shared_rows()},
      {"saved_rows", a.group(0).saved_rows, b.saved_rows()},
      {"allocations", a.allocations(), b.allocations()},
      {"evictions", a.evictions(), b.evictions()}};
  for (const auto& level : levels) {
    if (level.real != level.naive) return level.name;
  }
  for (BlockId id = 1; id < a.num_blocks(); ++id) {
    if (a.HasKey(id) != b.HasKey(id)) return "HasKey";
    if (a.RefCount(id) != b.RefCount(id)) return "RefCount";
    if (a.Rows(id) != b.Rows(id)) return "Rows";
  }
  if (!a.WatchBroken() &&
      LookUp(b, watched_content_, watched_limit_) != watched_) {
    return "an unbroken watch is stale";
  }
  return "";
}

// Every program of 4 operations out of 17 (12 admissions: two contents, one to
// three blocks, the last keyed or not; 2 releases; 3 watches) on a pool of 4
// usable blocks, for each free order with caching on and off:
// 6 · 17^4 = 501,126 programs.
TEST(BlockPoolModelTest, EqualsTheNaivePoolOnAllShortPrograms) {
  constexpr int kOperations = 17, kSteps = 4;
  int programs = 1;
  for (int i = 0; i < kSteps; ++i) programs *= kOperations;
  for (const Mode& mode : kModes) {
    for (int program = 0; program < programs; ++program) {
      Both both(5, mode);
      for (int code = program, step = 0; step < kSteps; ++step) {
        const int op = code % kOperations;
        code /= kOperations;
        if (op < 12) {
          both.Admit(op % 2, 1 + op / 2 % 3, op / 6);
        } else if (op < 14) {
          both.Release(op == 12 ? 0 : 9);
        } else {
          both.Watch(op % 2, op - 13);
        }
        ASSERT_EQ(both.Difference(), "")
            << "program " << program << ", step " << step << ", order "
            << static_cast<int>(mode.order) << ", caching " << mode.caching;
      }
    }
  }
}

TEST(BlockPoolModelTest, EqualsTheNaivePoolOnLongRandomPrograms) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, "block_pool_test");
    const Mode& mode = kModes[seed % std::size(kModes)];
    Both both(random.Between(3, 40), mode);
    const auto releases = random.Between(1, 6);  // each run skews its mix
    const auto watches = random.Between(0, 3);
    for (int step = 0; step < 400; ++step) {
      const int64_t dice = random.Between(0, 9);
      if (dice < releases) {
        both.Release(random.Below(12));
      } else if (dice < releases + watches) {
        both.Watch(static_cast<int>(random.Below(4)), random.Between(0, 8));
      } else {
        both.Admit(static_cast<int>(random.Below(4)), random.Between(1, 8),
                   random.Between(0, 2));
      }
      ASSERT_EQ(both.Difference(), "") << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace kvsim
