// Models with recurrent states: delta networks, Mamba, lightning attention.

#include "models/catalogue_entries.h"

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

constexpr CatalogueEntry kEntries[] = {
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

    {"qwen3.5-9b",
     "Qwen/Qwen3.5-9B config.json, text part",
     R"({
    "model_type": "qwen3_5_text", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4096, "intermediate_size": 12288,
      "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 256,
      "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
      "linear_num_key_heads": 16, "linear_key_head_dim": 128,
      "linear_num_value_heads": 32, "linear_value_head_dim": 128,
      "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": 1,
      "vocab_size": 248320, "max_position_embeddings": 262144,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.5-27b",
     "Qwen/Qwen3.5-27B config.json, text part",
     R"({
    "model_type": "qwen3_5_text", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 5120, "intermediate_size": 17408,
      "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256,
      "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
      "linear_num_key_heads": 16, "linear_key_head_dim": 128,
      "linear_num_value_heads": 48, "linear_value_head_dim": 128,
      "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": 1,
      "vocab_size": 248320, "max_position_embeddings": 262144,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.5-35b-a3b",
     "Qwen/Qwen3.5-35B-A3B config.json, text part",
     R"({
    "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
      "num_hidden_layers": 40, "hidden_size": 2048, "num_attention_heads": 16,
      "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
      "linear_conv_kernel_dim": 4, "linear_num_key_heads": 16,
      "linear_key_head_dim": 128, "linear_num_value_heads": 32,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
      "num_experts": 256, "num_experts_per_tok": 8,
      "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
      "mtp_num_hidden_layers": 1, "vocab_size": 248320,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.5-122b-a10b",
     "Qwen/Qwen3.5-122B-A10B config.json, text part",
     R"({
    "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
      "num_hidden_layers": 48, "hidden_size": 3072, "num_attention_heads": 32,
      "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
      "linear_conv_kernel_dim": 4, "linear_num_key_heads": 16,
      "linear_key_head_dim": 128, "linear_num_value_heads": 64,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
      "num_experts": 256, "num_experts_per_tok": 8,
      "moe_intermediate_size": 1024, "shared_expert_intermediate_size": 1024,
      "mtp_num_hidden_layers": 1, "vocab_size": 248320,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.5-397b-a17b",
     "Qwen/Qwen3.5-397B-A17B config.json, text part",
     R"({
    "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
      "num_hidden_layers": 60, "hidden_size": 4096, "num_attention_heads": 32,
      "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
      "linear_conv_kernel_dim": 4, "linear_num_key_heads": 16,
      "linear_key_head_dim": 128, "linear_num_value_heads": 64,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
      "num_experts": 512, "num_experts_per_tok": 10,
      "moe_intermediate_size": 1024, "shared_expert_intermediate_size": 1024,
      "mtp_num_hidden_layers": 1, "vocab_size": 248320,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.6-27b",
     "Qwen/Qwen3.6-27B config.json, text part",
     R"({
    "model_type": "qwen3_5_text", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 5120, "intermediate_size": 17408,
      "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256,
      "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
      "linear_num_key_heads": 16, "linear_key_head_dim": 128,
      "linear_num_value_heads": 48, "linear_value_head_dim": 128,
      "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": 1,
      "vocab_size": 248320, "max_position_embeddings": 262144,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.6-35b-a3b",
     "Qwen/Qwen3.6-35B-A3B config.json, text part",
     R"({
    "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
      "num_hidden_layers": 40, "hidden_size": 2048, "num_attention_heads": 16,
      "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
      "linear_conv_kernel_dim": 4, "linear_num_key_heads": 16,
      "linear_key_head_dim": 128, "linear_num_value_heads": 32,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
      "num_experts": 256, "num_experts_per_tok": 8,
      "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
      "mtp_num_hidden_layers": 1, "vocab_size": 248320,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.8-2.4t-a95b",
     "Qwen/Qwen3.8-2.4T-A95B config.json",
     R"({
    "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
      "num_hidden_layers": 92, "hidden_size": 8192, "num_attention_heads": 64,
      "num_key_value_heads": 4, "head_dim": 256, "full_attention_interval": 4,
      "linear_conv_kernel_dim": 4, "linear_num_key_heads": 16,
      "linear_key_head_dim": 128, "linear_num_value_heads": 128,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
      "num_experts": 512, "num_experts_per_tok": 10,
      "moe_intermediate_size": 2048, "shared_expert_intermediate_size": 2048,
      "mtp_num_hidden_layers": 1, "vocab_size": 248320,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3.8-flash-next",
     "Qwen/Qwen3.8-Flash-Next, defaults of a port's configuration class",
     R"({
    "model_type": "qwen4_exp_text", "num_hidden_layers": 48,
      "hidden_size": 2560, "num_attention_heads": 24, "num_key_value_heads": 2,
      "head_dim": 256, "full_attention_interval": 4,
      "linear_conv_kernel_dim": 4, "linear_num_key_heads": 16,
      "linear_key_head_dim": 128, "linear_num_value_heads": 48,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
      "num_experts": 512, "num_experts_per_tok": 10,
      "moe_intermediate_size": 640, "shared_expert_intermediate_size": 640,
      "vocab_size": 248320, "max_position_embeddings": 262144,
      "indexer_n_heads": 4, "indexer_head_dim": 128, "indexer_budget": 2048,
      "indexer_compress_ratio": 4})",
     {},
     {}},

    {"glm-5.3-flash",
     "zai-org/GLM-5.3-Flash, published schedule and configuration class",
     R"({
    "model_type": "glm5_next_text", "dtype": "bfloat16",
      "num_hidden_layers": 45, "hidden_size": 4096, "intermediate_size": 12288,
      "num_attention_heads": 64, "num_key_value_heads": 64,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "mla_use_nope": true,
      "qk_nope_head_dim": 256, "qk_rope_head_dim": 0, "v_head_dim": 256,
      "index_head_dim": 128, "index_topk": 2048, "index_kpool": 4,
      "n_routed_experts": 288, "num_experts_per_tok": 8,
      "moe_intermediate_size": 2048, "n_shared_experts": 1,
      "first_k_dense_replace": 3, "num_nextn_predict_layers": 1,
      "vocab_size": 154880, "max_position_embeddings": 1048576,
      "quantization_config": {"quant_method": "fp8"},
      "tie_word_embeddings": false,
      "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 28, 32,
      36, 40, 44], "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17,
      18, 19, 21, 22, 23, 25, 26, 27, 29, 30, 31, 33, 34, 35, 37, 38, 39, 41,
      42, 43, 45], "num_heads": 64, "head_dim": 128,
      "short_conv_kernel_size": 4}})",
     {},
     {}},

    {"minimax-m1",
     "MiniMaxAI/MiniMax-M1-80k config.json",
     R"({
    "model_type": "minimax_m1", "num_hidden_layers": 80, "hidden_size": 6144,
      "intermediate_size": 9216, "num_attention_heads": 64,
      "num_key_value_heads": 8, "head_dim": 128, "attn_type_list": [0, 0, 0, 0,
      0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
      0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
      0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
      0, 0, 0, 1], "num_local_experts": 32, "num_experts_per_tok": 2,
      "vocab_size": 200064, "max_position_embeddings": 10240000,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"minimax-text-01",
     "MiniMaxAI/MiniMax-Text-01, published sizes and MiniMax-M1's",
     R"({
    "model_type": "minimax_text_01", "dtype": "bfloat16",
      "num_hidden_layers": 80, "hidden_size": 6144, "intermediate_size": 9216,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
      0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
      0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
      0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], "num_local_experts": 32,
      "num_experts_per_tok": 2, "vocab_size": 200064,
      "max_position_embeddings": 10240000, "tie_word_embeddings": false})",
     {},
     {}},

    {"ring-mini-linear-2.0",
     "inclusionAI/Ring-mini-linear-2.0 config.json",
     R"({
    "model_type": "bailing_moe_linear", "num_hidden_layers": 20,
      "hidden_size": 2048, "intermediate_size": 5120,
      "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128,
      "layer_group_size": 5, "num_experts": 256, "num_experts_per_tok": 8,
      "moe_intermediate_size": 512, "num_shared_experts": 1,
      "moe_shared_expert_intermediate_size": 512, "first_k_dense_replace": 1,
      "max_position_embeddings": 131072, "vocab_size": 157184})",
     {},
     {}},

    {"jamba-1.5-mini",
     "ai21labs/AI21-Jamba-1.5-Mini config.json",
     R"({
    "model_type": "jamba", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_key_value_heads": 8,
      "attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2,
      "expert_layer_offset": 1, "mamba_d_state": 16, "mamba_d_conv": 4,
      "mamba_expand": 2, "num_experts": 16, "num_experts_per_tok": 2,
      "vocab_size": 65536, "max_position_embeddings": 262144,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"jamba-1.5-large",
     "ai21labs/AI21-Jamba-1.5-Large config.json",
     R"({
    "model_type": "jamba", "dtype": "bfloat16", "num_hidden_layers": 72,
      "hidden_size": 8192, "intermediate_size": 24576,
      "num_attention_heads": 64, "num_key_value_heads": 8,
      "attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2,
      "expert_layer_offset": 1, "mamba_d_state": 16, "mamba_d_conv": 4,
      "mamba_expand": 2, "num_experts": 16, "num_experts_per_tok": 2,
      "vocab_size": 65536, "max_position_embeddings": 262144,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"bamba-9b-v2",
     "ibm-ai-platform/Bamba-9B-v2, published sizes",
     R"({
    "model_type": "bamba", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_key_value_heads": 8,
      "attn_layer_indices": [9, 18, 27], "mamba_d_state": 128,
      "mamba_d_conv": 4, "mamba_expand": 2, "mamba_n_heads": 128,
      "mamba_d_head": 64, "mamba_n_groups": 1, "vocab_size": 128256,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"granite-4.0-h-small",
     "ibm-granite/granite-4.0-h-small, published sizes; order of layers as in "
     "h-1b",
     R"({
    "model_type": "granitemoehybrid", "dtype": "bfloat16",
      "num_hidden_layers": 40, "hidden_size": 4096, "intermediate_size": 768,
      "num_attention_heads": 32, "num_key_value_heads": 8,
      "mamba_d_state": 128, "mamba_d_conv": 4, "mamba_expand": 2,
      "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 1,
      "num_local_experts": 72, "num_experts_per_tok": 10,
      "shared_intermediate_size": 1536, "vocab_size": 100352,
      "max_position_embeddings": 131072, "tie_word_embeddings": true,
      "attn_layer_indices": [5, 15, 25, 35]})",
     {},
     {}},

    {"nemotron-3-nano",
     "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 config.json",
     R"({
    "model_type": "nemotron_h", "dtype": "bfloat16", "num_hidden_layers": 52,
      "hidden_size": 2688, "intermediate_size": 1856,
      "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
      "mamba_ssm_cache_dtype": "float32", "ssm_state_size": 128,
      "mamba_num_heads": 64, "mamba_head_dim": 64, "n_groups": 8,
      "conv_kernel": 4, "expand": 2,
      "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*E)"
     R"(MEMEMEME",
      "n_routed_experts": 128, "num_experts_per_tok": 6,
      "moe_intermediate_size": 1856, "n_shared_experts": 1,
      "moe_shared_expert_intermediate_size": 3712, "vocab_size": 131072,
      "max_position_embeddings": 262144, "tie_word_embeddings": false})",
     {},
     {}},

    {"nemotron-3-super",
     "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B config.json",
     R"({
    "model_type": "nemotron_h", "dtype": "bfloat16", "num_hidden_layers": 88,
      "hidden_size": 4096, "intermediate_size": 2688,
      "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
      "mamba_ssm_cache_dtype": "float32", "ssm_state_size": 128,
      "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8,
      "conv_kernel": 4, "expand": 2,
      "hybrid_override_pattern": "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEME)"
     R"(MEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",
      "mtp_hybrid_override_pattern": "*E", "n_routed_experts": 512,
      "num_experts_per_tok": 22, "moe_intermediate_size": 2688,
      "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 5376,
      "moe_latent_size": 1024, "num_nextn_predict_layers": 1,
      "vocab_size": 131072, "max_position_embeddings": 262144,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"nemotron-3-ultra",
     "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16 config.json",
     R"({
    "model_type": "nemotron_h", "dtype": "bfloat16", "hidden_size": 8192,
      "intermediate_size": 5120, "num_attention_heads": 64,
      "num_key_value_heads": 2, "head_dim": 128,
      "mamba_ssm_cache_dtype": "float32", "ssm_state_size": 128,
      "mamba_num_heads": 256, "mamba_head_dim": 64, "n_groups": 8,
      "conv_kernel": 4, "expand": 2, "n_routed_experts": 512,
      "num_experts_per_tok": 22, "moe_intermediate_size": 5120,
      "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 10240,
      "moe_latent_size": 2048, "num_nextn_predict_layers": 1,
      "vocab_size": 131072, "max_position_embeddings": 262144,
      "tie_word_embeddings": false,
      "hybrid_override_pattern": "MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEM)"
     R"(EMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*E)"
     R"(MEMEMEME",
      "mtp_hybrid_override_pattern": "*E"})",
     {},
     {}},

    {"nemotron-h-56b",
     "nvidia/Nemotron-H-56B-Base-8K config.json",
     R"({
    "model_type": "nemotron_h", "dtype": "bfloat16", "num_hidden_layers": 118,
      "hidden_size": 8192, "intermediate_size": 32768,
      "num_attention_heads": 64, "num_key_value_heads": 8,
      "attention_head_dim": 128, "ssm_state_size": 256, "mamba_num_heads": 256,
      "mamba_head_dim": 64, "n_groups": 8, "conv_kernel": 4, "expand": 2,
      "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-)"
     R"(M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M)"
     R"(-M-M-M*-M-M-M-M-M-",
      "vocab_size": 131072, "max_position_embeddings": 8192,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"nemotron-nano-9b-v2",
     "nvidia/NVIDIA-Nemotron-Nano-9B-v2 config.json",
     R"({
    "model_type": "nemotron_h", "num_hidden_layers": 56, "hidden_size": 4480,
      "intermediate_size": 15680, "num_attention_heads": 40,
      "num_key_value_heads": 8, "head_dim": 128, "ssm_state_size": 128,
      "mamba_num_heads": 128, "mamba_head_dim": 80, "n_groups": 8,
      "conv_kernel": 4, "expand": 2,
      "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-M)"
     R"(M-M-M-M-M-M-",
      "vocab_size": 131072, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"mamba-codestral-7b",
     "mistralai/Mamba-Codestral-7B-v0.1, defaults of its configuration class",
     R"({
    "model_type": "mamba2", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 4096, "n_groups": 8, "conv_kernel": 4, "state_size": 128,
      "expand": 2, "vocab_size": 32768, "tie_word_embeddings": false,
      "num_heads": 128, "head_dim": 64})",
     {},
     {}},
};

}  // namespace

std::span<const CatalogueEntry> HybridEntries() { return kEntries; }

}  // namespace kvsim
