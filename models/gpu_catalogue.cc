#include "models/gpu_catalogue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/nearest_name.h"

namespace kvsim {
namespace {

constexpr double kUnknown = 0;

// One line of the table: GiB as logs print them, TB/s, TFLOP/s, GB/s, MB.
struct Row {
  const char* name;
  double vendor_gb;
  double engine_gib;
  double spread_gib;
  MemorySource source;
  double tb_per_s;
  double bf16_tflops;
  double fp8_tflops;
  double fp4_tflops;
  double link_gb_per_s;
  double l2_mb;
  int sm;
};

constexpr MemorySource kLog = MemorySource::kEngineLog;
constexpr MemorySource kSibling = MemorySource::kSiblingLog;

// Where logs of one card differ, the nominal figure is the one most logs
// print, else the middle; the spread reaches the farthest.
constexpr Row kRows[] = {
    {"A100-40GB", 40, 39.48, 0.09, kLog, 1.555, 312, 0, 0, 300, 40, 80},
    {"A100-80GB-SXM", 80, 79.25, 0.11, kLog, 2.039, 312, 0, 0, 300, 40, 80},
    {"A100-80GB-PCIe", 80, 79.25, 0.11, kSibling, 1.935, 312, 0, 0, 32, 40, 80},
    {"H100-SXM", 80, 79.19, 0.09, kLog, 3.35, 989, 1979, 0, 450, 50, 90},
    {"H100-PCIe", 80, 79.19, 0.09, kSibling, 2.0, 756, 1513, 0, 64, 50, 90},
    {"H100-NVL", 94, 93.10, 0, kLog, 3.9, 835, 1671, 0, 300, 50, 90},
    {"H800", 80, 79.19, 0.09, kSibling, 3.43, 989, 1979, 0, 200, 50, 90},
    {"H20", 96, 95.0, 0, kLog, 4.0, 148, 296, 0, 450, 60, 90},
    {"H200", 141, 139.80, 0.01, kLog, 4.8, 989, 1979, 0, 450, 50, 90},
    {"B200", 180, 178.35, 0, kLog, 8.0, 2250, 4500, 9000, 900, 126, 100},
    {"B300", 288, 267.69, 0, kLog, 8.0, 2250, 4500, 12600, 900, 126, 103},
    {"GB200", 186, 184.31, 0, kLog, 8.0, 2500, 5000, 10000, 900, 126, 100},
    {"GB300", 288, 276.62, 0, kLog, 8.0, 2500, 5000, 15000, 900, 126, 103},
    {"T4", 16, 14.56, 0, kLog, 0, 0, 0, 0, 0, 0, 75},
    {"L4", 24, 22.05, 0.01, kLog, 0.300, 121, 242, 0, 32, 48, 89},
    {"L40", 48, 44.36, 0.06, kSibling, 0.864, 181, 362, 0, 32, 96, 89},
    {"L40S", 48, 44.36, 0.06, kLog, 0.864, 362, 733, 0, 32, 96, 89},
    {"A10", 24, 22.0, 0.52, kLog, 0.600, 125, 0, 0, 32, 6, 86},
    {"A10G", 24, 22.0, 0.52, kLog, 0.600, 70, 0, 0, 32, 6, 86},
    {"RTX-3090", 24, 23.60, 0.07, kLog, 0.936, 71, 0, 0, 32, 6, 86},
    {"RTX-4090", 24, 23.517, 0, kLog, 1.008, 165, 330, 0, 32, 72, 89},
    {"RTX-5090", 32, 31.36, 0.01, kLog, 1.792, 210, 419, 0, 64, 96, 120},
    {"RTX-PRO-6000", 96, 94.97, 0.04, kLog, 1.792, 468, 936, 1871, 64, 128,
     120},
    {"RTX-A6000", 48, 47.37, 0.01, kLog, 0.77, 155, 0, 0, 32, 6, 86},
    {"RTX-6000-Ada", 48, 47.37, 0.01, kLog, 0.96, 364, 0, 0, 32, 96, 89},
    {"GB10", 128, 119.6, 2.09, kLog, 0.273, 0, 0, 0, 0, 0, 121},
    {"MI210", 64, 63.98, 0, kLog, 1.6, 181, 0, 0, 0, 8, 0},
    {"MI250X", 128, 63.98, 0, kLog, 3.28, 383, 0, 0, 0, 16, 0},
    {"MI300X", 192, 191.98, 0.29, kLog, 5.3, 1307, 2615, 0, 448, 32, 0},
    {"MI325X", 256, 255.98, 0.29, kLog, 6.0, 1307, 2615, 0, 448, 32, 0},
    {"MI350X", 288, 287.98, 0, kSibling, 8.0, 0, 0, 0, 576, 32, 0},
    {"MI355X", 288, 287.98, 0, kLog, 8.0, 2500, 5000, 10100, 576, 32, 0},
    {"R9700", 32, 31.86, 0, kLog, 0, 0, 0, 0, 0, 0, 0},
    {"Gaudi-2", 96, 94.62, 0, kLog, 2.46, 432, 865, 0, 0, 48, 0},
};

// Names that mean a card of the table.
constexpr std::pair<const char*, const char*> kAliases[] = {
    {"A100", "A100-80GB-SXM"},
    {"A100-80GB", "A100-80GB-SXM"},
    {"A100-40", "A100-40GB"},
    {"A100-80", "A100-80GB-SXM"},
    {"A100-SXM", "A100-80GB-SXM"},
    {"A100-SXM4-80GB", "A100-80GB-SXM"},
    {"A100-SXM4-40GB", "A100-40GB"},
    {"A100-PCIe", "A100-80GB-PCIe"},
    {"H100", "H100-SXM"},
    {"H100-80GB", "H100-SXM"},
    {"H100-80GB-HBM3", "H100-SXM"},
    {"H100-SXM5", "H100-SXM"},
    {"H200-SXM", "H200"},
    {"H200-141GB", "H200"},
    {"GeForce-RTX-3090", "RTX-3090"},
    {"3090", "RTX-3090"},
    {"GeForce-RTX-4090", "RTX-4090"},
    {"4090", "RTX-4090"},
    {"GeForce-RTX-5090", "RTX-5090"},
    {"5090", "RTX-5090"},
    {"RTX6000Pro", "RTX-PRO-6000"},
    {"A6000", "RTX-A6000"},
    {"6000-Ada", "RTX-6000-Ada"},
    {"DGX-Spark", "GB10"},
    {"Instinct-MI300X", "MI300X"},
    {"Gaudi2", "Gaudi-2"},
};

std::optional<double> Known(double value, double unit) {
  if (value == kUnknown) return std::nullopt;
  return value * unit;
}

// Log figures have two decimals; whole bytes beyond that mean nothing.
Bytes FromGib(double gib) {
  return Bytes(static_cast<int64_t>(gib * 1073741824.0 + 0.5));
}

Gpu FromRow(const Row& row) {
  Gpu gpu;
  gpu.name = row.name;
  gpu.vendor_gb = row.vendor_gb;
  gpu.engine_total = FromGib(row.engine_gib);
  gpu.engine_spread = FromGib(row.spread_gib);
  gpu.memory_source = row.source;
  gpu.memory_bandwidth = Known(row.tb_per_s, 1e12);
  gpu.bf16_flops = Known(row.bf16_tflops, 1e12);
  gpu.fp8_flops = Known(row.fp8_tflops, 1e12);
  gpu.fp4_flops = Known(row.fp4_tflops, 1e12);
  gpu.link_bandwidth = Known(row.link_gb_per_s, 1e9);
  if (row.l2_mb != kUnknown) {
    gpu.l2 = Bytes(static_cast<int64_t>(row.l2_mb * 1e6));
  }
  gpu.sm = row.sm;
  return gpu;
}

// "NVIDIA H100-SXM" -> "h100sxm".
std::string Plain(absl::string_view name) {
  std::string plain;
  for (char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      plain.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
    }
  }
  absl::string_view view = plain;
  if (!absl::ConsumePrefix(&view, "nvidia")) absl::ConsumePrefix(&view, "amd");
  return std::string(view);
}

// The three names nearest to `plain`, nearest first, then by the table's order.
std::vector<std::string> NearestCards(absl::string_view plain) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const Gpu& gpu : AllGpus()) {
    ranked.emplace_back(EditDistance(plain, Plain(gpu.name)), gpu.name);
  }
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < 3; ++i) names.push_back(ranked[i].second);
  return names;
}

}  // namespace

const std::vector<Gpu>& AllGpus() {
  static const auto* const gpus = [] {
    auto* all = new std::vector<Gpu>;
    for (const Row& row : kRows) all->push_back(FromRow(row));
    return all;
  }();
  return *gpus;
}

absl::StatusOr<Gpu> FindGpu(absl::string_view name) {
  std::string wanted = Plain(name);
  for (const auto& [alias, target] : kAliases) {
    if (wanted != Plain(alias)) continue;
    wanted = Plain(target);
    break;
  }
  for (const Gpu& gpu : AllGpus()) {
    if (Plain(gpu.name) == wanted) return gpu;
  }
  return absl::NotFoundError(
      absl::StrCat("unknown GPU '", name, "'; the nearest names are ",
                   absl::StrJoin(NearestCards(wanted), ", "),
                   "; --gpu-memory takes a size for any other card"));
}

absl::string_view MemorySourceName(MemorySource source) {
  switch (source) {
    case MemorySource::kEngineLog:
      return "engine log";
    case MemorySource::kSiblingLog:
      return "sibling's log";
  }
  return "unknown";
}

}  // namespace kvsim
