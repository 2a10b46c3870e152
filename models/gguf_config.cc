#include "models/gguf_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

using nlohmann::json;

struct Architecture {
  absl::string_view gguf;
  absl::string_view model_type;
};

// Architectures whose model_type has another spelling.
constexpr Architecture kArchitectures[] = {
    {"qwen2moe", "qwen2_moe"},      {"qwen3moe", "qwen3_moe"},
    {"qwen3next", "qwen3_next"},    {"gemma3", "gemma3_text"},
    {"gemma3n", "gemma3n_text"},    {"gemma4", "gemma4_text"},
    {"starcoder", "gpt_bigcode"},   {"command-r", "cohere"},
    {"deepseek2", "deepseek_v3"},   {"glm4moe", "glm4_moe"},
    {"gpt-oss", "gpt_oss"},         {"granitehybrid", "granitemoehybrid"},
    {"falcon-h1", "falcon_h1"},     {"nemotron_h_moe", "nemotron_h"},
    {"lfm2moe", "lfm2_moe"},        {"llama4", "llama4_text"},
    {"minimax-m2", "minimax_m2"},   {"hunyuan-moe", "hunyuan"},
    {"kimi-linear", "kimi_linear"}, {"mimo2", "mimo_v2_flash"},
};

struct KeyName {
  absl::string_view gguf;
  const char* config;
};

// Sizes that only change their name. All are below "ARCHITECTURE.".
constexpr KeyName kSizes[] = {
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"attention.value_length", "v_head_dim"},
    {"attention.key_length_swa", "swa_head_dim"},
    {"attention.value_length_swa", "swa_v_head_dim"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.chunk_size", "attention_chunk_size"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.indexer.key_length", "index_head_dim"},
    {"attention.indexer.head_count", "index_n_heads"},
    {"attention.indexer.top_k", "index_topk"},
    {"attention.shared_kv_layers", "num_kv_shared_layers"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"nextn_predict_layers", "num_nextn_predict_layers"},
    {"full_attention_interval", "full_attention_interval"},
    {"shortconv.l_cache", "conv_L_cache"},
    {"ssm.conv_kernel", "mamba_d_conv"},
    {"ssm.state_size", "mamba_d_state"},
    {"ssm.group_count", "mamba_n_groups"},
    {"vocab_size", "vocab_size"},
};

class ConfigWriter {
 public:
  ConfigWriter(const GgufHeader& header, std::string architecture,
               absl::string_view name)
      : header_(header), prefix_(architecture + "."), name_(name) {
    config_["model_type"] = architecture;
    for (const Architecture& known : kArchitectures) {
      if (known.gguf == architecture) {
        config_["model_type"] = std::string(known.model_type);
      }
    }
    config_["torch_dtype"] = "float16";
    // Counts of KV heads are already what is stored, whatever the family's
    // own flags would make of them.
    config_["new_decoder_architecture"] = true;
  }

  absl::StatusOr<std::string> Write() {
    for (const KeyName& size : kSizes) {
      if (const auto value = Int(size.gguf)) config_[size.config] = *value;
    }
    if (!config_.contains("vocab_size")) {
      const auto tokens = header_.Length("tokenizer.ggml.tokens");
      if (tokens) config_["vocab_size"] = *tokens;
    }
    WriteLayers();
    WriteWidths();
    WriteStates();
    WriteHeads();
    if (!status_.ok()) return status_;
    return config_.dump(-1, ' ', false, json::error_handler_t::replace);
  }

 private:
  std::optional<int64_t> Int(absl::string_view key) const {
    return header_.Int(absl::StrCat(prefix_, key));
  }

  const std::vector<int64_t>* Ints(absl::string_view key) const {
    return header_.Ints(absl::StrCat(prefix_, key));
  }

  void Fail(absl::string_view key, absl::string_view what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(name_, ": key ", prefix_, key, " ", what));
  }

  // block_count counts the prediction layers too.
  void WriteLayers() {
    const auto blocks = Int("block_count");
    if (!blocks) return Fail("block_count", "is missing; accepted: a count");
    const int64_t mtp = Int("nextn_predict_layers").value_or(0);
    if (mtp < 0 || *blocks < 1 || mtp >= *blocks) {
      return Fail("block_count", absl::StrCat("is ", *blocks, " with ", mtp,
                                              " prediction layers"));
    }
    layers_ = *blocks - mtp;
    config_["num_hidden_layers"] = layers_;
  }

  void WriteWidths() {
    if (const auto width = Int("feed_forward_length")) {
      config_["intermediate_size"] = *width;
    } else if (const auto* widths = Ints("feed_forward_length")) {
      if (!widths->empty()) {
        config_["intermediate_size"] =
            *std::max_element(widths->begin(), widths->end());
      }
    }
    const bool latent = config_.contains("kv_lora_rank");
    const auto key =
        Int(latent ? "attention.key_length_mla" : "attention.key_length");
    if (!latent) {
      if (key) config_["head_dim"] = *key;
      return;
    }
    const int64_t rope = Int("rope.dimension_count").value_or(0);
    config_["qk_rope_head_dim"] = rope;
    if (key && *key >= rope) config_["qk_nope_head_dim"] = *key - rope;
    const auto value = Int("attention.value_length_mla");
    if (value) config_["v_head_dim"] = *value;
  }

  // Mamba-2's and delta networks' heads are the rank of the time step.
  void WriteStates() {
    const auto inner = Int("ssm.inner_size");
    const auto heads = Int("ssm.time_step_rank");
    if (!inner || !heads || *heads < 1) return;
    config_["mamba_n_heads"] = *heads;
    config_["mamba_d_head"] = std::max<int64_t>(*inner / *heads, 1);
    config_["linear_num_value_heads"] = *heads;
    config_["linear_value_head_dim"] = std::max<int64_t>(*inner / *heads, 1);
    const auto groups = Int("ssm.group_count");
    const auto state = Int("ssm.state_size");
    const auto kernel = Int("ssm.conv_kernel");
    if (groups) config_["linear_num_key_heads"] = *groups;
    if (state) config_["linear_key_head_dim"] = *state;
    if (kernel) config_["linear_conv_kernel_dim"] = *kernel;
  }

  // Query and KV heads, given once or per layer. Layers without KV heads do
  // not attend; windowed layers may have a count of their own.
  void WriteHeads() {
    WriteQueryHeads();
    const std::vector<int64_t>* windowed =
        Ints("attention.sliding_window_pattern");
    const auto period = Int("attention.sliding_window_pattern");
    if (period) config_["sliding_window_pattern"] = *period;
    const std::vector<int64_t>* kv = Ints("attention.head_count_kv");
    if (kv == nullptr && windowed == nullptr) {
      const auto count = Int("attention.head_count_kv");
      if (count) config_["num_key_value_heads"] = *count;
      return;
    }
    const int64_t same = Int("attention.head_count_kv").value_or(0);
    std::vector<std::string> types;
    bool mixed = false;
    for (int64_t i = 0; i < layers_ && status_.ok(); ++i) {
      const int64_t heads = kv == nullptr ? same : Entry(*kv, i);
      const bool window = windowed != nullptr && Entry(*windowed, i) != 0;
      types.push_back(heads == 0 && kv != nullptr ? TypeWithoutHeads(i)
                      : window                    ? "sliding_attention"
                                                  : "full_attention");
      mixed |= types.back() != "full_attention";
      if (heads > 0) {
        SetOnce(window ? "swa_num_key_value_heads" : "num_key_value_heads",
                heads);
      }
    }
    if (mixed) config_["layer_types"] = types;
  }

  void WriteQueryHeads() {
    if (const auto heads = Int("attention.head_count")) {
      config_["num_attention_heads"] = *heads;
    } else if (const auto* list = Ints("attention.head_count")) {
      int64_t most = 0;
      for (const int64_t heads : *list) most = std::max(most, heads);
      config_["num_attention_heads"] = most;
    }
  }

  // A layer without KV heads keeps a state, or is a feed-forward part.
  std::string TypeWithoutHeads(int64_t layer) const {
    const bool states =
        config_.contains("mamba_d_conv") || config_.contains("conv_L_cache");
    const auto* widths = Ints("feed_forward_length");
    const bool feed_forward =
        widths != nullptr && layer < static_cast<int64_t>(widths->size()) &&
        (*widths)[layer] > 0 && config_["model_type"] == "nemotron_h";
    if (!states || feed_forward) {
      return config_.contains("num_experts") ? "moe" : "mlp";
    }
    return "linear_attention";
  }

  int64_t Entry(const std::vector<int64_t>& list, int64_t layer) {
    if (layer < static_cast<int64_t>(list.size())) return list[layer];
    Fail("attention.head_count_kv",
         absl::StrCat("or sliding_window_pattern has ", list.size(),
                      " entries; accepted: one for each of the ", layers_,
                      " layers"));
    return 0;
  }

  void SetOnce(const char* field, int64_t value) {
    if (!config_.contains(field)) {
      config_[field] = value;
    } else if (config_[field] != value) {
      Fail("attention.head_count_kv",
           absl::StrCat("has ", value,
                        " beside another count; accepted: one count for the "
                        "windowed and one for the other layers"));
    }
  }

  const GgufHeader& header_;
  const std::string prefix_;
  const absl::string_view name_;
  json config_ = json::object();
  int64_t layers_ = 0;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> GgufConfig(const GgufHeader& header,
                                       absl::string_view name) {
  const auto architecture = header.Text("general.architecture");
  if (!architecture) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        ": key general.architecture is missing; accepted: a text such "
        "as \"llama\""));
  }
  return ConfigWriter(header, *architecture, name).Write();
}

}  // namespace kvsim
