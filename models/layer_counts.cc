#include "models/layer_counts.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "models/model_spec.h"

namespace kvsim {
namespace {

// A decoder's own count goes first: in an encoder-decoder model the plain
// name counts the encoder.
constexpr ConfigFields::Names kLayers = {"num_decoder_layers", "decoder_layers",
                                         "num_hidden_layers", "n_layer",
                                         "num_layers"};

constexpr ConfigFields::Names kSteps = {
    "num_nextn_predict_layers", "mtp_num_hidden_layers", "_num_mtp_layers"};

int64_t ReadLayers(ConfigFields& fields) {
  if (fields.Has(kLayers)) return fields.RequiredCount(kLayers);
  if (fields.Has({"layers_block_type"})) {
    return static_cast<int64_t>(fields.Strings({"layers_block_type"}).size());
  }
  const std::string letters = fields.StringOr({"hybrid_override_pattern"}, "");
  if (!letters.empty()) return static_cast<int64_t>(letters.size());
  fields.FailMissing("num_hidden_layers", "a positive integer");
  return 1;
}

int64_t ReadMtp(ConfigFields& fields, LayerCounts& counts) {
  if (fields.Has(kSteps)) return fields.CountOr(kSteps, 0);
  if (counts.mtp_config) return counts.mtp_config->CountOr(kSteps, 0);
  if (!fields.BoolOr({"use_mtp"}, true)) return 0;
  const int64_t modules = fields.CountOr({"num_mtp_modules"}, 0);
  const int64_t layers = fields.CountOr({"mtp_transformer_layers"}, 1);
  // Each factor is below 2^24, so the product fits.
  return modules * layers;
}

}  // namespace

LayerCounts ReadLayerCounts(ConfigFields& inner, ConfigFields& outer) {
  LayerCounts counts;
  for (ConfigFields* level : {&inner, &outer}) {
    if (!counts.mtp_config) counts.mtp_config = level->Object("mtp_config");
  }
  counts.layers = ReadLayers(inner);
  counts.mtp = ReadMtp(inner, counts);
  if (counts.layers < 1 || counts.layers > kMaxLayers) {
    inner.Fail("num_hidden_layers", absl::StrCat("1 to ", kMaxLayers));
    counts.layers = 1;
  }
  if (counts.mtp > kMaxLayers) {
    inner.Fail("num_nextn_predict_layers", absl::StrCat("0 to ", kMaxLayers));
    counts.mtp = 0;
  }
  return counts;
}

}  // namespace kvsim
