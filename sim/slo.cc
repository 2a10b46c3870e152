#include "sim/slo.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace kvsim {
namespace {

constexpr char kAccepted[] =
    "accepted: ttft=TIME,tpot=TIME,e2e=TIME, each at most once, for example "
    "ttft=2s,tpot=50ms";

}  // namespace

absl::StatusOr<Slo> ParseSlo(absl::string_view text) {
  Slo slo;
  const std::pair<absl::string_view, std::optional<int64_t>*> names[] = {
      {"ttft", &slo.ttft_ns}, {"tpot", &slo.tpot_ns}, {"e2e", &slo.e2e_ns}};
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> name_value =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::optional<int64_t>* target = nullptr;
    for (const auto& [name, place] : names) {
      if (name == name_value.first) target = place;
    }
    if (target == nullptr || target->has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("found \"", part, "\"; ", kAccepted));
    }
    const absl::StatusOr<SimTime> time = ParseDuration(name_value.second);
    if (!time.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("in \"", part, "\": ", time.status().message()));
    }
    *target = time->value();
  }
  return slo;
}

}  // namespace kvsim
