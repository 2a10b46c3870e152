#include "traces/preset_check.h"

#include <cmath>

#include "traces/preset_trace.h"
#include "traces/value_summary.h"

namespace kvsim {
namespace {

constexpr double kTolerance = 0.05;
constexpr double kCeilingTolerance = 0.01;

bool IsNear(double value, double source) {
  return std::abs(value - source) <= kTolerance * source;
}

}  // namespace

bool TraceFigures::IsCloseTo(const TraceFigures& source) const {
  return IsNear(input_mean, source.input_mean) &&
         IsNear(static_cast<double>(input_p50),
                static_cast<double>(source.input_p50)) &&
         IsNear(static_cast<double>(input_p99),
                static_cast<double>(source.input_p99)) &&
         IsNear(output_mean, source.output_mean) &&
         std::abs(ceiling - source.ceiling) <= kCeilingTolerance;
}

void FigureCounter::Add(const TraceRequest& row) {
  inputs_.push_back(row.input_length);
  outputs_.push_back(row.output_length);
  tree_.Add(row);
}

TraceFigures FigureCounter::Figures() const {
  const ValueSummary input = Describe(inputs_);
  TraceFigures figures;
  figures.rows = input.count;
  figures.input_mean = input.mean();
  figures.input_p50 = input.p50;
  figures.input_p99 = input.p99;
  figures.output_mean = Describe(outputs_).mean();
  const int64_t hits = tree_.Summary(0).hit_tokens;
  if (input.total > 0) {
    figures.ceiling =
        static_cast<double>(hits) / static_cast<double>(input.total);
  }
  return figures;
}

TraceFigures FiguresOfPreset(const TracePreset& preset, uint64_t seed) {
  PresetTrace trace(preset, seed, preset.rows);
  FigureCounter counter;
  TraceRequest row;
  while (trace.Next(&row)) counter.Add(row);
  return counter.Figures();
}

}  // namespace kvsim
