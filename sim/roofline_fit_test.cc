// The table of sim/roofline_fits is the fit that it claims to be.
//
// The measurements are not part of the project: the environment variable
// KVSIM_SHARED names the folder that holds them. docs/cost_models.md states the
// errors that this test prints.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/roofline_fits.h"
#include "sim/step_rates_for_test.h"

namespace kvsim {
namespace {

using Loads = std::vector<const MeasuredLoad*>;

double Predicted(const RooflineEfficiencies& eta, const MeasuredLoad& load) {
  return RooflineCost(load.model, load.gpu, eta).Seconds(load.load);
}

// What the fit makes small.
double Misfit(const RooflineEfficiencies& eta, const Loads& loads) {
  double sum = 0;
  for (const MeasuredLoad* load : loads) {
    sum += std::abs(std::log(Predicted(eta, *load) / load->seconds));
  }
  return sum;
}

// Turns one parameter at a time by a factor, as long as that helps, and makes
// the factor smaller when nothing does. Efficiencies stay within 1.
RooflineEfficiencies Fit(const Loads& loads) {
  constexpr double RooflineEfficiencies::*kParameters[] = {
      &RooflineEfficiencies::memory, &RooflineEfficiencies::prefill,
      &RooflineEfficiencies::layer_us, &RooflineEfficiencies::parallel_layer_us,
      &RooflineEfficiencies::expert_layer_us};
  RooflineEfficiencies best;
  double least = Misfit(best, loads);
  for (double factor = 1.5; factor > 1.002;) {
    bool better = false;
    for (const auto parameter : kParameters) {
      for (const double turn : {factor, 1 / factor}) {
        RooflineEfficiencies tried = best;
        tried.*parameter *= turn;
        if (tried.memory > 1 || tried.prefill > 1) continue;
        const double misfit = Misfit(tried, loads);
        if (misfit >= least) continue;
        least = misfit;
        best = tried;
        better = true;
      }
    }
    if (!better) factor = std::sqrt(factor);
  }
  return best;
}

std::vector<double> Errors(const RooflineEfficiencies& eta,
                           const Loads& loads) {
  std::vector<double> errors;
  for (const MeasuredLoad* load : loads) {
    errors.push_back(std::abs(Predicted(eta, *load) / load->seconds - 1.0));
  }
  return errors;
}

void Print(const std::string& name, size_t loads, const RelativeError& error) {
  std::printf("  %-36s %5zu loads  median %5.1f %%  p90 %5.1f %%\n",
              name.c_str(), loads, 100 * error.median, 100 * error.p90);
}

// Each architecture's loads under a fit to all the others.
std::vector<double> LeaveEachOut(const Loads& loads) {
  std::set<std::string> architectures;
  for (const MeasuredLoad* load : loads) {
    architectures.insert(load->architecture);
  }
  std::vector<double> all;
  for (const std::string& left_out : architectures) {
    Loads fitted, tested;
    for (const MeasuredLoad* load : loads) {
      (load->architecture == left_out ? tested : fitted).push_back(load);
    }
    const std::vector<double> errors = Errors(Fit(fitted), tested);
    Print("left out: " + left_out, errors.size(), RelativeError::Of(errors));
    all.insert(all.end(), errors.begin(), errors.end());
  }
  return all;
}

void PrintByModel(const RooflineEfficiencies& eta, const Loads& loads) {
  std::map<std::string, Loads> groups;
  for (const MeasuredLoad* load : loads) {
    groups[load->architecture + " " + load->weights].push_back(load);
  }
  for (const auto& [name, some] : groups) {
    Print(name, some.size(), RelativeError::Of(Errors(eta, some)));
  }
}

class RooflineFitTest : public testing::TestWithParam<const char*> {};

TEST_P(RooflineFitTest, IsTheOneOfTheTable) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const auto all = ReadMeasuredLoads(shared);
  ASSERT_TRUE(all.ok()) << all.status();
  Loads loads;
  for (const MeasuredLoad& load : *all) {
    if (load.engine == GetParam()) loads.push_back(&load);
  }
  ASSERT_FALSE(loads.empty());
  const RooflineFit* const table = FindRooflineFit(GetParam());
  ASSERT_NE(table, nullptr);
  const RooflineEfficiencies eta = Fit(loads);
  std::printf(
      "%s: memory %.3f, prefill %.3f, layer %.1f us, parallel %.1f us, "
      "experts %.1f us\n",
      GetParam(), eta.memory, eta.prefill, eta.layer_us, eta.parallel_layer_us,
      eta.expert_layer_us);
  PrintByModel(table->efficiencies, loads);
  const RelativeError in_sample =
      RelativeError::Of(Errors(table->efficiencies, loads));
  Print("all", loads.size(), in_sample);
  const RelativeError left_out = RelativeError::Of(LeaveEachOut(loads));
  Print("each model left out", loads.size(), left_out);

  // The table rounds efficiencies and errors to a thousandth, times to a tenth.
  EXPECT_EQ(table->loads, static_cast<int>(loads.size()));
  EXPECT_NEAR(table->efficiencies.memory, eta.memory, 0.0006);
  EXPECT_NEAR(table->efficiencies.prefill, eta.prefill, 0.0006);
  EXPECT_NEAR(table->efficiencies.layer_us, eta.layer_us, 0.06);
  EXPECT_NEAR(table->efficiencies.parallel_layer_us, eta.parallel_layer_us,
              0.06);
  EXPECT_NEAR(table->efficiencies.expert_layer_us, eta.expert_layer_us, 0.06);
  EXPECT_NEAR(table->in_sample.median, in_sample.median, 0.0006);
  EXPECT_NEAR(table->in_sample.p90, in_sample.p90, 0.0006);
  EXPECT_NEAR(table->left_out.median, left_out.median, 0.0006);
  EXPECT_NEAR(table->left_out.p90, left_out.p90, 0.0006);
}

INSTANTIATE_TEST_SUITE_P(Engines, RooflineFitTest,
                         testing::Values("vllm", "sglang", "tensorrt-llm"));

}  // namespace
}  // namespace kvsim
