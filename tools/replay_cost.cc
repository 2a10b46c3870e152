#include "tools/replay_cost.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "sim/fixed_cost.h"
#include "sim/linear_cost.h"
#include "sim/model_roofline.h"
#include "sim/recorded_cost.h"
#include "sim/roofline_cost.h"
#include "tools/command.h"
#include "tools/flag_reader.h"

namespace kvsim {
namespace {

constexpr int64_t kDefaultStepUs = 20'000;
constexpr int64_t kMaxStepUs = 1'000'000'000'000;

absl::StatusOr<std::unique_ptr<CostModel>> MakeFixed(const ReplayFlags& flags) {
  int64_t step_us = kDefaultStepUs;
  FlagReader reader;
  reader.Read("--step-us", flags.step_us, ParseCount, &step_us);
  if (step_us < 1 || step_us > kMaxStepUs) {
    reader.Refuse("--step-us", flags.step_us, "accepted: 1 to 10^12");
  }
  if (!reader.status().ok()) return reader.status();
  return std::make_unique<FixedCost>(step_us * 1000);
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeLinear(
    const ReplayFlags& flags) {
  if (flags.linear_us.empty()) {
    return UsageError("--timing linear needs --linear-us");
  }
  LinearCoefficients coefficients;
  FlagReader reader;
  reader.Read("--linear-us", flags.linear_us, ParseLinearCoefficients,
              &coefficients);
  if (!reader.status().ok()) return reader.status();
  return std::make_unique<LinearCost>(coefficients);
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeRecorded(
    const ReplayFlags& flags) {
  if (flags.step_times.empty()) {
    return UsageError("--timing recorded needs --step-times");
  }
  absl::StatusOr<std::unique_ptr<RecordedCost>> cost =
      RecordedCost::Open(flags.step_times);
  if (!cost.ok()) return cost.status();
  return std::unique_ptr<CostModel>(*std::move(cost));
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeRoofline(
    const ReplayFlags& flags, const ReplaySetup& setup) {
  if (!setup.model.has_value() || !setup.gpu.has_value()) {
    return UsageError("--timing roofline needs --model and --gpu");
  }
  const RooflineModel model = RooflineModelOf(
      *setup.model, setup.tensor_parallel, setup.kv_bytes_per_token_per_rank);
  const RooflineGpu gpu = RooflineGpuOf(*setup.gpu, *setup.model);
  const absl::Status status = RooflineCost::Validate(model, gpu);
  if (!status.ok()) return status;
  const absl::StatusOr<const RooflineFit*> fit = RooflineFitOf(flags);
  if (!fit.ok()) return fit.status();
  return std::make_unique<RooflineCost>(model, gpu, (*fit)->efficiencies);
}

}  // namespace

absl::StatusOr<const RooflineFit*> RooflineFitOf(const ReplayFlags& flags) {
  if (flags.timing != "roofline") return nullptr;
  std::vector<std::string> engines;
  for (const RooflineFit& fit : RooflineFits()) engines.push_back(fit.engine);
  const std::string& asked =
      flags.roofline_engine.empty() ? engines[0] : flags.roofline_engine;
  const RooflineFit* const fit = FindRooflineFit(asked);
  if (fit != nullptr) return fit;
  return absl::InvalidArgumentError(
      absl::StrCat("--roofline-engine '", asked,
                   "': accepted: ", absl::StrJoin(engines, ", ")));
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(
    const ReplayFlags& flags, const ReplaySetup& setup) {
  if (flags.timing.empty() || flags.timing == "steps") return MakeFixed(flags);
  if (flags.timing == "linear") return MakeLinear(flags);
  if (flags.timing == "recorded") return MakeRecorded(flags);
  if (flags.timing == "roofline") return MakeRoofline(flags, setup);
  return absl::InvalidArgumentError(
      absl::StrCat("--timing '", flags.timing,
                   "': accepted: steps, linear, recorded, roofline"));
}

}  // namespace kvsim
