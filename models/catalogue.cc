#include "models/catalogue.h"

#include <string>

#include "absl/strings/match.h"
#include "models/model_config.h"

namespace kvsim {
namespace {

// Kimi K3.1 Pro is known through one article only, which counts one index key
// per index head in fp8 and leaves the KDA states out.
constexpr ArticleAssumptions KimiK31Article() {
  ArticleAssumptions article;
  article.index_key_heads = 32;
  article.index_key_dtype = DType::kFp8;
  article.counts_recurrent_state = false;
  return article;
}

constexpr absl::string_view kKimiK31Assumed[] = {
    "kv_lora_rank 512 and qk_rope_head_dim 64: the article's assumption, "
    "DeepSeek's values",
    "linear_attn_config.head_dim 128: the article's assumption",
    "order of the 69 KDA and 24 DSA layers: Kimi K3's, not published",
    "hidden_size, feed-forward, experts, vocab_size, q_lora_rank, gates, "
    "short_conv_kernel_size, quantization: Kimi K3's, not published",
};

constexpr CatalogueEntry kCatalogue[] = {
    {"llama-2-7b",
     "meta-llama/Llama-2-7b-hf config.json",
     R"({
    "model_type": "llama", "torch_dtype": "float16",
    "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 11008,
    "num_attention_heads": 32, "num_key_value_heads": 32,
    "vocab_size": 32000, "max_position_embeddings": 4096,
    "tie_word_embeddings": false})",
     {},
     {}},

    {"mistral-7b",
     "mistralai/Mistral-7B-v0.1 config.json",
     R"({
    "model_type": "mistral", "torch_dtype": "bfloat16",
    "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8,
    "sliding_window": 4096,
    "vocab_size": 32000, "max_position_embeddings": 32768,
    "tie_word_embeddings": false})",
     {},
     {}},

    {"llama-3.1-8b",
     "meta-llama/Llama-3.1-8B config.json",
     R"({
    "model_type": "llama", "torch_dtype": "bfloat16",
    "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "max_position_embeddings": 131072,
    "tie_word_embeddings": false})",
     {},
     {}},

    {"llama-3.1-70b",
     "meta-llama/Llama-3.1-70B config.json",
     R"({
    "model_type": "llama", "torch_dtype": "bfloat16",
    "num_hidden_layers": 80, "hidden_size": 8192, "intermediate_size": 28672,
    "num_attention_heads": 64, "num_key_value_heads": 8,
    "vocab_size": 128256, "max_position_embeddings": 131072,
    "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3-8b",
     "Qwen/Qwen3-8B config.json",
     R"({
    "model_type": "qwen3", "torch_dtype": "bfloat16",
    "num_hidden_layers": 36, "hidden_size": 4096, "intermediate_size": 12288,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "use_sliding_window": false, "max_window_layers": 36,
    "vocab_size": 151936, "max_position_embeddings": 40960,
    "tie_word_embeddings": false})",
     {},
     {}},

    // Layers alternate, even ones windowed; the sinks are weights.
    {"gpt-oss-120b",
     "openai/gpt-oss-120b config.json",
     R"({
    "model_type": "gpt_oss", "torch_dtype": "bfloat16",
    "num_hidden_layers": 36, "hidden_size": 2880, "intermediate_size": 2880,
    "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
    "attention_bias": true, "sliding_window": 128,
    "num_local_experts": 128, "num_experts_per_tok": 4,
    "vocab_size": 201088, "max_position_embeddings": 131072,
    "quantization_config": {"quant_method": "mxfp4"},
    "tie_word_embeddings": false})",
     {},
     {}},

    {"gemma-3-27b",
     "google/gemma-3-27b-it config.json, text part",
     R"({
    "model_type": "gemma3_text", "torch_dtype": "bfloat16",
    "num_hidden_layers": 62, "hidden_size": 5376, "intermediate_size": 21504,
    "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
    "sliding_window": 1024, "sliding_window_pattern": 6,
    "vocab_size": 262144, "max_position_embeddings": 163840})",
     {},
     {}},

    {"deepseek-v3",
     "deepseek-ai/DeepSeek-V3 config.json",
     R"({
    "model_type": "deepseek_v3", "torch_dtype": "bfloat16",
    "num_hidden_layers": 61, "hidden_size": 7168, "intermediate_size": 18432,
    "num_attention_heads": 128, "num_key_value_heads": 128,
    "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "vocab_size": 129280, "max_position_embeddings": 163840,
    "quantization_config": {"quant_method": "fp8"},
    "tie_word_embeddings": false})",
     {},
     {}},

    {"deepseek-v3.2",
     "deepseek-ai/DeepSeek-V3.2-Exp config.json",
     R"({
    "model_type": "deepseek_v32", "torch_dtype": "bfloat16",
    "num_hidden_layers": 61, "hidden_size": 7168, "intermediate_size": 18432,
    "num_attention_heads": 128, "num_key_value_heads": 128,
    "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "vocab_size": 129280, "max_position_embeddings": 163840,
    "quantization_config": {"quant_method": "fp8"},
    "tie_word_embeddings": false})",
     {},
     {}},

    // freq 4 and offset 3 make layers 0, 1, 2, 6, 10, ... 74 full: 21 of 78.
    {"glm-5.2",
     "zai-org/GLM-5.2 config.json",
     R"({
    "model_type": "glm_moe_dsa", "dtype": "bfloat16",
    "num_hidden_layers": 78, "hidden_size": 6144, "intermediate_size": 12288,
    "num_attention_heads": 64, "num_key_value_heads": 64,
    "q_lora_rank": 2048, "kv_lora_rank": 512,
    "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
    "index_head_dim": 128, "index_n_heads": 32, "index_topk": 2048,
    "index_topk_freq": 4, "index_skip_topk_offset": 3,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "vocab_size": 154880, "max_position_embeddings": 1048576,
    "tie_word_embeddings": false})",
     {},
     {}},

    {"kimi-linear-48b",
     "moonshotai/Kimi-Linear-48B-A3B config.json",
     R"({
    "model_type": "kimi_linear", "dtype": "bfloat16",
    "num_hidden_layers": 27, "hidden_size": 2304, "intermediate_size": 9216,
    "num_attention_heads": 32, "num_key_value_heads": 32,
    "q_lora_rank": null, "kv_lora_rank": 512, "mla_use_nope": true,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "linear_attn_config": {
      "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
      "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21,
        22, 23, 25, 26],
      "num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4},
    "num_experts": 256, "num_shared_experts": 1, "num_experts_per_token": 8,
    "moe_intermediate_size": 1024, "first_k_dense_replace": 1,
    "vocab_size": 163840, "tie_word_embeddings": false})",
     {},
     {}},

    {"kimi-k3",
     "moonshotai/Kimi-K3 config.json, text part",
     R"({
    "model_type": "kimi_linear", "dtype": "bfloat16",
    "num_hidden_layers": 93, "hidden_size": 7168, "intermediate_size": 33792,
    "num_attention_heads": 96, "num_key_value_heads": 96,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "mla_use_nope": true,
    "mla_use_output_gate": true,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "linear_attn_config": {
      "full_attn_layers": [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52,
        56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 93],
      "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21,
        22, 23, 25, 26, 27, 29, 30, 31, 33, 34, 35, 37, 38, 39, 41, 42, 43, 45,
        46, 47, 49, 50, 51, 53, 54, 55, 57, 58, 59, 61, 62, 63, 65, 66, 67, 69,
        70, 71, 73, 74, 75, 77, 78, 79, 81, 82, 83, 85, 86, 87, 89, 90, 91],
      "num_heads": 96, "head_dim": 128, "short_conv_kernel_size": 4,
      "use_full_rank_gate": true},
    "num_experts": 896, "num_shared_experts": 2, "num_experts_per_token": 16,
    "moe_intermediate_size": 3072, "routed_expert_hidden_size": 3584,
    "first_k_dense_replace": 1,
    "vocab_size": 163840, "max_position_embeddings": 1048576,
    "quantization_config": {"quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"weights":
        {"num_bits": 4, "type": "float", "group_size": 32}}}},
    "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3-next-80b",
     "Qwen/Qwen3-Next-80B-A3B config.json",
     R"({
    "model_type": "qwen3_next", "torch_dtype": "bfloat16",
    "num_hidden_layers": 48, "hidden_size": 2048, "intermediate_size": 5120,
    "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
    "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
    "linear_num_key_heads": 16, "linear_key_head_dim": 128,
    "linear_num_value_heads": 32, "linear_value_head_dim": 128,
    "num_experts": 512, "num_experts_per_tok": 10,
    "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
    "vocab_size": 151936, "max_position_embeddings": 262144,
    "tie_word_embeddings": false})",
     {},
     {}},

    {"deepseek-v4-pro",
     "deepseek-ai/DeepSeek-V4-Pro config.json",
     R"({
    "model_type": "deepseek_v4", "torch_dtype": "bfloat16",
    "num_hidden_layers": 61, "hidden_size": 7168,
    "num_attention_heads": 128, "num_key_value_heads": 1,
    "head_dim": 512, "qk_rope_head_dim": 64, "sliding_window": 128,
    "q_lora_rank": 1536, "o_lora_rank": 1024, "o_groups": 16,
    "index_head_dim": 128, "index_n_heads": 64, "index_topk": 1024,
    "compress_ratios": [128, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4,
      128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4,
      128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4,
      128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 0],
    "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 6,
    "moe_intermediate_size": 3072, "num_nextn_predict_layers": 1,
    "vocab_size": 129280, "max_position_embeddings": 1048576,
    "expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8"},
    "tie_word_embeddings": false})",
     {},
     {}},

    {"deepseek-v4-flash",
     "deepseek-ai/DeepSeek-V4-Flash config.json",
     R"({
    "model_type": "deepseek_v4", "torch_dtype": "bfloat16",
    "num_hidden_layers": 43, "hidden_size": 4096,
    "num_attention_heads": 64, "num_key_value_heads": 1,
    "head_dim": 512, "qk_rope_head_dim": 64, "sliding_window": 128,
    "q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8,
    "index_head_dim": 128, "index_n_heads": 64, "index_topk": 512,
    "compress_ratios": [0, 0, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128,
      4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128,
      4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 0],
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 6,
    "moe_intermediate_size": 2048, "num_nextn_predict_layers": 1,
    "vocab_size": 129280, "max_position_embeddings": 1048576,
    "expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8"},
    "tie_word_embeddings": false})",
     {},
     {}},

    // 93 layers, 69 KDA + 24 gated DSA, 96 heads, 32 index heads of 128, top-k
    // 2048 and the context are the model page's, as the article quotes it.
    {"kimi-k3.1-pro",
     "the article on Kimi K3.1 Pro's KV cache; no config is public",
     R"({
    "model_type": "kimi_linear", "dtype": "bfloat16",
    "num_hidden_layers": 93, "hidden_size": 7168, "intermediate_size": 33792,
    "num_attention_heads": 96, "num_key_value_heads": 96,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "mla_use_output_gate": true,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "index_head_dim": 128, "index_n_heads": 32, "index_topk": 2048,
    "linear_attn_config": {
      "full_attn_layers": [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52,
        56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 93],
      "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21,
        22, 23, 25, 26, 27, 29, 30, 31, 33, 34, 35, 37, 38, 39, 41, 42, 43, 45,
        46, 47, 49, 50, 51, 53, 54, 55, 57, 58, 59, 61, 62, 63, 65, 66, 67, 69,
        70, 71, 73, 74, 75, 77, 78, 79, 81, 82, 83, 85, 86, 87, 89, 90, 91],
      "num_heads": 96, "head_dim": 128, "short_conv_kernel_size": 4,
      "use_full_rank_gate": true},
    "num_experts": 896, "num_shared_experts": 2, "num_experts_per_token": 16,
    "moe_intermediate_size": 3072, "routed_expert_hidden_size": 3584,
    "first_k_dense_replace": 1,
    "vocab_size": 163840, "max_position_embeddings": 1048576,
    "quantization_config": {"quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"weights":
        {"num_bits": 4, "type": "float", "group_size": 32}}}},
    "tie_word_embeddings": false})",
     KimiK31Article(), kKimiK31Assumed},
};

}  // namespace

std::span<const CatalogueEntry> Catalogue() { return kCatalogue; }

const CatalogueEntry* FindCatalogueEntry(absl::string_view name) {
  for (const CatalogueEntry& entry : kCatalogue) {
    if (absl::EqualsIgnoreCase(entry.name, name)) return &entry;
  }
  return nullptr;
}

absl::StatusOr<ModelSpec> ReadCatalogueEntry(const CatalogueEntry& entry,
                                             absl::string_view overrides) {
  absl::StatusOr<ModelSpec> spec =
      ReadModelConfig(entry.config, entry.name, overrides);
  if (!spec.ok()) return spec.status();
  spec->source = std::string(entry.source);
  if (entry.article) spec->article = *entry.article;
  for (const absl::string_view field : entry.assumed_fields) {
    spec->assumed_fields.emplace_back(field);
  }
  return spec;
}

}  // namespace kvsim
