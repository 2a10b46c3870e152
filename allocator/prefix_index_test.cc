#include "allocator/prefix_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace kvsim {
namespace {

// The index as its header tells it: a list of blocks for each key.
class NaivePrefixIndex {
 public:
  BlockId Find(BlockKey key) const {
    const auto it = blocks_.find(key);
    return it == blocks_.end() ? kNullBlock : it->second.front();
  }
  void Insert(BlockId id, BlockKey key) {
    blocks_[key].push_back(id);
    keys_[id] = key;
  }
  void Erase(BlockId id) {
    const auto it = blocks_.find(keys_.at(id));
    it->second.remove(id);
    if (it->second.empty()) blocks_.erase(it);
    keys_.erase(id);
  }
  bool Contains(BlockId id) const { return keys_.count(id) > 0; }
  BlockKey KeyOf(BlockId id) const { return keys_.at(id); }
  int64_t num_keys() const { return static_cast<int64_t>(blocks_.size()); }
  int64_t num_blocks() const { return static_cast<int64_t>(keys_.size()); }

 private:
  std::map<BlockKey, std::list<BlockId>> blocks_;
  std::map<BlockId, BlockKey> keys_;
};

// An odd factor's inverse modulo 2^64, by Newton: each round doubles the
// correct bits.
uint64_t Inverse(uint64_t factor) {
  uint64_t inverse = factor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - factor * inverse;
  return inverse;
}

// The key whose mixed form is (tag, low): KeyIndex xors the key with itself
// shifted by 33, multiplies, and does both again, and the high half of the result
// is the tag that chooses the home slot. Each step undone in reverse order makes
// keys that collide at will.
BlockKey KeyWithTag(uint32_t tag, uint32_t low) {
  uint64_t key = ((uint64_t{tag} << 32) | low) * Inverse(0xC4CEB9FE1A85EC53u);
  key ^= key >> 33;  // its own inverse: the shift is over half the width
  key *= Inverse(0xFF51AFD7ED558CCDu);
  return key ^ (key >> 33);
}

struct KeySet {
  const char* name;
  std::vector<BlockKey> keys;
};

// Key sets that are as unkind to open addressing as keys can be. A tag's home
// is tag · slots / 2^32: the greatest tags live in the last slot.
std::vector<KeySet> UnkindKeys(uint32_t n) {
  std::vector<KeySet> sets = {{"small numbers, 0 among them", {}},
                              {"equal tags", {}},
                              {"one home, unequal tags", {}},
                              {"last slot, wrapping round the end", {}},
                              {"two neighbouring homes", {}}};
  for (uint32_t i = 0; i < n; ++i) {
    sets[0].keys.push_back(i);
    sets[1].keys.push_back(KeyWithTag(0x80000000u, i));
    sets[2].keys.push_back(KeyWithTag(0x40000000u + i, 7));
    sets[3].keys.push_back(KeyWithTag(0xFFFFFFFFu - i, i % 2));
    sets[4].keys.push_back(KeyWithTag(i % 2 == 0 ? 0xFFFFFFFFu : i, i));
  }
  return sets;
}

// Both indices, driven alike.
struct Pair {
  explicit Pair(int64_t num_blocks) : index(num_blocks) {}

  // Erases the block, or inserts it under `key` when it is absent.
  void Toggle(BlockId id, BlockKey key) {
    if (naive.Contains(id)) {
      index.Erase(id);
      naive.Erase(id);
    } else {
      index.Insert(id, key);
      naive.Insert(id, key);
    }
  }
  std::string Difference(const std::vector<BlockKey>& keys,
                         BlockId last_id) const {
    if (index.num_keys() != naive.num_keys()) return "num_keys";
    if (index.num_blocks() != naive.num_blocks()) return "num_blocks";
    for (BlockKey key : keys) {
      if (index.Find(key) != naive.Find(key)) return "Find";
    }
    for (BlockId id = 0; id <= last_id; ++id) {
      if (index.Contains(id) != naive.Contains(id)) return "Contains";
      if (naive.Contains(id) && index.KeyOf(id) != naive.KeyOf(id)) {
        return "KeyOf";
      }
    }
    return "";
  }

  PrefixIndex index;
  NaivePrefixIndex naive;
};

TEST(PrefixIndexTest, ReturnsTheFirstInsertedThatIsStillThere) {
  PrefixIndex index(8);
  index.Insert(3, 70);
  index.Insert(5, 70);
  index.Insert(1, 70);
  EXPECT_EQ(index.Find(70), 3u);
  index.Erase(5);  // from the middle of the ring
  EXPECT_EQ(index.Find(70), 3u);
  index.Erase(3);  // its head
  EXPECT_EQ(index.Find(70), 1u);
  index.Insert(3, 70);  // comes back behind the others
  EXPECT_EQ(index.Find(70), 1u);
  index.Erase(3);  // its tail
  index.Erase(1);
  EXPECT_EQ(index.Find(70), kNullBlock);
  EXPECT_EQ(index.num_keys(), 0);
  EXPECT_EQ(index.num_blocks(), 0);
}

TEST(PrefixIndexTest, TellsKeysOfEqualTagApart) {
  PrefixIndex index(8);
  index.Insert(1, KeyWithTag(9, 1));
  index.Insert(2, KeyWithTag(9, 2));
  EXPECT_EQ(index.Find(KeyWithTag(9, 1)), 1u);
  EXPECT_EQ(index.Find(KeyWithTag(9, 2)), 2u);
  EXPECT_EQ(index.Find(KeyWithTag(9, 3)), kNullBlock);
}

// Every program of 5 toggles over 3 blocks and 3 keys, for each unkind key set:
// 5 · 9^5 = 295,245 programs on 4 blocks.
TEST(PrefixIndexTest, EqualsAMapOfListsOnAllShortPrograms) {
  constexpr int kKeys = 3, kBlocks = 3, kSteps = 5;
  int programs = 1;
  for (int i = 0; i < kSteps; ++i) programs *= kKeys * kBlocks;
  for (const KeySet& set : UnkindKeys(kKeys)) {
    for (int program = 0; program < programs; ++program) {
      Pair pair(kBlocks + 1);
      for (int code = program, step = 0; step < kSteps; ++step) {
        const BlockId id = static_cast<BlockId>(1 + code % kBlocks);
        code /= kBlocks;
        pair.Toggle(id, set.keys[static_cast<size_t>(code % kKeys)]);
        code /= kKeys;
        ASSERT_EQ(pair.Difference(set.keys, kBlocks), "")
            << set.name << ", program " << program << ", step " << step;
      }
    }
  }
}

TEST(PrefixIndexTest, EqualsAMapOfListsOnLongRandomPrograms) {
  constexpr uint32_t kBlocks = 100;
  for (uint32_t num_keys : {2u, 17u, 150u}) {
    for (const KeySet& set : UnkindKeys(num_keys)) {
      RandomStream random(1, set.name);
      Pair pair(kBlocks + 1);
      for (int step = 0; step < 4000; ++step) {
        const auto id = static_cast<BlockId>(1 + random.Below(kBlocks));
        pair.Toggle(id, set.keys[random.Below(num_keys)]);
        if (step % 40 != 0) continue;
        ASSERT_EQ(pair.Difference(set.keys, kBlocks), "")
            << set.name << ", " << num_keys << " keys, step " << step;
      }
    }
  }
}

// Nothing gathers in the table: a full index that turns over for ever still
// ends its searches for absent keys.
TEST(PrefixIndexTest, StaysSoundWhenEveryBlockIsKeyedAndChanges) {
  constexpr uint32_t kBlocks = 64;
  const std::vector<KeySet> sets = UnkindKeys(3 * kBlocks);
  for (const KeySet& set : sets) {
    Pair pair(kBlocks + 1);
    for (BlockId id = 1; id <= kBlocks; ++id) pair.Toggle(id, set.keys[id]);
    for (uint32_t step = 0; step < 3000; ++step) {
      const auto id = static_cast<BlockId>(1 + step * 37 % kBlocks);
      pair.Toggle(id, 0);
      pair.Toggle(id, set.keys[step % set.keys.size()]);
    }
    ASSERT_EQ(pair.Difference(set.keys, kBlocks), "") << set.name;
  }
}

// An 8-byte key, three 8-byte slots and an 8-byte ring entry for each block.
TEST(PrefixIndexTest, TakesFortyBytesForEachBlock) {
  EXPECT_EQ(PrefixIndex(1000).MemoryBytes(), 40'000);
}

TEST(PrefixIndexDeathTest, RefusesMisuse) {
  PrefixIndex index(4);
  index.Insert(1, 10);
  EXPECT_DEATH(index.Insert(1, 11), "Contains");
  EXPECT_DEATH(index.Insert(kNullBlock, 11), "kNullBlock");
  EXPECT_DEATH(index.Erase(2), "kAbsent");
  EXPECT_DEATH(PrefixIndex(0), "capacity > 0");
}

}  // namespace
}  // namespace kvsim
