#include "models/layer_patterns.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kvsim {
namespace {

using Mix = std::vector<LayerMix>;

struct LayerTypeName {
  absl::string_view name;
  LayerMix mix;
};

constexpr LayerTypeName kLayerTypes[] = {
    {"full_attention", LayerMix::kFull},
    {"attention", LayerMix::kFull},
    {"deepseek_sparse_attention", LayerMix::kFull},
    {"sliding_attention", LayerMix::kWindow},
    {"chunked_attention", LayerMix::kChunk},
    {"linear_attention", LayerMix::kLinear},
};

std::string AcceptedLayerTypes() {
  std::string text;
  for (const LayerTypeName& type : kLayerTypes) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", type.name);
  }
  return text;
}

Mix FromLayerTypes(int64_t layers, int64_t mtp_layers, ConfigFields& fields) {
  const std::vector<std::string> types = fields.Strings({"layer_types"});
  Mix mix(layers, LayerMix::kFull);
  if (!CheckListLength("layer_types", types.size(), layers, mtp_layers,
                       fields)) {
    return mix;
  }
  for (int64_t i = 0; i < layers; ++i) {
    const auto type = std::find_if(
        std::begin(kLayerTypes), std::end(kLayerTypes),
        [&](const LayerTypeName& known) { return known.name == types[i]; });
    if (type == std::end(kLayerTypes)) {
      fields.Fail("layer_types", absl::StrCat(AcceptedLayerTypes(), "; entry ",
                                              i, " is \"", types[i], "\""));
      return mix;
    }
    mix[i] = type->mix;
  }
  return mix;
}

// Full iff (i + 1) is a multiple of `period`, otherwise `other`.
Mix EveryNth(int64_t layers, int64_t period, LayerMix other) {
  Mix mix(layers, other);
  for (int64_t i = period - 1; i < layers; i += period) {
    mix[i] = LayerMix::kFull;
  }
  return mix;
}

// "LLLG": L windowed, G full, repeated; the last layer is always full.
Mix FromLetters(int64_t layers, ConfigFields& fields) {
  const std::string letters = fields.StringOr({"sliding_window_pattern"}, "");
  Mix mix(layers, LayerMix::kFull);
  if (letters.empty() || letters.find_first_not_of("LG") != std::string::npos) {
    fields.Fail("sliding_window_pattern",
                "a positive integer or a string of L and G");
    return mix;
  }
  for (int64_t i = 0; i + 1 < layers; ++i) {
    if (letters[i % letters.size()] == 'L') mix[i] = LayerMix::kWindow;
  }
  return mix;
}

Mix WindowIfEnabled(int64_t layers, ConfigFields& fields) {
  Mix mix(layers, LayerMix::kFull);
  if (!fields.BoolOr({"use_sliding_window"}, false)) return mix;
  const int64_t first = fields.CountOr({"max_window_layers"}, layers);
  for (int64_t i = first; i < layers; ++i) mix[i] = LayerMix::kWindow;
  return mix;
}

// Two lists of 1-based ids that together name every layer once.
Mix FromKdaLists(int64_t layers, ConfigFields& fields) {
  Mix mix(layers, LayerMix::kFull);
  std::optional<ConfigFields> config = fields.Object("linear_attn_config");
  if (!config) {
    fields.FailMissing("linear_attn_config",
                       "an object with kda_layers and full_attn_layers");
    return mix;
  }
  std::vector<int> named(layers, 0);
  for (const char* list : {"kda_layers", "full_attn_layers"}) {
    for (const int64_t id : config->Ints({list})) {
      if (id < 1 || id > layers) {
        config->Fail(
            list, absl::StrCat("layer ids from 1 to ", layers, "; found ", id));
        return mix;
      }
      ++named[id - 1];
      if (list == absl::string_view("kda_layers")) {
        mix[id - 1] = LayerMix::kLinear;
      }
    }
  }
  const auto odd = std::find_if(named.begin(), named.end(),
                                [](int times) { return times != 1; });
  if (odd != named.end()) {
    config->Fail(
        "kda_layers",
        absl::StrCat("kda_layers and full_attn_layers that name every "
                     "layer once; layer ",
                     odd - named.begin() + 1, " is named ", *odd, " times"));
  }
  return mix;
}

// Llama 4: layers with rotary positions are chunked, the others full. An empty
// list means the interval.
Mix ChunkedRope(int64_t layers, int64_t period, ConfigFields& fields) {
  const std::vector<int64_t> rope = fields.Ints({"no_rope_layers"});
  if (rope.empty()) {
    return EveryNth(layers,
                    fields.PositiveOr({"no_rope_layer_interval"}, period),
                    LayerMix::kChunk);
  }
  Mix mix(layers, LayerMix::kFull);
  if (!CheckListLength("no_rope_layers", rope.size(), layers, 0, fields)) {
    return mix;
  }
  // Despite its name, 1 marks a layer that does use rotary positions.
  for (int64_t i = 0; i < layers; ++i) {
    if (rope[i] != 0) mix[i] = LayerMix::kChunk;
  }
  return mix;
}

Mix HybridBits(int64_t layers, int64_t mtp_layers, ConfigFields& fields) {
  Mix mix(layers, LayerMix::kFull);
  const std::vector<int64_t> bits = fields.Ints({"hybrid_layer_pattern"});
  if (!CheckListLength("hybrid_layer_pattern", bits.size(), layers, mtp_layers,
                       fields)) {
    return mix;
  }
  for (int64_t i = 0; i < layers; ++i) {
    if (bits[i] != 0) mix[i] = LayerMix::kWindow;
  }
  return mix;
}

Mix FromPattern(const Dialect& dialect, int64_t layers, int64_t mtp_layers,
                ConfigFields& fields) {
  switch (dialect.pattern) {
    case LayerPattern::kUniform:
      return Mix(layers, LayerMix::kFull);
    case LayerPattern::kWindowEverywhere:
      return Mix(layers, fields.Has({"sliding_window"}) ? LayerMix::kWindow
                                                        : LayerMix::kFull);
    case LayerPattern::kWindowIfEnabled:
      return WindowIfEnabled(layers, fields);
    case LayerPattern::kAlternating:
      return EveryNth(layers, 2, LayerMix::kWindow);
    case LayerPattern::kEveryNthFull:
      if (!fields.Has({"sliding_window"})) return Mix(layers, LayerMix::kFull);
      if (fields.IsString({"sliding_window_pattern"})) {
        return FromLetters(layers, fields);
      }
      return EveryNth(
          layers,
          fields.PositiveOr({"sliding_window_pattern"}, dialect.pattern_period),
          LayerMix::kWindow);
    case LayerPattern::kIntervalFull:
      return EveryNth(layers,
                      fields.PositiveOr({"full_attention_interval"},
                                        dialect.pattern_period),
                      LayerMix::kLinear);
    case LayerPattern::kKdaLists:
      return FromKdaLists(layers, fields);
    case LayerPattern::kChunkedRope:
      return ChunkedRope(layers, dialect.pattern_period, fields);
    case LayerPattern::kHybridBits:
      return HybridBits(layers, mtp_layers, fields);
  }
  return Mix(layers, LayerMix::kFull);
}

}  // namespace

bool CheckListLength(const char* field, size_t size, int64_t layers,
                     int64_t mtp_layers, ConfigFields& fields) {
  const auto entries = static_cast<int64_t>(size);
  if (entries == layers || entries == layers + mtp_layers) return true;
  fields.Fail(field,
              absl::StrCat(layers, " entries, one for each of the ", layers,
                           " layers of num_hidden_layers",
                           mtp_layers > 0 ? " (MTP layers may follow)" : ""));
  return false;
}

std::vector<LayerMix> ReadLayerMix(const Dialect& dialect, int64_t layers,
                                   int64_t mtp_layers, ConfigFields& fields) {
  std::vector<LayerMix> mix =
      fields.Has({"layer_types"})
          ? FromLayerTypes(layers, mtp_layers, fields)
          : FromPattern(dialect, layers, mtp_layers, fields);
  const bool has_linear =
      std::find(mix.begin(), mix.end(), LayerMix::kLinear) != mix.end();
  if (has_linear && !dialect.linear) {
    fields.Fail("layer_types",
                absl::StrCat("no linear_attention for model_type ",
                             dialect.model_type));
  }
  return mix;
}

}  // namespace kvsim
