#include "sim/linear_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace kvsim {
namespace {

constexpr LinearCoefficients kTruth = {5000, 20.5, 100, 0.004};

// Steps of a server that is exactly linear: prompts of 0 to 8191 tokens beside 0
// to 255 decoding requests of 0 to 9999 tokens each.
std::vector<StepSample> ExactSteps(const LinearCoefficients& truth,
                                   int64_t count) {
  RandomStream random(7, "steps");
  std::vector<StepSample> samples;
  for (int64_t i = 0; i < count; ++i) {
    StepSample sample;
    sample.prefill_tokens = static_cast<int64_t>(random.Below(8192));
    sample.decode_requests = static_cast<int64_t>(random.Below(256));
    sample.context_tokens =
        sample.decode_requests * static_cast<int64_t>(random.Below(10000));
    sample.us = LinearUs(truth, sample.prefill_tokens, sample.decode_requests,
                         sample.context_tokens);
    samples.push_back(sample);
  }
  return samples;
}

TEST(LinearFitTest, FindsTheCoefficientsOfALinearServer) {
  const auto fit = FitLinear(ExactSteps(kTruth, 200));
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->coefficients.base_us, 5000, 1e-3);
  EXPECT_NEAR(fit->coefficients.prefill_token_us, 20.5, 1e-6);
  EXPECT_NEAR(fit->coefficients.decode_request_us, 100, 1e-5);
  EXPECT_NEAR(fit->coefficients.context_token_us, 0.004, 1e-9);
  EXPECT_LT(fit->in_sample.p90, 1e-9);
  EXPECT_LT(fit->left_out.p90, 1e-9);
}

// With an offset that would need a negative base, the base is 0.
TEST(LinearFitTest, NoCoefficientIsNegative) {
  std::vector<StepSample> samples = ExactSteps({0, 20, 100, 0.004}, 200);
  for (StepSample& sample : samples)
    sample.us *= 1 - 0.3 / (1 + sample.us / 1e4);
  const auto fit = FitLinear(samples);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->coefficients.base_us, 0);
  EXPECT_GE(fit->coefficients.prefill_token_us, 0);
  EXPECT_GE(fit->coefficients.decode_request_us, 0);
  EXPECT_GE(fit->coefficients.context_token_us, 0);
  EXPECT_GT(fit->in_sample.median, 0);
}

// Every request reads 1000 tokens: what a request and its context cost cannot be
// told apart, and one of the two stands for both.
TEST(LinearFitTest, TermsThatMoveTogetherBecomeOne) {
  std::vector<StepSample> samples;
  for (int64_t i = 1; i <= 20; ++i) {
    samples.push_back({0, i, 1000 * i, 500 + 30.0 * static_cast<double>(i)});
  }
  const auto fit = FitLinear(samples);
  ASSERT_TRUE(fit.ok()) << fit.status();
  const LinearCoefficients& c = fit->coefficients;
  EXPECT_NEAR(c.base_us, 500, 1e-6);
  EXPECT_NEAR(c.decode_request_us + 1000 * c.context_token_us, 30, 1e-6);
  EXPECT_EQ(c.prefill_token_us, 0);
}

// Half of the steps take 1 ms, half 3 ms, with the same batch. The best relative
// constant c makes (c - 1)² + (c/3 - 1)² least: c (1 + 1/9) = 1 + 1/3, c = 1.2.
// Errors: |1.2/1 - 1| = 0.2 and |1.2/3 - 1| = 0.6.
TEST(LinearFitTest, ErrorsAreRelative) {
  std::vector<StepSample> samples;
  for (int i = 0; i < 20; ++i) {
    samples.push_back({0, 0, 0, i % 2 == 0 ? 1000.0 : 3000.0});
  }
  const auto fit = FitLinear(samples);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->coefficients.base_us, 1200, 1e-6);
  EXPECT_NEAR(fit->in_sample.median, 0.6, 1e-9);
  EXPECT_NEAR(fit->in_sample.p90, 0.6, 1e-9);
}

TEST(LinearFitTest, RefusesTooFewStepsAndTimesOfNothing) {
  EXPECT_EQ(FitLinear(ExactSteps(kTruth, 9)).status().message(),
            "9 steps are too few to fit: at least 10");
  std::vector<StepSample> samples = ExactSteps(kTruth, 10);
  samples[3].us = 0;
  EXPECT_THAT(std::string(FitLinear(samples).status().message()),
              testing::HasSubstr("times must be above 0"));
}

}  // namespace
}  // namespace kvsim
