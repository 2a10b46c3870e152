#include "python/trace_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/vector_trace_reader.h"

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TraceRequest Row(int64_t arrival_ns, std::vector<uint64_t> ids) {
  TraceRequest row;
  row.arrival_ns = arrival_ns;
  row.input_length = 16 * static_cast<int64_t>(ids.size()) + 1;
  row.output_length = 3;
  row.hash_block = ids.empty() ? 0 : 16;
  row.hash_ids = std::move(ids);
  return row;
}

TraceColumns Read(std::vector<TraceRequest> rows) {
  VectorTraceReader reader(std::move(rows));
  TraceColumns columns;
  EXPECT_TRUE(ReadColumns(
                  reader, [] { return true; }, &columns)
                  .ok());
  return columns;
}

TEST(TraceColumnsTest, HaveARowPerRequest) {
  const TraceColumns columns = Read({Row(5, {}), Row(7, {})});
  EXPECT_THAT(columns.arrival_ns, ElementsAre(5, 7));
  EXPECT_THAT(columns.input_tokens, ElementsAre(1, 1));
  EXPECT_THAT(columns.output_tokens, ElementsAre(3, 3));
  EXPECT_THAT(columns.previous, ElementsAre(-1, -1));
  EXPECT_THAT(columns.block_offsets, IsEmpty());
}

TEST(TraceColumnsTest, IdsAreRaggedAlsoWhereTheyBeginLate) {
  const TraceColumns columns =
      Read({Row(0, {}), Row(0, {8, 9}), Row(0, {}), Row(0, {7})});
  EXPECT_THAT(columns.block_ids, ElementsAre(8, 9, 7));
  EXPECT_THAT(columns.block_offsets, ElementsAre(0, 0, 2, 2, 3));
  EXPECT_THAT(columns.block_tokens, ElementsAre(0, 16, 0, 16));
  EXPECT_THAT(columns.block_scope, ElementsAre(0, 0, 0, 0));
}

TEST(TraceColumnsTest, ReadingCanBeEnded) {
  VectorTraceReader reader({Row(0, {})});
  TraceColumns columns;
  EXPECT_EQ(ReadColumns(
                reader, [] { return false; }, &columns)
                .code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace kvsim
