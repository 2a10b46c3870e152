#include "allocator/key_index.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace kvsim {
namespace {

TEST(KeyIndexTest, FindsWhatWasInsertedAndNothingElse) {
  KeyIndex index(4);
  EXPECT_EQ(index.Find(7), KeyIndex::kNone);
  index.Insert(7, 2);
  index.Insert(0, 0);
  EXPECT_EQ(index.Find(7), 2u);
  EXPECT_EQ(index.Find(0), 0u);
  EXPECT_EQ(index.KeyOf(2), 7u);
  index.Erase(2);
  EXPECT_EQ(index.Find(7), KeyIndex::kNone);
  EXPECT_EQ(index.size(), 1);
}

// Every sequence of 7 inserts and erases over 4 keys in a table of 4 entries,
// where probe runs wrap round the end, against std::map.
TEST(KeyIndexTest, EqualsAMapOnAllShortPrograms) {
  constexpr int kKeys = 4;
  constexpr int kSteps = 7;
  int programs = 1;
  for (int i = 0; i < kSteps; ++i) programs *= kKeys;
  for (int program = 0; program < programs; ++program) {
    KeyIndex index(kKeys);
    std::map<uint64_t, uint32_t> model;
    for (int code = program, step = 0; step < kSteps; ++step, code /= kKeys) {
      // A step toggles one key; entry numbers equal key numbers.
      const auto entry = static_cast<uint32_t>(code % kKeys);
      const uint64_t key = entry * 0x100000001u;
      if (model.erase(key) > 0) {
        index.Erase(entry);
      } else {
        model[key] = entry;
        index.Insert(key, entry);
      }
      ASSERT_EQ(index.size(), static_cast<int64_t>(model.size()));
      index.CheckInvariants();
    }
  }
}

TEST(KeyIndexTest, StaysSoundWhenFullAndChurning) {
  constexpr uint32_t kCapacity = 1000;
  KeyIndex index(kCapacity);
  for (uint32_t e = 0; e < kCapacity; ++e) index.Insert(e * 512u, e);
  for (uint64_t i = 0; i < 20'000; ++i) {
    const auto entry = static_cast<uint32_t>(i * 37 % kCapacity);
    index.Erase(entry);
    index.Insert((kCapacity + i) * 512, entry);
  }
  index.CheckInvariants();
  EXPECT_EQ(index.size(), kCapacity);
}

TEST(KeyIndexDeathTest, RefusesAnEntryWithoutKeyAndAnEmptyTable) {
  KeyIndex index(2);
  EXPECT_DEATH(index.Erase(0), "size_ > 0");
  EXPECT_DEATH(KeyIndex(0), "capacity > 0");
}

}  // namespace
}  // namespace kvsim
