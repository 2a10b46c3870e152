#include "sim/model_roofline.h"

#include <gtest/gtest.h>

#include "models/model_loader.h"

namespace kvsim {
namespace {

// Llama 3 8B: a layer multiplies by 2·4096² + 2·4096·1024 + 3·4096·14336 =
// 218,103,808 numbers, 32 of them by 6,979,321,856, with the head 525,336,576 and the
// norms 266,240 in all 7,504,924,672; two operations each. Attention: 2 · 32 heads ·
// (128 + 128) · 32 layers = 524,288 operations a token of context.
TEST(AttentionBalance, IsWhereTheContextCostsAsMuchAsTheRest) {
  EXPECT_EQ(AttentionBalance(*LoadModel("llama-3.1-8b")),
            2 * 7'504'924'672 / 524'288);
}

// 20 of its 27 layers do not look back: the balance is far out.
TEST(AttentionBalance, RecurrentLayersDoNotLookBack) {
  EXPECT_GT(AttentionBalance(*LoadModel("kimi-linear-48b")), 20'000);
}

}  // namespace
}  // namespace kvsim
