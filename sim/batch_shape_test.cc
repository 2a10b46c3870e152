#include "sim/batch_shape.h"

#include <gtest/gtest.h>

#include "sim/fake_batches.h"

namespace kvsim {
namespace {

TEST(BatchShapeTest, TellsDecodesFromChunks) {
  const BatchShape shape = BatchShape::Of(Batch({
      Decode(0, 99),              // reads 100 tokens
      Decode(1, 10, 1, 3),        // 1 + 3 drafts, reads 14
      Chunk(2, 512, 256, false),  // 512 tokens before it
      Chunk(3, 0, 1, false),      // one token, but it does not sample
      Chunk(4, 100, 20, true),
  }));
  EXPECT_EQ(shape, (BatchShape{.decode_requests = 2,
                               .decode_tokens = 5,
                               .decode_context = 114,
                               .prefill_tokens = 277,
                               .prefill_context = 612}));
}

}  // namespace
}  // namespace kvsim
