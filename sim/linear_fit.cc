#include "sim/linear_fit.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

constexpr size_t kTerms = 4;
constexpr int64_t kLeastSamples = 10;
constexpr size_t kFolds = 5;

using Row = std::array<double, kTerms>;

// What each coefficient is multiplied by, over the measured time: the model is
// right where the row's product with the coefficients is 1.
Row RelativeTerms(const StepSample& sample) {
  return {1.0 / sample.us,
          static_cast<double>(sample.prefill_tokens) / sample.us,
          static_cast<double>(sample.decode_requests) / sample.us,
          static_cast<double>(sample.context_tokens) / sample.us};
}

// The normal equations of min Σ (row · x - 1)², with columns scaled to unit
// length so that a pivot says how much a column adds to those before it.
struct Normal {
  std::array<Row, kTerms> matrix{};
  Row right{};
  Row scale{};
};

Normal Accumulate(const std::vector<Row>& rows) {
  Normal normal;
  for (const Row& row : rows) {
    for (size_t i = 0; i < kTerms; ++i) {
      normal.right[i] += row[i];
      for (size_t j = 0; j < kTerms; ++j) {
        normal.matrix[i][j] += row[i] * row[j];
      }
    }
  }
  for (size_t i = 0; i < kTerms; ++i) {
    normal.scale[i] = std::sqrt(normal.matrix[i][i]);
  }
  for (size_t i = 0; i < kTerms; ++i) {
    if (normal.scale[i] == 0) continue;
    normal.right[i] /= normal.scale[i];
    for (size_t j = 0; j < kTerms; ++j) {
      if (normal.scale[j] == 0) continue;
      normal.matrix[i][j] /= normal.scale[i] * normal.scale[j];
    }
  }
  return normal;
}

// The coefficients with only the terms of `mask` above zero, or nothing when
// one comes out negative or two terms cannot be told apart. Elimination without
// pivoting: the matrix is positive definite or the mask is refused.
std::optional<Row> Solve(const Normal& normal, unsigned mask) {
  constexpr double kLeastPivot = 1e-9;
  std::vector<size_t> terms;
  for (size_t i = 0; i < kTerms; ++i) {
    if ((mask >> i) & 1) terms.push_back(i);
  }
  std::array<Row, kTerms> m = normal.matrix;
  Row right = normal.right;
  for (size_t a = 0; a < terms.size(); ++a) {
    const size_t pivot = terms[a];
    if (normal.scale[pivot] == 0 || m[pivot][pivot] < kLeastPivot) {
      return std::nullopt;
    }
    for (size_t b = a + 1; b < terms.size(); ++b) {
      const size_t row = terms[b];
      const double factor = m[row][pivot] / m[pivot][pivot];
      for (const size_t column : terms)
        m[row][column] -= factor * m[pivot][column];
      right[row] -= factor * right[pivot];
    }
  }
  Row solution{};
  for (size_t a = terms.size(); a-- > 0;) {
    const size_t pivot = terms[a];
    double value = right[pivot];
    for (size_t b = a + 1; b < terms.size(); ++b) {
      value -= m[pivot][terms[b]] * solution[terms[b]];
    }
    solution[pivot] = value / m[pivot][pivot];
    if (solution[pivot] < 0) return std::nullopt;
  }
  for (const size_t term : terms) solution[term] /= normal.scale[term];
  return solution;
}

double Misfit(const std::vector<Row>& rows, const Row& solution) {
  double sum = 0;
  for (const Row& row : rows) {
    double off = -1;
    for (size_t i = 0; i < kTerms; ++i) off += row[i] * solution[i];
    sum += off * off;
  }
  return sum;
}

LinearCoefficients Best(const std::vector<Row>& rows) {
  const Normal normal = Accumulate(rows);
  Row best{};
  double least = Misfit(rows, best);
  for (unsigned mask = 1; mask < (1u << kTerms); ++mask) {
    const std::optional<Row> solution = Solve(normal, mask);
    if (!solution.has_value()) continue;
    const double misfit = Misfit(rows, *solution);
    if (misfit >= least) continue;
    least = misfit;
    best = *solution;
  }
  return {best[0], best[1], best[2], best[3]};
}

double ErrorOf(const LinearCoefficients& coefficients,
               const StepSample& sample) {
  const double us = LinearUs(coefficients, sample.prefill_tokens,
                             sample.decode_requests, sample.context_tokens);
  return std::abs(us / sample.us - 1.0);
}

// Errors of the fold's samples under a fit to the others.
void TestFold(std::span<const StepSample> samples, size_t fold,
              std::vector<double>* errors) {
  std::vector<Row> fitted;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i % kFolds != fold) fitted.push_back(RelativeTerms(samples[i]));
  }
  const LinearCoefficients coefficients = Best(fitted);
  for (size_t i = fold; i < samples.size(); i += kFolds) {
    errors->push_back(ErrorOf(coefficients, samples[i]));
  }
}

}  // namespace

absl::StatusOr<LinearFit> FitLinear(std::span<const StepSample> samples) {
  const auto count = static_cast<int64_t>(samples.size());
  if (count < kLeastSamples) {
    return absl::InvalidArgumentError(absl::StrCat(
        count, " steps are too few to fit: at least ", kLeastSamples));
  }
  std::vector<Row> rows;
  for (const StepSample& sample : samples) {
    if (!(sample.us > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step of ", sample.us, " us: times must be above 0"));
    }
    rows.push_back(RelativeTerms(sample));
  }
  LinearFit fit;
  fit.coefficients = Best(rows);
  std::vector<double> errors;
  for (const StepSample& sample : samples) {
    errors.push_back(ErrorOf(fit.coefficients, sample));
  }
  fit.in_sample = RelativeError::Of(std::move(errors));
  std::vector<double> left_out;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    TestFold(samples, fold, &left_out);
  }
  fit.left_out = RelativeError::Of(std::move(left_out));
  return fit;
}

}  // namespace kvsim
