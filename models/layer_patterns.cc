#include "models/layer_patterns.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kvsim {
namespace {

using Mix = std::vector<LayerMix>;

struct MixName {
  absl::string_view name;
  LayerMix mix;
};

// The words of layer_types, layers_block_type and block_types.
constexpr MixName kLayerTypes[] = {
    {"full_attention", LayerMix::kFull},
    {"attention", LayerMix::kFull},
    {"deepseek_sparse_attention", LayerMix::kSparse},
    {"qwen_sparse_attention", LayerMix::kSparse},
    {"minimax_m3_sparse", LayerMix::kSparse},
    {"compressed_sparse_attention", LayerMix::kCompressed4},
    {"heavily_compressed_attention", LayerMix::kCompressed128},
    {"sliding_attention", LayerMix::kWindow},
    {"chunked_attention", LayerMix::kChunk},
    {"linear_attention", LayerMix::kLinear},
    {"mamba", LayerMix::kLinear},
    {"conv", LayerMix::kLinear},
    {"recurrent", LayerMix::kLinear},
    {"hybrid", LayerMix::kHybrid},
    {"mlp", LayerMix::kDenseFfn},
    {"moe", LayerMix::kMoeFfn},
};

// The letters of hybrid_override_pattern.
constexpr MixName kLetters[] = {
    {"M", LayerMix::kLinear},
    {"*", LayerMix::kFull},
    {"-", LayerMix::kDenseFfn},
    {"E", LayerMix::kMoeFfn},
};

const LayerMix* FindMix(std::span<const MixName> names,
                        absl::string_view name) {
  for (const MixName& known : names) {
    if (known.name == name) return &known.mix;
  }
  return nullptr;
}

std::string Accepted(std::span<const MixName> names) {
  std::string text;
  for (const MixName& known : names) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", known.name);
  }
  return text;
}

// Words to mixes; an unknown one is an error at `field` that says which.
Mix FromWords(const char* field, const std::vector<std::string>& words,
              std::span<const MixName> names, ConfigFields& fields) {
  Mix mix;
  for (const std::string& word : words) {
    const LayerMix* known = FindMix(names, word);
    if (known == nullptr) {
      fields.Fail(field, absl::StrCat(Accepted(names), "; entry ", mix.size(),
                                      " is \"", word, "\""));
    }
    mix.push_back(known == nullptr ? LayerMix::kFull : *known);
  }
  return mix;
}

// The words of list or string `field`: its letters when it is a string.
std::vector<std::string> Words(const char* field, ConfigFields& fields) {
  if (!fields.IsString({field})) return fields.Strings({field});
  std::vector<std::string> words;
  for (const char letter : fields.StringOr({field}, "")) {
    words.emplace_back(1, letter);
  }
  return words;
}

// Splits the entries of `field` into layers and what describes MTP layers.
LayerPlan Split(const char* field, Mix mix, const LayerCounts& counts,
                ConfigFields& fields) {
  LayerPlan plan;
  if (!CheckListLength(field, mix.size(), counts.layers, counts.mtp, fields)) {
    plan.layers.assign(counts.layers, LayerMix::kFull);
    return plan;
  }
  plan.mtp.assign(mix.begin() + counts.layers, mix.end());
  mix.resize(counts.layers);
  plan.layers = std::move(mix);
  return plan;
}

// A list of integers, one per layer: `other` where `is_other` says so.
template <typename IsOther>
LayerPlan FromInts(const char* field, const std::vector<int64_t>& entries,
                   LayerMix other, IsOther is_other, const LayerCounts& counts,
                   ConfigFields& fields) {
  Mix mix;
  for (const int64_t entry : entries) {
    mix.push_back(is_other(entry) ? other : LayerMix::kFull);
  }
  return Split(field, std::move(mix), counts, fields);
}

bool IsZero(int64_t entry) { return entry == 0; }
bool IsNotZero(int64_t entry) { return entry != 0; }

// Full iff (i + 1) is a multiple of `period`, otherwise `other`.
Mix EveryNth(int64_t layers, int64_t period, LayerMix other) {
  Mix mix(layers, other);
  for (int64_t i = period - 1; i < layers; i += period) {
    mix[i] = LayerMix::kFull;
  }
  return mix;
}

// "LLLG": L windowed, G full, repeated; the last layer is always full.
Mix FromWindowLetters(int64_t layers, ConfigFields& fields) {
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

Mix EveryNthFull(int64_t layers, int64_t period, ConfigFields& fields) {
  if (!fields.Has({"sliding_window"})) return Mix(layers, LayerMix::kFull);
  if (fields.IsString({"sliding_window_pattern"})) {
    return FromWindowLetters(layers, fields);
  }
  return EveryNth(
      layers,
      fields.PositiveOr(
          {"sliding_window_pattern", "global_attn_every_n_layers"}, period),
      LayerMix::kWindow);
}

Mix WindowIfEnabled(int64_t layers, ConfigFields& fields) {
  Mix mix(layers, LayerMix::kFull);
  if (!fields.BoolOr({"use_sliding_window"}, false)) return mix;
  const int64_t first = fields.CountOr({"max_window_layers"}, layers);
  for (int64_t i = first; i < layers; ++i) mix[i] = LayerMix::kWindow;
  return mix;
}

// Two lists of ids that together name every layer once. Ids count from 1, or
// from 0 where one of them is 0: since all layers are named, 0 shows it.
Mix FromKdaLists(int64_t layers, ConfigFields& fields) {
  Mix mix(layers, LayerMix::kFull);
  std::optional<ConfigFields> config = fields.Object("linear_attn_config");
  if (!config) {
    fields.FailMissing("linear_attn_config",
                       "an object with kda_layers and full_attn_layers");
    return mix;
  }
  const std::vector<int64_t> linear = config->Ints({"kda_layers"});
  const std::vector<int64_t> full = config->Ints({"full_attn_layers"});
  const bool zero_based = std::count(linear.begin(), linear.end(), 0) > 0 ||
                          std::count(full.begin(), full.end(), 0) > 0;
  const int64_t base = zero_based ? 0 : 1;
  std::vector<int> named(layers, 0);
  const auto name = [&](const char* list, const std::vector<int64_t>& ids,
                        LayerMix kind) {
    for (const int64_t id : ids) {
      if (id < base || id >= layers + base) {
        return config->Fail(list,
                            absl::StrCat("layer ids from ", base, " to ",
                                         layers + base - 1, "; found ", id));
      }
      ++named[id - base];
      mix[id - base] = kind;
    }
  };
  name("kda_layers", linear, LayerMix::kLinear);
  name("full_attn_layers", full, LayerMix::kFull);
  const auto odd = std::find_if(named.begin(), named.end(),
                                [](int times) { return times != 1; });
  if (odd != named.end()) {
    config->Fail(
        "kda_layers",
        absl::StrCat("kda_layers and full_attn_layers that name every "
                     "layer once; layer ",
                     odd - named.begin() + base, " is named ", *odd, " times"));
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

// Bailing: full in every N-th layer, and in all that do not fill a group.
Mix GroupTail(int64_t layers, int64_t period, ConfigFields& fields) {
  const int64_t group = fields.PositiveOr({"layer_group_size"}, period);
  Mix mix = EveryNth(layers, group, LayerMix::kLinear);
  for (int64_t i = layers / group * group; i < layers; ++i) {
    mix[i] = LayerMix::kFull;
  }
  return mix;
}

Mix PeriodOffset(int64_t layers, int64_t period, ConfigFields& fields) {
  period = fields.PositiveOr({"attn_layer_period"}, period);
  const int64_t offset = fields.CountOr({"attn_layer_offset"}, 4);
  Mix mix(layers, LayerMix::kLinear);
  for (int64_t i = 0; i < layers; ++i) {
    if (i % period == offset) mix[i] = LayerMix::kFull;
  }
  return mix;
}

// The layers with these 0-based ids are `listed`, the others `other`.
Mix FromIds(const char* field, const std::vector<int64_t>& ids, int64_t layers,
            LayerMix listed, LayerMix other, ConfigFields& fields) {
  Mix mix(layers, other);
  for (const int64_t id : ids) {
    if (id >= layers) {
      fields.Fail(field, absl::StrCat("layer ids from 0 to ", layers - 1,
                                      "; found ", id));
      return mix;
    }
    mix[id] = listed;
  }
  return mix;
}

Mix FromIndexList(int64_t layers, ConfigFields& fields) {
  const char* field =
      fields.Has({"full_attn_idxs"}) ? "full_attn_idxs" : "attn_layer_indices";
  if (!fields.Has({field})) {
    fields.FailMissing(field, "a list of layer ids, or layer_types");
  }
  return FromIds(field, fields.Ints({field}), layers, LayerMix::kFull,
                 LayerMix::kLinear, fields);
}

LayerPlan FromLocalIds(LayerCounts& counts, ConfigFields& fields) {
  constexpr const char* kIds = "local_layer_ids";
  LayerPlan plan;
  plan.layers = FromIds(kIds, fields.Ints({kIds}), counts.layers,
                        LayerMix::kWindow, LayerMix::kFull, fields);
  if (counts.mtp_config) {
    plan.mtp = FromIds(kIds, counts.mtp_config->Ints({kIds}), counts.mtp,
                       LayerMix::kWindow, LayerMix::kFull, *counts.mtp_config);
  }
  return plan;
}

// Nemotron-H: a word or a letter per layer, and the same for one MTP step.
LayerPlan FromLayerLetters(const LayerCounts& counts, ConfigFields& fields) {
  const bool words = fields.Has({"layers_block_type"});
  const char* field = words ? "layers_block_type" : "hybrid_override_pattern";
  const char* mtp_field =
      words ? "mtp_layers_block_type" : "mtp_hybrid_override_pattern";
  const std::span<const MixName> names =
      words ? std::span<const MixName>(kLayerTypes)
            : std::span<const MixName>(kLetters);
  if (!fields.Has({field})) {
    fields.FailMissing(field, "a word or letter for each layer");
  }
  LayerPlan plan =
      Split(field, FromWords(field, Words(field, fields), names, fields),
            counts, fields);
  const Mix step =
      FromWords(mtp_field, Words(mtp_field, fields), names, fields);
  if (static_cast<int64_t>(step.size()) > counts.layers) {
    fields.Fail(mtp_field, absl::StrCat("at most ", counts.layers,
                                        " entries, as the model has layers"));
  } else if (!step.empty()) {
    plan.mtp.clear();
    for (int64_t i = 0; i < counts.mtp; ++i) {
      plan.mtp.insert(plan.mtp.end(), step.begin(), step.end());
    }
  }
  return plan;
}

// Nemotron-NAS: a block without attention has a feed-forward part only.
Mix FromBlockConfigs(int64_t layers, ConfigFields& fields) {
  Mix mix(layers, LayerMix::kFull);
  std::vector<ConfigFields> blocks = fields.Objects("block_configs");
  if (!CheckListLength("block_configs", blocks.size(), layers, 0, fields)) {
    return mix;
  }
  for (int64_t i = 0; i < layers; ++i) {
    std::optional<ConfigFields> attention = blocks[i].Object("attention");
    if (!attention) continue;
    if (attention->BoolOr({"no_op"}, false) ||
        attention->BoolOr({"replace_with_linear"}, false)) {
      mix[i] = LayerMix::kDenseFfn;
    } else if (attention->Has({"window_length"})) {
      mix[i] = LayerMix::kWindow;
    }
  }
  return mix;
}

// RecurrentGemma: a short list repeated; its attention is always windowed.
Mix FromBlockTypes(int64_t layers, ConfigFields& fields) {
  const Mix types =
      FromWords("block_types", fields.Strings({"block_types", "_block_types"}),
                kLayerTypes, fields);
  Mix mix(layers, LayerMix::kLinear);
  if (types.empty()) {
    fields.FailMissing("block_types", "a list of recurrent and attention");
    return mix;
  }
  for (int64_t i = 0; i < layers; ++i) {
    if (types[i % types.size()] != LayerMix::kLinear) {
      mix[i] = LayerMix::kWindow;
    }
  }
  return mix;
}

LayerPlan FromSparseBits(const LayerCounts& counts, ConfigFields& fields) {
  std::optional<ConfigFields> config = fields.Object("sparse_attention_config");
  if (!config || !config->BoolOr({"use_sparse_attention"}, true)) {
    return {Mix(counts.layers, LayerMix::kFull), {}};
  }
  return FromInts("sparse_attention_freq",
                  config->Ints({"sparse_attention_freq"}), LayerMix::kSparse,
                  IsNotZero, counts, *config);
}

constexpr ConfigFields::Names kAttnTypes = {"attn_type_list",
                                            "decoder_attention_types"};

LayerPlan FromAttnTypeList(const LayerCounts& counts, ConfigFields& fields) {
  if (!fields.Has(kAttnTypes)) return {Mix(counts.layers, LayerMix::kFull), {}};
  return FromInts("attn_type_list", fields.Ints(kAttnTypes), LayerMix::kLinear,
                  IsZero, counts, fields);
}

// Patterns that are computed, or that never describe MTP layers.
Mix FromRule(const Dialect& dialect, int64_t layers, ConfigFields& fields) {
  const int64_t period = dialect.pattern_period;
  switch (dialect.pattern) {
    case LayerPattern::kLayerTypesOnly:
      fields.FailMissing("layer_types", "a word for each layer");
      return Mix(layers, LayerMix::kFull);
    case LayerPattern::kWindowEverywhere:
      return Mix(layers, fields.Has({"sliding_window"}) ? LayerMix::kWindow
                                                        : LayerMix::kFull);
    case LayerPattern::kWindowIfEnabled:
      return WindowIfEnabled(layers, fields);
    case LayerPattern::kAlternating:
      return EveryNth(layers, 2, LayerMix::kWindow);
    case LayerPattern::kEveryNthFull:
      return EveryNthFull(layers, period, fields);
    case LayerPattern::kIntervalFull:
      return EveryNth(layers,
                      fields.PositiveOr({"full_attention_interval"}, period),
                      LayerMix::kLinear);
    case LayerPattern::kKdaLists:
      return FromKdaLists(layers, fields);
    case LayerPattern::kChunkedRope:
      return ChunkedRope(layers, period, fields);
    case LayerPattern::kLinearEverywhere:
      return Mix(layers, LayerMix::kLinear);
    case LayerPattern::kHybridEverywhere:
      return Mix(layers, LayerMix::kHybrid);
    case LayerPattern::kGroupTail:
      return GroupTail(layers, period, fields);
    case LayerPattern::kPeriodOffset:
      return PeriodOffset(layers, period, fields);
    case LayerPattern::kIndexList:
      return FromIndexList(layers, fields);
    case LayerPattern::kBlockConfigs:
      return FromBlockConfigs(layers, fields);
    case LayerPattern::kBlockTypes:
      return FromBlockTypes(layers, fields);
    default:
      return Mix(layers, LayerMix::kFull);
  }
}

LayerPlan FromPattern(const Dialect& dialect, LayerCounts& counts,
                      ConfigFields& fields) {
  switch (dialect.pattern) {
    case LayerPattern::kHybridBits:
      return FromInts("hybrid_layer_pattern",
                      fields.Ints({"hybrid_layer_pattern"}), LayerMix::kWindow,
                      IsNotZero, counts, fields);
    case LayerPattern::kAttnTypeList:
      return FromAttnTypeList(counts, fields);
    case LayerPattern::kLayerLetters:
      return FromLayerLetters(counts, fields);
    case LayerPattern::kLocalIds:
      return FromLocalIds(counts, fields);
    case LayerPattern::kSparseBits:
      return FromSparseBits(counts, fields);
    default:
      return {FromRule(dialect, counts.layers, fields), {}};
  }
}

bool IsLinear(LayerMix mix) {
  return mix == LayerMix::kLinear || mix == LayerMix::kHybrid;
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

LayerPlan ReadLayerPlan(const Dialect& dialect, LayerCounts& counts,
                        ConfigFields& fields) {
  LayerPlan plan;
  if (fields.Has({"layer_types"})) {
    plan = Split("layer_types",
                 FromWords("layer_types", fields.Strings({"layer_types"}),
                           kLayerTypes, fields),
                 counts, fields);
  } else {
    plan = FromPattern(dialect, counts, fields);
  }
  if (dialect.Has(kLastLayerFull) && !plan.layers.empty()) {
    plan.layers.back() = LayerMix::kFull;
  }
  if (plan.mtp.empty()) plan.mtp.assign(counts.mtp, LayerMix::kFull);
  const bool has_linear =
      std::any_of(plan.layers.begin(), plan.layers.end(), IsLinear) ||
      std::any_of(plan.mtp.begin(), plan.mtp.end(), IsLinear);
  if (has_linear && !dialect.linear) {
    fields.Fail("layer_types",
                absl::StrCat("no linear_attention for model_type ",
                             dialect.model_type));
  }
  return plan;
}

}  // namespace kvsim
