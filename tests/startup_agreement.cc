#include "tests/startup_agreement.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace kvsim {
namespace {

// More sizes than any printed memory allows: 0.01 GiB over a block of 1 KiB.
constexpr int64_t kMostSizes = 20000;

// As it would be printed: all digits of an integer, two decimals otherwise.
std::string Printed(const nlohmann::json& figure) {
  return figure.is_number_integer()
             ? absl::StrCat(figure.get<int64_t>())
             : absl::StrFormat("%.2f", figure.get<double>());
}

std::string PrintedAs(const nlohmann::json& figure, double value) {
  return figure.is_number_integer() ? absl::StrFormat("%.0f", value)
                                    : absl::StrFormat("%.2f", value);
}

// The first printed figure that `figures` does not reproduce; "" when all are.
std::string FirstDifference(const nlohmann::json& expect,
                            const StartupFigures& figures) {
  for (const auto& [name, printed] : expect.items()) {
    const auto found = figures.values.find(name);
    if (found == figures.values.end()) {
      return absl::StrCat(name, ": printed ", Printed(printed),
                          ", not predicted");
    }
    const std::string predicted = PrintedAs(printed, found->second);
    if (predicted == Printed(printed)) continue;
    return absl::StrCat(name, ": printed ", Printed(printed), ", predicted ",
                        predicted);
  }
  return "";
}

StartupResult Failed(const absl::Status& status) {
  return {status.code() == absl::StatusCode::kUnimplemented
              ? Agreement::kUnsupported
              : Agreement::kDiffers,
          std::string(status.message())};
}

std::string Names(const nlohmann::json& expect) {
  std::vector<std::string> names;
  for (const auto& [name, printed] : expect.items()) {
    names.push_back(absl::StrCat(name, "=", Printed(printed)));
  }
  return absl::StrJoin(names, " ");
}

StartupPool PoolAt(const StartupCase& startup, int sign) {
  StartupPool pool;
  if (startup.memory.has_value()) {
    pool.memory = *startup.memory + startup.memory_band * sign;
  }
  return pool;
}

// Any size between the two ends must reproduce everything.
StartupResult CompareStarted(const StartupCase& startup, StartupPredict predict,
                             const StartupFigures& least,
                             const StartupFigures& most) {
  std::string nearest = FirstDifference(startup.expect, most);
  if (least.refused || most.refused) {
    return {Agreement::kDiffers, "printed a start, predicted a refusal"};
  }
  if (most.units - least.units > kMostSizes) {
    return {Agreement::kDiffers, "the memory allows too many sizes"};
  }
  for (int64_t units = least.units; units <= most.units; ++units) {
    const absl::StatusOr<StartupFigures> figures =
        predict(startup, {std::nullopt, units});
    if (!figures.ok()) return Failed(figures.status());
    std::string difference = FirstDifference(startup.expect, *figures);
    if (difference.empty()) {
      return {Agreement::kAgrees,
              absl::StrCat("pool ", units, ": ", Names(startup.expect))};
    }
    nearest = std::move(difference);
  }
  return {Agreement::kDiffers, absl::StrCat(nearest, " (pools ", least.units,
                                            " to ", most.units, ")")};
}

// Figures that memory moves lie between the two ends, others are exact.
StartupResult CompareRefused(const StartupCase& startup,
                             const StartupFigures& least,
                             const StartupFigures& most) {
  if (!least.refused || !most.refused) {
    return {Agreement::kDiffers, "printed a refusal, predicted a start"};
  }
  for (const auto& [name, printed] : startup.expect.items()) {
    const auto low = least.values.find(name);
    const auto high = most.values.find(name);
    if (low == least.values.end() || high == most.values.end()) {
      return {Agreement::kDiffers, absl::StrCat(name, ": not predicted")};
    }
    const std::string first = PrintedAs(printed, low->second);
    const std::string last = PrintedAs(printed, high->second);
    const auto value = printed.get<double>();
    const bool within = first == Printed(printed) || last == Printed(printed) ||
                        (low->second <= value && value <= high->second);
    if (within) continue;
    return {Agreement::kDiffers,
            absl::StrCat(name, ": printed ", Printed(printed), ", predicted ",
                         first, " to ", last)};
  }
  return {Agreement::kAgrees, Names(startup.expect)};
}

}  // namespace

StartupResult CompareStartup(const StartupCase& startup,
                             StartupPredict predict) {
  if (predict == nullptr) {
    return {Agreement::kUnsupported,
            absl::StrCat("engine ", startup.engine, " has no predictor")};
  }
  const auto least = predict(startup, PoolAt(startup, -1));
  if (!least.ok()) return Failed(least.status());
  const auto most = predict(startup, PoolAt(startup, 1));
  if (!most.ok()) return Failed(most.status());
  return startup.refused ? CompareRefused(startup, *least, *most)
                         : CompareStarted(startup, predict, *least, *most);
}

absl::string_view AgreementName(Agreement agreement) {
  switch (agreement) {
    case Agreement::kAgrees:
      return "agree";
    case Agreement::kDiffers:
      return "differs";
    case Agreement::kUnsupported:
      return "unsupported";
  }
  return "unknown";
}

}  // namespace kvsim
