#include "models/unknown_family.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kvsim {
namespace {

// A field that only some families have, the best known of them, and what the
// field says. More special fields come first; the first one found decides.
struct Signature {
  const char* field;
  absl::string_view family;
  absl::string_view meaning;
  // The assumption that keeps the same rows; kNone: neither does.
  AssumedAttention assume = AssumedAttention::kNone;
};

constexpr AssumedAttention kGqa = AssumedAttention::kGqa;
constexpr AssumedAttention kMla = AssumedAttention::kMla;

constexpr Signature kSignatures[] = {
    {"compress_ratios", "deepseek_v4", "rows that stand for several tokens"},
    {"compress_rates", "deepseek_v4", "rows that stand for several tokens"},
    {"linear_attn_config", "kimi_linear", "KDA states beside full layers"},
    {"linear_num_value_heads", "qwen3_next", "GDN states beside full layers"},
    {"layers_block_type", "nemotron_h", "layers that are one half each"},
    {"hybrid_override_pattern", "nemotron_h", "layers that are one half each"},
    {"attn_layer_period", "jamba", "Mamba states between full layers"},
    {"mamba_d_ssm", "falcon_h1", "a Mamba-2 state beside attention"},
    {"attn_layer_indices", "bamba", "Mamba-2 states between full layers"},
    {"mamba_d_state", "granitemoehybrid", "Mamba-2 states in some layers"},
    {"ssm_state_size", "nemotron_h", "Mamba-2 states in some layers"},
    {"lru_width", "recurrent_gemma", "RG-LRU states between windows"},
    {"conv_L_cache", "lfm2", "short convolutions between full layers"},
    {"state_size", "mamba2", "states instead of attention"},
    {"attn_type_list", "minimax_m1", "lightning states in some layers"},
    {"layer_group_size", "bailing_hybrid", "lightning states in some layers"},
    {"block_configs", "nemotron-nas", "layers that all differ"},
    {"index_head_dim", "deepseek_v32", "latent rows and index keys", kMla},
    {"kv_lora_rank", "deepseek_v3", "one latent row per token", kMla},
    {"sparse_attention_config", "minimax_m3", "K, V and index keys", kGqa},
    {"hybrid_layer_pattern", "mimo_v2_flash", "windows in some layers", kGqa},
    {"local_layer_ids", "inkling_text", "windows in some layers", kGqa},
    {"attention_chunk_size", "llama4_text", "chunks in some layers", kGqa},
    {"sliding_window_pattern", "gemma3_text", "windows in some layers", kGqa},
    {"sliding_window", "mistral", "windows in some layers", kGqa},
    {"multi_query", "gpt_bigcode", "one K and V for all heads", kGqa},
    {"num_key_value_heads", "llama", "K and V per KV head", kGqa},
    {"num_kv_heads", "llama", "K and V per KV head", kGqa},
    {"num_attention_heads", "llama", "K and V per head", kGqa},
    {"n_head", "gpt2", "K and V per head", kGqa},
};

const Signature* Nearest(const ConfigFields& fields) {
  for (const Signature& signature : kSignatures) {
    if (fields.Has({signature.field})) return &signature;
  }
  return nullptr;
}

std::string Advice(const Signature& nearest) {
  if (nearest.assume == AssumedAttention::kNone) {
    return "--assume gqa or mla would leave those out";
  }
  return absl::StrCat("--assume ", Name(nearest.assume), " reads it so",
                      nearest.family == "llama" ? "" : " in every layer");
}

std::string KnownFamilies() {
  std::vector<absl::string_view> types;
  for (const Dialect& dialect : AllDialects()) {
    types.push_back(dialect.model_type);
  }
  return absl::StrJoin(types, ", ");
}

}  // namespace

absl::Status UnknownFamilyError(absl::string_view model_type,
                                const ConfigFields& fields) {
  const Signature* nearest = Nearest(fields);
  const std::string reason =
      nearest == nullptr
          ? std::string("no field tells what its layers store")
          : absl::StrCat("nearest known kind: ", nearest->family,
                         ", because field ", nearest->field, " means ",
                         nearest->meaning, "; ", Advice(*nearest));
  return absl::InvalidArgumentError(absl::StrCat(
      fields.file(), ": field model_type is \"", model_type,
      "\", which no dialect describes; ", reason, "; accepted: ",
      KnownFamilies(), ", or one of their classes in architectures"));
}

const Dialect* AssumedDialect(AssumedAttention assume) {
  static constexpr Dialect kAssumedGqa = {
      "assumed gqa",          "", AttentionFamily::kHeads,
      LayerPattern::kUniform, 0,  std::nullopt};
  static constexpr Dialect kAssumedMla = {
      "assumed mla",          "", AttentionFamily::kMla,
      LayerPattern::kUniform, 0,  std::nullopt};
  switch (assume) {
    case AssumedAttention::kNone:
      return nullptr;
    case AssumedAttention::kGqa:
      return &kAssumedGqa;
    case AssumedAttention::kMla:
      return &kAssumedMla;
  }
  return nullptr;
}

std::vector<std::string> AssumptionNotes(absl::string_view model_type,
                                         AssumedAttention assume,
                                         const ConfigFields& fields) {
  std::vector<std::string> notes = {
      absl::StrCat("attention of every layer: model_type \"", model_type,
                   "\" is unknown and read as --assume ", Name(assume))};
  std::vector<absl::string_view> ignored;
  for (const Signature& signature : kSignatures) {
    if (signature.assume != assume && fields.Has({signature.field})) {
      ignored.push_back(signature.field);
    }
  }
  // K and V heads are written beside latents too; they say nothing there.
  if (assume == AssumedAttention::kMla) ignored.clear();
  if (!ignored.empty()) {
    notes.push_back(absl::StrCat("what these fields say is left out: ",
                                 absl::StrJoin(ignored, ", ")));
  }
  return notes;
}

}  // namespace kvsim
