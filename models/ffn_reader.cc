#include "models/ffn_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "models/layer_patterns.h"

namespace kvsim {
namespace {

FfnSpec ReadDense(const Dialect& dialect, ConfigFields& fields) {
  FfnSpec dense;
  // Llama 4 and MiniMax-M3 keep the dense width under a name of its own.
  dense.intermediate =
      fields.CountOr({"intermediate_size_mlp", "dense_intermediate_size",
                      "decoder_ffn_dim", "intermediate_size", "n_inner"},
                     0);
  dense.kind = dense.intermediate > 0 ? FfnKind::kDense : FfnKind::kNone;
  dense.matrices = dialect.Has(kPlainMlp) ? 2 : 3;
  return dense;
}

int64_t SharedWidth(const Dialect& dialect, int64_t expert_width,
                    ConfigFields& fields) {
  const int64_t width = fields.CountOr(
      {"shared_expert_intermediate_size", "shared_intermediate_size"}, 0);
  if (width > 0) return width;
  const int64_t count =
      fields.CountOr({"n_shared_experts", "num_shared_experts"},
                     dialect.Has(kSharedExpert) ? 1 : 0);
  return count * expert_width;
}

FfnSpec ReadMoe(const Dialect& dialect, int64_t experts, ConfigFields& fields) {
  FfnSpec moe;
  moe.kind = FfnKind::kMoe;
  moe.experts = experts;
  moe.experts_per_token = fields.CountOr(
      {"num_experts_per_tok", "num_experts_per_token", "experts_per_token"}, 0);
  moe.expert_intermediate =
      fields.CountOr({"moe_intermediate_size", "intermediate_size"}, 0);
  moe.shared_intermediate =
      SharedWidth(dialect, moe.expert_intermediate, fields);
  moe.shared_expert_gate = fields.Has({"shared_expert_intermediate_size"});
  moe.routed_hidden = fields.CountOr({"routed_expert_hidden_size"}, 0);
  moe.router_bias = moe.expert_bias = dialect.Has(kExpertBias);
  return moe;
}

// Which layers have experts; every family's way of saying it, in the order in
// which one wins over another.
std::vector<bool> ReadMoeLayers(int64_t layers, int64_t mtp_layers,
                                ConfigFields& fields) {
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
  const int64_t dense = fields.CountOr({"first_k_dense_replace"}, 0);
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

}  // namespace

std::vector<FfnSpec> ReadFfn(const Dialect& dialect, int64_t layers,
                             int64_t mtp_layers, ConfigFields& fields) {
  const FfnSpec dense = ReadDense(dialect, fields);
  const int64_t experts = fields.CountOr(
      {"n_routed_experts", "num_local_experts", "num_experts"}, 0);
  std::vector<FfnSpec> ffn(layers + mtp_layers, dense);
  if (experts == 0) return ffn;
  const FfnSpec moe = ReadMoe(dialect, experts, fields);
  const std::vector<bool> has_experts =
      ReadMoeLayers(layers, mtp_layers, fields);
  for (int64_t i = 0; i < layers + mtp_layers; ++i) {
    if (i >= layers || has_experts[i]) ffn[i] = moe;
  }
  return ffn;
}

}  // namespace kvsim
