#include "allocator/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kvsim {
namespace {

TEST(LedgerTest, AnEmptyLedgerOfNoBytesBalances) {
  EXPECT_TRUE(LedgerSnapshot().Balanced());
}

TEST(LedgerTest, EveryAccountIsPartOfTheSum) {
  for (size_t i = 0; i < kNumAccounts; ++i) {
    LedgerSnapshot ledger;
    ledger.pool_bytes = 7;
    EXPECT_FALSE(ledger.Balanced());
    ledger[static_cast<Account>(i)] = 7;
    EXPECT_EQ(ledger.Sum(), 7);
    EXPECT_TRUE(ledger.Balanced()) << AccountName(static_cast<Account>(i));
  }
}

TEST(LedgerTest, OfWhichFiguresAreNeverAdded) {
  LedgerSnapshot ledger;
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    ledger[static_cast<OfWhich>(i)] = 1000;
  }
  EXPECT_EQ(ledger.Sum(), 0);
  EXPECT_TRUE(ledger.Balanced());
}

// 10 - 3 = 7: the sum is right, yet no account may be below zero.
TEST(LedgerTest, ANegativeAccountDoesNotBalance) {
  LedgerSnapshot ledger;
  ledger.pool_bytes = 7;
  ledger[Account::kLive] = 10;
  ledger[Account::kTailSlack] = -3;
  EXPECT_EQ(ledger.Sum(), 7);
  EXPECT_FALSE(ledger.Balanced());
}

TEST(LedgerTest, EveryNameIsItsOwn) {
  std::set<std::string> names;
  for (size_t i = 0; i < kNumAccounts; ++i) {
    names.insert(AccountName(static_cast<Account>(i)));
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    names.insert(OfWhichName(static_cast<OfWhich>(i)));
  }
  EXPECT_EQ(names.size(), kNumAccounts + kNumOfWhich);
  EXPECT_STREQ(AccountName(Account::kStateCheckpoint), "state_checkpoint");
  EXPECT_STREQ(OfWhichName(OfWhich::kIdlePadding), "idle_padding");
}

}  // namespace
}  // namespace kvsim
