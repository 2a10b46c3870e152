#include "kernels/memory_paging_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/paging_device.h"
#include "kernels/paging_programs.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr PoolIndex kStates = 1;

std::unique_ptr<MemoryPagingBackend> HostBackend() {
  auto device = PagingDevice::Create(PagingProgramPools(), HostKernels(),
                                     MakeHostMemory());
  EXPECT_TRUE(device.ok()) << device.status();
  return std::make_unique<MemoryPagingBackend>(PagingProgramPools(),
                                               *std::move(device));
}

class MemoryPagingBackendTest : public ::testing::Test {
 protected:
  absl::Status Do(PageOp op) { return backend_->Execute(std::span(&op, 1)); }
  void MustDo(const PageOp& op) {
    const absl::Status status = Do(op);
    EXPECT_TRUE(status.ok()) << status;
  }
  std::string Caught(const PageOp& op) {
    const absl::Status status = Do(op);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message());
  }

  // Rows 0 to 5 of sequence 1 in blocks 2 and 5, stamped 100 to 105.
  void WriteSix() {
    MustDo(WriteTokens{.sequence = 1,
                       .slots = {8, 9, 10, 11, 20, 21},
                       .stamps = {100, 101, 102, 103, 104, 105}});
  }
  GatherSequence GatherSix(SequenceId sequence = 1) {
    return {.sequence = sequence,
            .end_position = 6,
            .block_table = {2, 5},
            .stamps = {100, 101, 102, 103, 104, 105}};
  }

  std::unique_ptr<MemoryPagingBackend> backend_ = HostBackend();
};

TEST_F(MemoryPagingBackendTest, ReadsWhatWasWritten) {
  WriteSix();
  MustDo(GatherSix());
  EXPECT_STREQ(backend_->name(), "host");
  const auto gathers = static_cast<size_t>(PageOpKind::kGatherSequence);
  EXPECT_EQ(backend_->Totals()[gathers].items, 6);
}

TEST_F(MemoryPagingBackendTest, NamesRowAndBothStampsOfAWrongRead) {
  WriteSix();
  GatherSequence gather = GatherSix();
  gather.stamps[5] = 0xabc;
  EXPECT_THAT(
      Caught(gather),
      AllOf(StartsWith("op 0: gather_sequence in pool \"full\": block 5 row 1, "
                       "position 5 of sequence 1: expected "
                       "0x0000000000000abc, found 0x0000000000000069"),
            HasSubstr("; last written by sequence 1 (write_tokens, operation 0 "
                      "of the run)")));
  // A row that nobody wrote.
  gather = {.sequence = 1,
            .first_position = 6,
            .end_position = 7,
            .block_table = {2, 5},
            .stamps = {106}};
  EXPECT_THAT(Caught(gather), HasSubstr("block 5 row 2, position 6"));
}

TEST_F(MemoryPagingBackendTest, CopiesMovesAndSwapsKeepContents) {
  WriteSix();
  MustDo(CopyBlock{.source = 2, .target = 3, .rows = 4});
  MustDo(MoveBlocks{.moves = {{5, 3}, {3, 5}}});  // an exchange
  GatherSequence gather = GatherSix();
  gather.block_table = {5, 3};
  MustDo(gather);
  MustDo(SwapBlocks{.blocks = {{5, 0}, {3, 2}}});
  MustDo(WriteTokens{.sequence = 2, .slots = {20, 12}, .stamps = {1, 2}});
  MustDo(SwapBlocks{.direction = SwapDirection::kToDevice,
                    .blocks = {{7, 0}, {6, 2}}});
  gather.block_table = {7, 6};
  MustDo(gather);
  EXPECT_THAT(Caught(GatherSix()), HasSubstr("block 5 row 0"));
}

TEST_F(MemoryPagingBackendTest, StatesAdvanceAndAreRestored) {
  MustDo(UpdateState{
      .pool = kStates, .sequence = 1, .position = 4, .running = 1, .after = 7});
  MustDo(SaveState{.pool = kStates,
                   .sequence = 1,
                   .position = 4,
                   .running = 1,
                   .checkpoint = 2});
  MustDo(UpdateState{.pool = kStates,
                     .sequence = 1,
                     .position = 5,
                     .source = 1,
                     .running = 1,
                     .before = 7,
                     .after = 8});
  MustDo(RestoreState{.pool = kStates,
                      .sequence = 3,
                      .position = 4,
                      .checkpoint = 2,
                      .running = 4,
                      .stamp = 7});
  EXPECT_THAT(Caught(UpdateState{.pool = kStates,
                                 .sequence = 1,
                                 .position = 6,
                                 .source = 1,
                                 .running = 1,
                                 .before = 7,
                                 .after = 9}),
              HasSubstr("update_state in pool \"state\": block 1 of sequence "
                        "1: expected 0x0000000000000007, found "
                        "0x0000000000000008"));
}

// Rows and states of one arena are the same memory.
TEST_F(MemoryPagingBackendTest, AStateOverwritesRowsOfItsBlock) {
  WriteSix();
  MustDo(UpdateState{
      .pool = kStates, .sequence = 9, .position = 4, .running = 2, .after = 7});
  EXPECT_THAT(Caught(GatherSix()),
              AllOf(HasSubstr("block 2 row 0"),
                    HasSubstr("last written by sequence 9 (update_state")));
}

// --- who owns what ----------------------------------------------------------------

TEST_F(MemoryPagingBackendTest, ABlockIsGivenToOneSequence) {
  MustDo(AssignBlocks{.sequence = 1, .blocks = {2, 5}});
  WriteSix();
  EXPECT_THAT(
      Caught(AssignBlocks{.pool = kStates, .sequence = 4, .blocks = {3, 5}}),
      HasSubstr("assign_blocks in pool \"state\": block 5 is given to "
                "sequence 4 while sequence 1 owns it; last written by "
                "sequence 1"));
  MustDo(ReleaseBlocks{.sequence = 1, .blocks = {2, 5}});
  MustDo(AssignBlocks{.sequence = 6, .blocks = {2, 5}});
}

TEST_F(MemoryPagingBackendTest, SharedBlocksAreReadByAllAndWrittenByNone) {
  MustDo(AssignBlocks{.sequence = 1, .blocks = {2, 5}});
  WriteSix();
  MustDo(AssignBlocks{.sequence = 4, .shared = true, .blocks = {2, 5}});
  MustDo(GatherSix(4));
  EXPECT_THAT(
      Caught(WriteTokens{.sequence = 1, .slots = {22}, .stamps = {106}}),
      HasSubstr("write_tokens in pool \"full\": block 5 is written by sequence "
                "1 while sequence 4 owns it"));
  MustDo(ReleaseBlocks{.sequence = 4, .blocks = {5}});
  MustDo(WriteTokens{.sequence = 1, .slots = {22}, .stamps = {106}});
  EXPECT_THAT(Caught(GatherSix(4)),
              HasSubstr("block 5 is read by sequence 4 which does not own it"));
}

TEST_F(MemoryPagingBackendTest, ReleasedBlocksAreNobodys) {
  MustDo(AssignBlocks{.sequence = 1, .blocks = {2, 5}});
  WriteSix();
  MustDo(AssignBlocks{.sequence = 7, .blocks = {1}});
  MustDo(ReleaseBlocks{.sequence = 1, .blocks = {5}});
  EXPECT_THAT(
      Caught(WriteTokens{.sequence = 1, .slots = {22}, .stamps = {106}}),
      HasSubstr("block 5 is written by sequence 1 while nobody owns it"));
  EXPECT_THAT(Caught(ReleaseBlocks{.sequence = 1, .blocks = {5}}),
              HasSubstr("block 5 is given back by sequence 1 which does not "
                        "own it"));
  EXPECT_THAT(
      Caught(AssignBlocks{.sequence = 3, .shared = true, .blocks = {6}}),
      HasSubstr("block 6 is shared with sequence 3 but was never given "
                "to anyone"));
}

TEST_F(MemoryPagingBackendTest, OpsBeforeTheMistakeAreDone) {
  const std::vector<PageOp> ops = {
      WriteTokens{.sequence = 1, .slots = {8}, .stamps = {1}},
      WriteTokens{.sequence = 1, .slots = {32}, .stamps = {1}},
      WriteTokens{.sequence = 1, .slots = {9}, .stamps = {1}}};
  EXPECT_THAT(std::string(backend_->Execute(ops).message()),
              StartsWith("op 1: write_tokens in pool \"full\": slot is 32"));
  const auto writes = static_cast<size_t>(PageOpKind::kWriteTokens);
  EXPECT_EQ(backend_->Totals()[writes].ops, 1);
}

TEST_F(MemoryPagingBackendTest, NoMemoryIsAPlainError) {
  std::vector<PoolShape> pools = {{.name = "full",
                                   .num_blocks = 1 << 30,
                                   .block_tokens = 1,
                                   .row_bytes = 1 << 20,
                                   .block_bytes = 1 << 20}};
  const auto device =
      PagingDevice::Create(pools, HostKernels(), MakeHostMemory());
  EXPECT_EQ(device.status().code(), absl::StatusCode::kResourceExhausted);
}

// --- at random ------------------------------------------------------------------

TEST_F(MemoryPagingBackendTest, RandomPrograms) {
  RunPagingPrograms(200, [] { return HostBackend(); });
}

TEST_F(MemoryPagingBackendTest, HashesPrompts) {
  MustDo(HashPrefix{
      .sequence = 1, .block_tokens = 2, .token_ids = {1, 2, 3, 4, 5}});
  MustDo(HashPrefix{.sequence = 1, .block_tokens = 16, .token_ids = {1, 2}});
}

}  // namespace
}  // namespace kvsim
