#include "models/tower_reader.h"

#include <initializer_list>

#include "models/model_spec.h"

namespace kvsim {
namespace {

using nlohmann::json;

// No tower has more layers or a larger width: products stay far from int64.
constexpr int64_t kMostLayers = kMaxLayers;
constexpr int64_t kMostWidth = int64_t{1} << 20;

// The first of `names` that holds a whole number of 1 to `most`; 0 without.
int64_t Positive(const json& tower, std::initializer_list<const char*> names,
                 int64_t most) {
  for (const char* name : names) {
    const auto field = tower.find(name);
    if (field == tower.end() || !field->is_number_unsigned()) continue;
    const auto value = field->get<uint64_t>();
    if (value >= 1 && value <= static_cast<uint64_t>(most)) {
      return static_cast<int64_t>(value);
    }
  }
  return 0;
}

// A gated feed-forward part has three matrices: Pixtral's.
int64_t Matrices(const json& tower) {
  const auto act = tower.find("hidden_act");
  return act != tower.end() && *act == "silu" ? 3 : 2;
}

}  // namespace

int64_t CountTowerWeights(const json& document) {
  const auto tower = document.find("vision_config");
  if (tower == document.end() || !tower->is_object()) return 0;
  const int64_t layers =
      Positive(*tower, {"num_hidden_layers", "depth", "vt_num_hidden_layers"},
               kMostLayers);
  const int64_t hidden =
      Positive(*tower, {"hidden_size", "vt_hidden_size"}, kMostWidth);
  int64_t width = Positive(
      *tower, {"intermediate_size", "vt_intermediate_size"}, kMostWidth);
  if (width == 0) width = 4 * hidden;
  return layers * (4 * hidden * hidden + Matrices(*tower) * hidden * width);
}

}  // namespace kvsim
