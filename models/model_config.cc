#include "models/model_config.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/attention_reader.h"
#include "models/config_fields.h"
#include "models/dialects.h"
#include "models/ffn_reader.h"
#include "models/layer_counts.h"
#include "models/layer_patterns.h"
#include "models/quantization_reader.h"
#include "models/recurrent_reader.h"
#include "models/tower_reader.h"
#include "models/unknown_family.h"

namespace kvsim {
namespace {

using nlohmann::json;

// Where a multimodal config keeps the language model's fields.
constexpr const char* kTextConfigs[] = {"text_config", "llm_config",
                                        "language_config"};

constexpr ConfigFields::Names kHidden = {"hidden_size", "d_model", "n_embd",
                                         "n_embed"};

// A model that also speaks keeps its language model with all the towers of the
// half that thinks.
constexpr const char* kThinker = "thinker_config";

json& ThinkingPart(json& document) {
  const auto thinker = document.find(kThinker);
  return thinker != document.end() && thinker->is_object() ? *thinker
                                                           : document;
}

const char* TextConfigName(const json& document) {
  for (const char* name : kTextConfigs) {
    const auto field = document.find(name);
    if (field != document.end() && field->is_object()) return name;
  }
  return nullptr;
}

// A key goes where the config has it; a new one to the language model.
void Override(const json& patch, json& document) {
  const char* text = TextConfigName(document);
  for (const auto& [key, value] : patch.items()) {
    const bool outer = text == nullptr || document.contains(key);
    json& target = outer ? document : document[text];
    json one = json::object();
    one[key] = value;
    target.merge_patch(one);
  }
}

// The document's two levels, inner first. For a flat config they are the same.
struct Levels {
  ConfigFields inner;
  ConfigFields outer;
};

std::vector<std::string> NamesOfFamily(Levels& levels) {
  std::vector<std::string> names;
  for (ConfigFields* level : {&levels.inner, &levels.outer}) {
    names.push_back(level->StringOr({"model_type"}, ""));
  }
  for (ConfigFields* level : {&levels.inner, &levels.outer}) {
    for (std::string& name : level->Strings({"architectures"})) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

// An encoder exported alone (T5EncoderModel) has no decoder, so no cache.
bool IsEncoderOnly(Levels& levels) {
  for (ConfigFields* level : {&levels.inner, &levels.outer}) {
    for (const std::string& name : level->Strings({"architectures"})) {
      if (absl::EndsWith(name, "EncoderModel")) return true;
    }
  }
  return false;
}

// Reads the parts of a config in order; each step leaves its first error in
// the shared status.
class ConfigReader {
 public:
  ConfigReader(const Dialect& dialect, Levels& levels)
      : dialect_(dialect),
        fields_(levels.inner),
        outer_(levels.outer),
        encoder_only_(dialect.Has(kEncoder) || IsEncoderOnly(levels)) {}

  ModelSpec Read(ConfigFields* quantization_record) {
    ModelSpec spec;
    ReadIdentity(spec);
    ReadSizes(spec);
    if (fields_.status().ok()) ReadLayers(spec);
    if (fields_.status().ok()) ReadQuantizationInto(quantization_record, spec);
    return spec;
  }

 private:
  void ReadIdentity(ModelSpec& spec) {
    spec.model_type = std::string(dialect_.model_type);
    spec.architecture = std::string(dialect_.architecture);
    ConfigFields& level =
        fields_.Has({"dtype", "torch_dtype"}) ? fields_ : outer_;
    const std::string dtype = level.StringOr({"dtype", "torch_dtype"}, "");
    if (const std::optional<DType> known = ParseDType(dtype)) {
      spec.dtype = *known;
    } else if (dtype.empty() && dialect_.Has(kFp32ByDefault)) {
      spec.dtype = DType::kFp32;
    } else if (!dtype.empty()) {
      level.Fail(level.Has({"dtype"}) ? "dtype" : "torch_dtype",
                 "bfloat16, float16 or float32");
    }
    spec.tie_word_embeddings = fields_.BoolOr(
        {"tie_word_embeddings"},
        outer_.BoolOr({"tie_word_embeddings"}, dialect_.Has(kTiedByDefault)));
  }

  // Where heads have a width of their own, only weights need it.
  int64_t HiddenSize(ModelSpec& spec) {
    if (!fields_.Has(kHidden) && fields_.Has({"head_dim"}) &&
        fields_.Has({"num_attention_heads"})) {
      spec.assumed_fields.push_back("hidden_size: heads times head_dim");
      return fields_.RequiredCount({"num_attention_heads"}) *
             fields_.RequiredCount({"head_dim"});
    }
    return fields_.RequiredCount(kHidden);
  }

  void ReadSizes(ModelSpec& spec) {
    spec.hidden_size = HiddenSize(spec);
    spec.vocab_size = fields_.CountOr({"vocab_size"}, 0);
    // model_max_length is what its few users mean (Command-R).
    spec.max_position_embeddings =
        fields_.CountOr({"max_target_positions", "model_max_length",
                         "max_position_embeddings", "max_position_embedding",
                         "max_seq_len", "n_positions", "n_ctx", "seq_length"},
                        0);
    counts_ = ReadLayerCounts(fields_, outer_);
    if (dialect_.Has(kCrossAttention) && !encoder_only_) {
      spec.max_encoder_tokens =
          fields_.RequiredCount({"max_source_positions", "n_positions"});
    }
    if (dialect_.family == AttentionFamily::kCompressed) {
      spec.article.index_key_dtype = DType::kFp4;
    }
  }

  void ReadLayers(ModelSpec& spec) {
    const LayerPlan plan = ReadLayerPlan(dialect_, counts_, fields_);
    const std::vector<FfnSpec> ffn =
        ReadFfn(dialect_, plan, spec.hidden_size, fields_);
    AttentionReader attention(dialect_, counts_.layers, counts_.mtp,
                              spec.hidden_size, plan, fields_);
    const auto read = [&](const std::vector<LayerMix>& mixes, int64_t first,
                          std::vector<LayerSpec>& layers) {
      for (size_t i = 0; i < mixes.size() && fields_.status().ok(); ++i) {
        const int64_t index = first + static_cast<int64_t>(i);
        layers.push_back(ReadLayer(mixes[i], index, ffn[index],
                                   spec.hidden_size, attention));
      }
    };
    read(plan.layers, 0, spec.layers);
    read(plan.mtp, counts_.layers, spec.mtp_layers);
    ShareKv(spec);
    ShareAcrossLayers(spec);
    CountReplacements(spec);
  }

  LayerSpec ReadLayer(LayerMix mix, int64_t index, const FfnSpec& ffn,
                      int64_t hidden_size, AttentionReader& attention) {
    LayerSpec layer;
    layer.ffn = ffn;
    layer.norms = NormsPerLayer();
    if (encoder_only_) {
      layer.attention.push_back(attention.ReadEncoder());
      return layer;
    }
    const bool mixes = mix != LayerMix::kDenseFfn && mix != LayerMix::kMoeFfn;
    if (mixes && mix != LayerMix::kLinear) {
      layer.attention.push_back(attention.Read(mix, index));
      if (dialect_.Has(kTwoAttentions)) {
        layer.attention.push_back(layer.attention[0]);
      }
    }
    if (mix == LayerMix::kLinear || mix == LayerMix::kHybrid) {
      layer.recurrent = ReadRecurrent(dialect_, hidden_size, fields_);
    }
    if (dialect_.Has(kCrossAttention)) layer.cross = attention.ReadCross();
    return layer;
  }

  int64_t NormsPerLayer() const {
    if (dialect_.Has(kFourNorms) || dialect_.Has(kTwoAttentions)) return 4;
    return dialect_.Has(kOneNorm) || dialect_.Has(kSplitLayers) ? 1 : 2;
  }

  // Gemma 3n and 4: the last layers read the KV of the last layer of their
  // kind that has its own.
  void ShareKv(ModelSpec& spec) {
    const int64_t shared = fields_.CountOr({"num_kv_shared_layers"}, 0);
    const int64_t layers = counts_.layers;
    if (shared >= layers && shared > 0) {
      return fields_.Fail("num_kv_shared_layers",
                          absl::StrCat("fewer than the ", layers, " layers"));
    }
    const int64_t first = layers - shared;
    for (int64_t i = first; i < layers && fields_.status().ok(); ++i) {
      for (AttentionSpec& attention : spec.layers[i].attention) {
        int64_t target = first - 1;
        while (target >= 0 &&
               (spec.layers[target].attention.empty() ||
                spec.layers[target].attention[0].kind != attention.kind)) {
          --target;
        }
        if (target < 0) {
          return fields_.Fail(
              "num_kv_shared_layers",
              absl::StrCat("a count that leaves an unshared layer of the kind "
                           "of layer ",
                           i));
        }
        attention.kv_sharing_target = static_cast<int32_t>(target);
      }
    }
  }

  // Hunyuan: within a group of cla_share_factor layers the first one's K and V
  // serve all, where use_cla says so.
  void ShareAcrossLayers(ModelSpec& spec) {
    if (!fields_.BoolOr({"use_cla"}, false)) return;
    const int64_t factor = fields_.PositiveOr({"cla_share_factor"}, 1);
    for (int64_t i = 0; i < counts_.layers && fields_.status().ok(); ++i) {
      for (AttentionSpec& attention : spec.layers[i].attention) {
        if (i % factor != 0) {
          attention.kv_sharing_target = static_cast<int32_t>(i - i % factor);
        }
      }
    }
  }

  // Nemotron-NAS: halves of a block replaced by one square matrix.
  void CountReplacements(ModelSpec& spec) {
    if (dialect_.pattern != LayerPattern::kBlockConfigs) return;
    std::vector<ConfigFields> blocks = fields_.Objects("block_configs");
    for (size_t i = 0; i < blocks.size() && i < spec.layers.size(); ++i) {
      for (const char* half : {"attention", "ffn"}) {
        std::optional<ConfigFields> part = blocks[i].Object(half);
        if (part && part->BoolOr({"replace_with_linear"}, false)) {
          ++spec.layers[i].linear_replacements;
        }
      }
    }
  }

  void ReadQuantizationInto(ConfigFields* record, ModelSpec& spec) {
    bool has_experts = false;
    for (const LayerSpec& layer : spec.layers) {
      has_experts |= layer.ffn.kind == FfnKind::kMoe;
    }
    spec.quantization =
        ReadQuantization(record, fields_, spec.dtype, has_experts);
  }

  const Dialect& dialect_;
  ConfigFields& fields_;
  ConfigFields& outer_;
  const bool encoder_only_;
  LayerCounts counts_;
};

// The record inside the config (either level), or the file beside it.
std::optional<ConfigFields> FindQuantization(
    Levels& levels, std::optional<ConfigFields>& beside) {
  for (ConfigFields* level : {&levels.inner, &levels.outer}) {
    std::optional<ConfigFields> record = level->Object("quantization_config");
    if (record) return record;
  }
  if (beside) return beside->Object("quantization");
  return std::nullopt;
}

}  // namespace

absl::StatusOr<ModelSpec> ReadModelConfig(absl::string_view json_text,
                                          absl::string_view name,
                                          absl::string_view overrides,
                                          absl::string_view quantization_record,
                                          AssumedAttention assume) {
  absl::StatusOr<json> whole = ParseJsonObject(json_text, name);
  if (!whole.ok()) return whole.status();
  json* const document = &ThinkingPart(*whole);
  if (!overrides.empty()) {
    absl::StatusOr<json> patch = ParseJsonObject(overrides, "--hf-overrides");
    if (!patch.ok()) return patch.status();
    Override(*patch, *document);
  }
  absl::StatusOr<json> record = json::object();
  if (!quantization_record.empty()) {
    record = ParseJsonObject(quantization_record,
                             absl::StrCat(name, ": hf_quant_config.json"));
    if (!record.ok()) return record.status();
  }

  absl::Status status;
  const std::string file(name);
  const ConfigFields outer(*document, file, "", status);
  const char* text = TextConfigName(*document);
  Levels levels = {text == nullptr
                       ? outer
                       : ConfigFields((*document)[text], file,
                                      absl::StrCat(text, "."), status),
                   outer};
  std::optional<ConfigFields> beside;
  if (!record->empty()) {
    beside = ConfigFields(*record, file, "hf_quant_config.json: ", status);
  }

  const std::vector<std::string> names = NamesOfFamily(levels);
  if (!status.ok()) return status;
  const Dialect* dialect = FindDialect(names);
  const bool assumed = dialect == nullptr;
  if (assumed) dialect = AssumedDialect(assume);
  if (dialect == nullptr) return UnknownFamilyError(names[0], levels.inner);
  std::optional<ConfigFields> quantization = FindQuantization(levels, beside);
  ModelSpec spec = ConfigReader(*dialect, levels)
                       .Read(quantization ? &*quantization : nullptr);
  spec.name = file;
  spec.tower_weights = CountTowerWeights(*document);
  if (assumed) {
    for (std::string& note : AssumptionNotes(names[0], assume, levels.inner)) {
      spec.assumed_fields.push_back(std::move(note));
    }
  }
  if (!status.ok()) return status;
  status = ValidateModelSpec(spec);
  if (!status.ok()) return status;
  return spec;
}

std::vector<std::string> SupportedModelTypes() {
  std::vector<std::string> types;
  for (const Dialect& dialect : AllDialects()) {
    types.emplace_back(dialect.model_type);
  }
  return types;
}

}  // namespace kvsim
