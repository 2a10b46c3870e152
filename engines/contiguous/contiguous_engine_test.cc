#include "engines/contiguous/contiguous_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ContiguousEngineTest : public ::testing::Test {
 protected:
  void Start(Reservation reservation, int64_t capacity_tokens = 100) {
    engine_.emplace(ContiguousSettings{.reservation = reservation,
                                       .capacity_tokens = capacity_tokens,
                                       .row_bytes = 2,
                                       .max_num_seqs = 4,
                                       .max_num_batched_tokens = 16,
                                       .max_model_len = 40});
  }
  void Add(RequestId id, int64_t prompt, int64_t outputs) {
    ASSERT_EQ(
        engine_->Add(
            {.id = id, .num_prompt_tokens = prompt, .max_tokens = outputs}),
        Engine::Admission::kQueued);
  }
  // One step; every request that samples gets one token.
  void Step() {
    engine_->Schedule(&plan_);
    std::vector<int32_t> sampled;
    for (const ScheduledRequest& work : plan_.scheduled) {
      sampled.push_back(work.samples ? 1 : 0);
    }
    ASSERT_EQ(engine_->CheckInvariants(), "");
    finished_.clear();
    engine_->Complete(plan_, sampled, &finished_);
    ASSERT_EQ(engine_->CheckInvariants(), "");
  }
  std::vector<RequestId> Admitted() const {
    std::vector<RequestId> ids;
    for (const AdmittedRequest& admitted : plan_.admitted) {
      ids.push_back(admitted.id);
    }
    return ids;
  }

  std::optional<ContiguousEngine> engine_;
  StepPlan plan_;
  std::vector<RequestId> finished_;
};

TEST_F(ContiguousEngineTest, MaxLengthAdmitsTwoWhereTheOracleAdmitsAll) {
  // 100 slots: two ranges of 40; or 5 + 3 = 8 each; or 5 + 4 = 9 each.
  for (const Reservation reservation : kReservations) {
    SCOPED_TRACE(ReservationName(reservation));
    Start(reservation);
    for (RequestId id = 0; id < 3; ++id) Add(id, 5, 3);
    Step();
    const bool max = reservation == Reservation::kMaxLength;
    EXPECT_EQ(Admitted().size(), max ? 2u : 3u);
    EXPECT_EQ(plan_.limit,
              max ? AdmissionLimit::kBlocks : AdmissionLimit::kNoneWaiting);
    EXPECT_EQ(engine_->NeverUsed(), max ? 2 * (40 - 8)
                                    : reservation == Reservation::kPowerOfTwo
                                        ? 3 * 1
                                        : 0);
  }
}

TEST_F(ContiguousEngineTest, ChunksPromptsSamplesOnceAndFinishes) {
  Start(Reservation::kOracle);
  Add(0, 20, 2);
  Step();  // 16 of 20 tokens
  EXPECT_EQ(plan_.total_tokens, 16);
  EXPECT_FALSE(plan_.scheduled[0].samples);
  Step();  // the last 4, and the first output
  EXPECT_TRUE(plan_.scheduled[0].samples);
  EXPECT_EQ(engine_->NumOutputs(0), 1);
  // 22 slots: 20 rows are computed, 2 are still to come; 2 bytes each.
  EXPECT_EQ(engine_->Ledger()[Account::kLive], 40);
  EXPECT_EQ(engine_->Ledger()[Account::kTailSlack], 4);
  Step();
  EXPECT_THAT(finished_, ElementsAre(0));
  EXPECT_FALSE(engine_->HasUnfinished());
  EXPECT_EQ(engine_->Ledger()[Account::kFree], 200);
}

TEST_F(ContiguousEngineTest, TheHeadBlocksThoseBehindIt) {
  Start(Reservation::kOracle, 30);
  Add(0, 10, 5);
  Add(1, 20, 5);  // does not fit beside 0
  Add(2, 2, 1);   // would
  Step();
  EXPECT_THAT(Admitted(), ElementsAre(0));
  EXPECT_EQ(plan_.limit, AdmissionLimit::kBlocks);
}

TEST_F(ContiguousEngineTest, BudgetAndSequencesLimitAdmission) {
  Start(Reservation::kOracle);
  Add(0, 16, 5);
  Add(1, 3, 5);
  Step();
  EXPECT_EQ(plan_.limit, AdmissionLimit::kTokenBudget);
  for (RequestId id = 2; id < 6; ++id) Add(id, 3, 5);
  Step();
  EXPECT_THAT(Admitted(), ElementsAre(1, 2, 3));
  EXPECT_EQ(plan_.limit, AdmissionLimit::kMaxSequences);
}

TEST_F(ContiguousEngineTest, WhatCanNeverFitIsAbortedOrRefused) {
  Start(Reservation::kMaxLength, 30);  // no range of 40
  Add(0, 1, 1);
  Step();
  EXPECT_THAT(plan_.scheduled, IsEmpty());
  EXPECT_EQ(engine_->AbortHead(), 0);
  EXPECT_FALSE(engine_->HasUnfinished());
  EXPECT_EQ(engine_->Add({.id = 1, .num_prompt_tokens = 40}),
            Engine::Admission::kTooLong);
}

TEST(ContiguousSettingsTest, NamesTheFieldThatIsMissing) {
  EXPECT_THAT(std::string(ContiguousSettings{}.Validate().message()),
              HasSubstr("`capacity_tokens`: found 0"));
}

}  // namespace
}  // namespace kvsim
