#include "models/ffn_reader.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/units.h"

namespace kvsim {
namespace {

FfnSpec ReadDense(const Dialect& dialect, int64_t hidden_size,
                  ConfigFields& fields) {
  FfnSpec dense;
  if (dialect.Has(kNoFfn)) return dense;
  // Llama 4 and MiniMax-M3 keep the dense width under a name of its own.
  dense.intermediate = fields.CountOr(
      {"intermediate_size_mlp", "dense_intermediate_size", "decoder_ffn_dim",
       "ffn_hidden_size", "d_ff", "intermediate_size", "n_inner"},
      dialect.Has(kWideFfn) ? 4 * hidden_size : 0);
  dense.kind = dense.intermediate > 0 ? FfnKind::kDense : FfnKind::kNone;
  // T5's later versions say by a flag that their two matrices became three.
  const bool gated = fields.BoolOr({"is_gated_act"}, false);
  dense.matrices = dialect.Has(kPlainMlp) && !gated ? 2 : 3;
  return dense;
}

// Width of all shared experts together.
int64_t SharedWidth(const Dialect& dialect, int64_t shared_experts,
                    int64_t expert_width, ConfigFields& fields) {
  // LongCat's two dense halves run beside the experts.
  if (dialect.Has(kTwoAttentions)) {
    return 2 * fields.CountOr({"ffn_hidden_size"}, 0);
  }
  if (dialect.Has(kDenseBesideExperts)) {
    return fields.CountOr({"intermediate_size"}, 0);
  }
  const int64_t width = fields.CountOr(
      {"shared_expert_intermediate_size", "shared_intermediate_size",
       "moe_shared_expert_intermediate_size", "share_expert_dim"},
      0);
  return width > 0 ? width : shared_experts * expert_width;
}

// A count that may be given once or, as Hunyuan does, for every layer.
std::vector<int64_t> PerLayer(ConfigFields::Names names, int64_t layers,
                              int64_t absent, ConfigFields& fields) {
  if (!fields.IsList(names)) {
    return std::vector<int64_t>(layers, fields.CountOr(names, absent));
  }
  std::vector<int64_t> counts = fields.Ints(names);
  if (!CheckListLength(*names.begin(), counts.size(), layers, 0, fields)) {
    counts.assign(layers, 0);
  }
  return counts;
}

// The experts of each layer.
std::vector<FfnSpec> ReadExperts(const Dialect& dialect, int64_t layers,
                                 const std::vector<int64_t>& experts,
                                 ConfigFields& fields) {
  const std::vector<int64_t> chosen =
      PerLayer({"num_experts_per_tok", "num_experts_per_token",
                "experts_per_token", "moe_topk", "moe_top_k"},
               layers, 0, fields);
  const std::vector<int64_t> width = PerLayer(
      {"moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size"},
      layers, 0, fields);
  const std::vector<int64_t> shared =
      PerLayer({"n_shared_experts", "num_shared_experts", "num_shared_expert"},
               layers, dialect.Has(kSharedExpert) ? 1 : 0, fields);
  FfnSpec moe;
  moe.kind = FfnKind::kMoe;
  moe.matrices = dialect.Has(kPlainMlp) ? 2 : 3;
  moe.shared_expert_gate = fields.Has({"shared_expert_intermediate_size"});
  moe.routed_hidden =
      fields.CountOr({"routed_expert_hidden_size", "moe_latent_size"}, 0);
  moe.router_bias = moe.expert_bias = dialect.Has(kExpertBias);
  std::vector<FfnSpec> ffn;
  for (int64_t i = 0; i < layers; ++i) {
    moe.experts = experts[i];
    moe.experts_per_token = chosen[i];
    moe.expert_intermediate = width[i];
    moe.shared_intermediate = SharedWidth(dialect, shared[i], width[i], fields);
    ffn.push_back(moe);
  }
  return ffn;
}

// Ids of layers with experts, as a list or as text with commas (Step).
std::vector<int64_t> ReadMoeEnum(ConfigFields& fields) {
  if (!fields.IsString({"moe_layers_enum"})) {
    return fields.Ints({"moe_layers_enum"});
  }
  std::vector<int64_t> ids;
  const std::string text = fields.StringOr({"moe_layers_enum"}, "");
  for (const absl::string_view part :
       absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    int64_t id = 0;
    if (!absl::SimpleAtoi(part, &id) || id < 0) {
      fields.Fail("moe_layers_enum", "layer ids with commas between them");
      return ids;
    }
    ids.push_back(id);
  }
  return ids;
}

// Which layers have experts; every family's way of saying it, in the order in
// which one wins over another.
std::vector<bool> ReadMoeLayers(const Dialect& dialect, int64_t layers,
                                int64_t mtp_layers, ConfigFields& fields) {
  std::vector<bool> moe(layers, true);
  if (fields.Has({"mlp_layer_types"})) {
    const std::vector<std::string> types = fields.Strings({"mlp_layer_types"});
    if (CheckListLength("mlp_layer_types", types.size(), layers, mtp_layers,
                        fields)) {
      for (int64_t i = 0; i < layers; ++i) {
        moe[i] = types[i] == "sparse";
        if (!moe[i] && types[i] != "dense") {
          fields.Fail("mlp_layer_types",
                      absl::StrCat("dense or sparse; entry ", i, " is \"",
                                   types[i], "\""));
        }
      }
    }
    return moe;
  }
  if (fields.IsList({"moe_layer_freq"})) {
    const std::vector<int64_t> bits = fields.Ints({"moe_layer_freq"});
    if (CheckListLength("moe_layer_freq", bits.size(), layers, mtp_layers,
                        fields)) {
      for (int64_t i = 0; i < layers; ++i) moe[i] = bits[i] != 0;
    }
    return moe;
  }
  if (fields.Has({"moe_layers_enum"})) {
    moe.assign(layers, false);
    for (const int64_t id : ReadMoeEnum(fields)) {
      if (id < layers) moe[id] = true;
    }
    return moe;
  }
  if (fields.Has({"expert_layer_period"})) {
    const int64_t every = fields.PositiveOr({"expert_layer_period"}, 2);
    const int64_t offset = fields.CountOr({"expert_layer_offset"}, 1);
    for (int64_t i = 0; i < layers; ++i) moe[i] = i % every == offset;
    return moe;
  }
  const int64_t dense = fields.CountOr(
      {"first_k_dense_replace", "dense_mlp_idx", "moe_layer_num_skipped"},
      dialect.Has(kFirstDense) ? 1 : 0);
  const int64_t period = fields.PositiveOr({"moe_layer_freq"}, 1);
  const int64_t step = fields.PositiveOr(
      {"decoder_sparse_step", "interleave_moe_layer_step"}, 1);
  for (int64_t i = 0; i < layers; ++i) {
    moe[i] = i >= dense && i % period == 0 && (i + 1) % step == 0;
  }
  for (const int64_t layer : fields.Ints({"mlp_only_layers"})) {
    if (layer < layers) moe[layer] = false;
  }
  return moe;
}

// Nemotron-NAS: a factor of the hidden size, rounded up to 256, or a width.
std::vector<FfnSpec> ReadBlockFfn(int64_t layers, int64_t hidden_size,
                                  ConfigFields& fields) {
  constexpr int64_t kMultiple = 256;
  std::vector<FfnSpec> ffn(layers);
  std::vector<ConfigFields> blocks = fields.Objects("block_configs");
  for (int64_t i = 0; i < layers; ++i) {
    if (i >= static_cast<int64_t>(blocks.size())) break;
    std::optional<ConfigFields> block = blocks[i].Object("ffn");
    if (!block || block->BoolOr({"no_op"}, false) ||
        block->BoolOr({"replace_with_linear"}, false)) {
      continue;
    }
    const double factor = block->NumberOr({"ffn_mult"}, 0);
    // Two thirds of it, as in the first gated models; below 2^50.
    const auto scaled =
        static_cast<int64_t>(2.0 * std::min(factor, 1024.0) *
                             static_cast<double>(hidden_size) / 3.0);
    ffn[i].kind = FfnKind::kDense;
    ffn[i].intermediate =
        block->CountOr({"intermediate_size"}, RoundUp(scaled, kMultiple));
  }
  return ffn;
}

// Where a layer is a mixer or a feed-forward part, `mix` says which.
FfnSpec OfMix(LayerMix mix, const FfnSpec& dense, const FfnSpec& moe) {
  if (mix == LayerMix::kDenseFfn) return dense;
  return mix == LayerMix::kMoeFfn ? moe : FfnSpec();
}

}  // namespace

std::vector<FfnSpec> ReadFfn(const Dialect& dialect, const LayerPlan& plan,
                             int64_t hidden_size, ConfigFields& fields) {
  const auto layers = static_cast<int64_t>(plan.layers.size());
  const auto mtp_layers = static_cast<int64_t>(plan.mtp.size());
  if (dialect.pattern == LayerPattern::kBlockConfigs) {
    std::vector<FfnSpec> blocks = ReadBlockFfn(layers, hidden_size, fields);
    blocks.resize(layers + mtp_layers);
    return blocks;
  }
  const FfnSpec dense = ReadDense(dialect, hidden_size, fields);
  const std::vector<int64_t> experts =
      PerLayer({"n_routed_experts", "num_local_experts", "num_experts",
                "moe_num_experts"},
               layers, 0, fields);
  const bool has_experts = std::any_of(experts.begin(), experts.end(),
                                       [](int64_t count) { return count > 0; });
  const std::vector<FfnSpec> moe =
      has_experts ? ReadExperts(dialect, layers, experts, fields)
                  : std::vector<FfnSpec>(layers, dense);
  std::vector<FfnSpec> ffn = moe;
  ffn.resize(layers + mtp_layers, moe.back());
  if (dialect.Has(kSplitLayers)) {
    for (int64_t i = 0; i < layers + mtp_layers; ++i) {
      ffn[i] = OfMix(i < layers ? plan.layers[i] : plan.mtp[i - layers], dense,
                     ffn[i]);
    }
  } else if (has_experts) {
    const std::vector<bool> sparse =
        ReadMoeLayers(dialect, layers, mtp_layers, fields);
    for (int64_t i = 0; i < layers; ++i) {
      if (!sparse[i] || experts[i] == 0) ffn[i] = dense;
    }
  }
  return ffn;
}

}  // namespace kvsim
