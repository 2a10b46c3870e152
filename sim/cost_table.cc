#include "sim/cost_table.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "nlohmann/json.hpp"

namespace kvsim {
namespace {

using Json = nlohmann::json;

constexpr const char* kNames[kNumPagingParts] = {
    "block_tables", "slot_mapping", "write_tokens", "copy_blocks",
    "swap_out",     "swap_in",      "copy_states"};

// Reads the fields of one file; the first mistake stands.
class CostReader {
 public:
  explicit CostReader(std::string path) : path_(std::move(path)) {}

  absl::Status status() const { return status_; }

  void Refuse(const std::string& what) {
    status_.Update(absl::InvalidArgumentError(absl::StrCat(path_, ": ", what)));
  }

  std::string Text(const Json& object, const char* field) {
    const auto found = object.find(field);
    if (found != object.end() && found->is_string()) return *found;
    Refuse(absl::StrCat("field ", field, " must be text"));
    return "";
  }

  double Number(const Json& object, const std::string& place, const char* field,
                double least, double most) {
    const auto found = object.find(field);
    if (found != object.end() && found->is_number()) {
      const double value = *found;
      if (value >= least && value <= most) return value;
    }
    Refuse(absl::StrCat("field ", place, ".", field, " is ",
                        found == object.end() ? "missing" : found->dump(),
                        "; accepted: a number from ", least, " to ", most));
    return least;
  }

  std::vector<CostPoint> Points(const Json& operations, const char* name) {
    const auto found = operations.find(name);
    if (found == operations.end() || !found->is_array() || found->empty()) {
      Refuse(absl::StrCat("field operations.", name,
                          " must be a list of measurements"));
      return {};
    }
    std::vector<CostPoint> points;
    for (const Json& entry : *found) {
      const std::string place =
          absl::StrCat("operations.", name, "[", points.size(), "]");
      if (!entry.is_object()) {
        Refuse(absl::StrCat("field ", place, " must be an object"));
        return {};
      }
      CostPoint& point = points.emplace_back();
      point.unit_bytes =
          std::llround(Number(entry, place, "unit_bytes", 1, 1e15));
      point.launch_ns =
          std::llround(Number(entry, place, "launch_ns", 0, 1e12));
      point.bytes_per_second =
          Number(entry, place, "bytes_per_second", 1, 1e18);
      if (points.size() > 1 &&
          point.unit_bytes <= points[points.size() - 2].unit_bytes) {
        Refuse(absl::StrCat("field ", place,
                            ".unit_bytes must be greater than the one before"));
      }
    }
    return points;
  }

 private:
  std::string path_;
  absl::Status status_;
};

}  // namespace

const char* PagingPartName(PagingPart part) {
  return kNames[static_cast<int>(part)];
}

absl::StatusOr<CostTable> CostTable::Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": cannot be opened; `kvsim paging calibrate --out FILE` writes "
        "such a file"));
  }
  return Parse(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

absl::StatusOr<CostTable> CostTable::Parse(const std::string& text,
                                           const std::string& path) {
  CostReader reader(path);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("kvsim_costs", 0) != 1 ||
      !json.contains("operations") || !json["operations"].is_object()) {
    reader.Refuse(
        "is not a table of costs: accepted is what `kvsim paging calibrate` "
        "writes, a JSON object with \"kvsim_costs\": 1 and \"operations\"");
    return reader.status();
  }
  CostTable table;
  table.backend_ = reader.Text(json, "backend");
  table.measured_on_ = reader.Text(json, "measured_on");
  for (int part = 0; part < kNumPagingParts; ++part) {
    table.points_[static_cast<size_t>(part)] =
        reader.Points(json["operations"], kNames[part]);
  }
  if (!reader.status().ok()) return reader.status();
  return table;
}

// Doubles as in every cost model: the measurement is far less exact.
double CostTable::BytesPerSecond(PagingPart part, int64_t unit_bytes) const {
  const std::vector<CostPoint>& points = points_[static_cast<size_t>(part)];
  const auto above = std::lower_bound(
      points.begin(), points.end(), unit_bytes,
      [](const CostPoint& p, int64_t unit) { return p.unit_bytes < unit; });
  if (above == points.begin()) return above->bytes_per_second;
  const auto below = std::prev(above);
  if (above == points.end()) return below->bytes_per_second;
  const double span = std::log2(static_cast<double>(above->unit_bytes)) -
                      std::log2(static_cast<double>(below->unit_bytes));
  const double at = std::log2(static_cast<double>(unit_bytes)) -
                    std::log2(static_cast<double>(below->unit_bytes));
  return below->bytes_per_second +
         (above->bytes_per_second - below->bytes_per_second) * (at / span);
}

int64_t CostTable::Ns(PagingPart part, int64_t launches, int64_t bytes,
                      int64_t unit_bytes) const {
  KVSIM_CHECK(launches >= 0 && bytes >= 0 && unit_bytes > 0);
  const std::vector<CostPoint>& points = points_[static_cast<size_t>(part)];
  const auto nearest = std::find_if(
      points.begin(), points.end() - 1,
      [unit_bytes](const CostPoint& p) { return p.unit_bytes >= unit_bytes; });
  const double moving =
      static_cast<double>(bytes) * 1e9 / BytesPerSecond(part, unit_bytes);
  return launches * nearest->launch_ns + std::llround(moving);
}

}  // namespace kvsim
