// Models whose layers all keep K and V of heads, with dense feed-forward
// parts: MHA, GQA, MQA, windows and chunks.

#include "models/catalogue_entries.h"

namespace kvsim {
namespace {

constexpr CatalogueEntry kEntries[] = {
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

    {"llama-2-70b",
     "meta-llama/Llama-2-70b-hf config.json",
     R"({
    "model_type": "llama", "dtype": "float16", "num_hidden_layers": 80,
      "hidden_size": 8192, "intermediate_size": 28672,
      "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 32000,
      "max_position_embeddings": 4096, "tie_word_embeddings": false})",
     {},
     {}},

    {"codellama-34b",
     "codellama/CodeLlama-34b-Instruct-hf config.json",
     R"({
    "model_type": "llama", "dtype": "bfloat16", "num_hidden_layers": 48,
      "hidden_size": 8192, "intermediate_size": 22016,
      "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 32000,
      "max_position_embeddings": 16384, "tie_word_embeddings": false})",
     {},
     {}},

    {"llama-3.3-70b",
     "meta-llama/Llama-3.3-70B-Instruct config.json",
     R"({
    "model_type": "llama", "dtype": "bfloat16", "num_hidden_layers": 80,
      "hidden_size": 8192, "intermediate_size": 28672,
      "num_attention_heads": 64, "num_key_value_heads": 8,
      "vocab_size": 128256, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"llama-3.1-405b",
     "meta-llama/Llama-3.1-405B config.json",
     R"({
    "model_type": "llama", "dtype": "bfloat16", "num_hidden_layers": 126,
      "hidden_size": 16384, "intermediate_size": 53248,
      "num_attention_heads": 128, "num_key_value_heads": 8,
      "vocab_size": 128256, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"yi-34b",
     "01-ai/Yi-34B config.json",
     R"({
    "model_type": "llama", "dtype": "bfloat16", "num_hidden_layers": 60,
      "hidden_size": 7168, "intermediate_size": 20480,
      "num_attention_heads": 56, "num_key_value_heads": 8, "vocab_size": 64000,
      "max_position_embeddings": 4096, "tie_word_embeddings": false})",
     {},
     {}},

    {"mistral-7b-v0.3",
     "mistralai/Mistral-7B-v0.3 config.json",
     R"({
    "model_type": "mistral", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32768,
      "max_position_embeddings": 32768, "tie_word_embeddings": false})",
     {},
     {}},

    {"mistral-nemo-12b",
     "mistralai/Mistral-Nemo-Instruct-2407 config.json",
     R"({
    "model_type": "mistral", "dtype": "bfloat16", "num_hidden_layers": 40,
      "hidden_size": 5120, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 131072, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen2.5-1.5b",
     "Qwen/Qwen2.5-1.5B config.json",
     R"({
    "model_type": "qwen2", "dtype": "bfloat16", "num_hidden_layers": 28,
      "hidden_size": 1536, "intermediate_size": 8960,
      "num_attention_heads": 12, "num_key_value_heads": 2,
      "vocab_size": 151936, "max_position_embeddings": 131072,
      "tie_word_embeddings": true})",
     {},
     {}},

    {"qwen2.5-7b",
     "Qwen/Qwen2.5-7B config.json",
     R"({
    "model_type": "qwen2", "dtype": "bfloat16", "num_hidden_layers": 28,
      "hidden_size": 3584, "intermediate_size": 18944,
      "num_attention_heads": 28, "num_key_value_heads": 4,
      "vocab_size": 152064, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen2.5-14b",
     "Qwen/Qwen2.5-14B config.json",
     R"({
    "model_type": "qwen2", "dtype": "bfloat16", "num_hidden_layers": 48,
      "hidden_size": 5120, "intermediate_size": 13824,
      "num_attention_heads": 40, "num_key_value_heads": 8,
      "attention_bias": true, "vocab_size": 152064,
      "max_position_embeddings": 32768, "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen2.5-32b",
     "Qwen/Qwen2.5-32B config.json",
     R"({
    "model_type": "qwen2", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 5120, "intermediate_size": 27648,
      "num_attention_heads": 40, "num_key_value_heads": 8,
      "vocab_size": 152064, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen2.5-72b",
     "Qwen/Qwen2.5-72B config.json",
     R"({
    "model_type": "qwen2", "dtype": "bfloat16", "num_hidden_layers": 80,
      "hidden_size": 8192, "intermediate_size": 29568,
      "num_attention_heads": 64, "num_key_value_heads": 8,
      "vocab_size": 152064, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3-0.6b",
     "Qwen/Qwen3-0.6B config.json",
     R"({
    "model_type": "qwen3", "dtype": "bfloat16", "num_hidden_layers": 28,
      "hidden_size": 1024, "intermediate_size": 3072,
      "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": true})",
     {},
     {}},

    {"qwen3-1.7b",
     "Qwen/Qwen3-1.7B config.json",
     R"({
    "model_type": "qwen3", "dtype": "bfloat16", "num_hidden_layers": 28,
      "hidden_size": 2048, "intermediate_size": 6144,
      "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": true})",
     {},
     {}},

    {"qwen3-4b",
     "Qwen/Qwen3-4B config.json",
     R"({
    "model_type": "qwen3", "dtype": "bfloat16", "num_hidden_layers": 36,
      "hidden_size": 2560, "intermediate_size": 9728,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": true})",
     {},
     {}},

    {"qwen3-14b",
     "Qwen/Qwen3-14B config.json",
     R"({
    "model_type": "qwen3", "dtype": "bfloat16", "num_hidden_layers": 40,
      "hidden_size": 5120, "intermediate_size": 17408,
      "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"qwen3-32b",
     "Qwen/Qwen3-32B config.json",
     R"({
    "model_type": "qwen3", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 5120, "intermediate_size": 25600,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"seed-oss-36b",
     "ByteDance-Seed/Seed-OSS-36B-Instruct, published sizes",
     R"({
    "model_type": "seed_oss", "num_hidden_layers": 64, "hidden_size": 5120,
      "intermediate_size": 27648, "num_attention_heads": 80,
      "num_key_value_heads": 8, "head_dim": 128, "attention_bias": true,
      "vocab_size": 155136, "max_position_embeddings": 524288,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"phi-3-mini-4k",
     "microsoft/Phi-3-mini-4k-instruct config.json",
     R"({
    "model_type": "phi3", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 3072, "intermediate_size": 8192,
      "num_attention_heads": 32, "num_key_value_heads": 32,
      "sliding_window": 2047, "vocab_size": 32064,
      "max_position_embeddings": 4096, "tie_word_embeddings": false})",
     {},
     {}},

    {"phi-4",
     "microsoft/phi-4 config.json",
     R"({
    "model_type": "phi3", "dtype": "bfloat16", "num_hidden_layers": 40,
      "hidden_size": 5120, "intermediate_size": 17920,
      "num_attention_heads": 40, "num_key_value_heads": 10,
      "vocab_size": 100352, "max_position_embeddings": 16384,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"phi-4-mini",
     "microsoft/Phi-4-mini-instruct config.json",
     R"({
    "model_type": "phi3", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 3072, "intermediate_size": 8192,
      "num_attention_heads": 24, "num_key_value_heads": 8,
      "sliding_window": 262144, "vocab_size": 200064,
      "max_position_embeddings": 131072, "tie_word_embeddings": true})",
     {},
     {}},

    {"gemma-2-27b",
     "google/gemma-2-27b config.json",
     R"({
    "model_type": "gemma2", "dtype": "bfloat16", "num_hidden_layers": 46,
      "hidden_size": 4608, "intermediate_size": 36864,
      "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
      "sliding_window": 4096, "vocab_size": 256000,
      "max_position_embeddings": 8192})",
     {},
     {}},

    {"gemma-3-1b",
     "google/gemma-3-1b-it config.json",
     R"({
    "model_type": "gemma3_text", "dtype": "bfloat16", "num_hidden_layers": 26,
      "hidden_size": 1152, "intermediate_size": 6912, "num_attention_heads": 4,
      "num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512,
      "sliding_window_pattern": 6, "vocab_size": 262144,
      "max_position_embeddings": 32768})",
     {},
     {}},

    {"gemma-4-31b",
     "google/gemma-4-31B-it config.json, text part",
     R"({
    "model_type": "gemma4_text", "dtype": "bfloat16", "num_hidden_layers": 60,
      "hidden_size": 5376, "intermediate_size": 21504,
      "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 256,
      "sliding_window": 1024, "global_head_dim": 512,
      "num_global_key_value_heads": 4, "attention_k_eq_v": true,
      "num_kv_shared_layers": 0, "vocab_size": 262144,
      "max_position_embeddings": 262144, "tie_word_embeddings": true})",
     {},
     {}},

    {"olmo-3-7b",
     "allenai/Olmo-3-1025-7B config.json",
     R"({
    "model_type": "olmo3", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4096, "intermediate_size": 11008,
      "num_attention_heads": 32, "num_key_value_heads": 32,
      "sliding_window": 4096, "vocab_size": 100278,
      "tie_word_embeddings": false, "max_position_embeddings": 65536})",
     {},
     {}},

    {"olmo-3.1-32b",
     "allenai/Olmo-3.1-32B-Instruct config.json",
     R"({
    "model_type": "olmo3", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 5120, "intermediate_size": 27648,
      "num_attention_heads": 40, "num_key_value_heads": 8,
      "sliding_window": 4096, "vocab_size": 100278,
      "max_position_embeddings": 65536, "tie_word_embeddings": false})",
     {},
     {}},

    {"exaone-4.0-32b",
     "LGAI-EXAONE/EXAONE-4.0-32B config.json",
     R"({
    "model_type": "exaone4", "dtype": "bfloat16", "num_hidden_layers": 64,
      "hidden_size": 5120, "intermediate_size": 27392,
      "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "sliding_window": 4096, "sliding_window_pattern": "LLLG",
      "vocab_size": 102400, "max_position_embeddings": 131072,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"command-a",
     "CohereLabs/c4ai-command-a-03-2025, published sizes",
     R"({
    "model_type": "cohere2", "num_hidden_layers": 64, "hidden_size": 12288,
      "intermediate_size": 36864, "num_attention_heads": 96,
      "num_key_value_heads": 8, "head_dim": 128, "sliding_window": 4096,
      "sliding_window_pattern": 4, "vocab_size": 256000,
      "max_position_embeddings": 131072, "tie_word_embeddings": true})",
     {},
     {}},

    {"mimo-7b",
     "XiaomiMiMo/MiMo-7B-Base config.json",
     R"({
    "model_type": "mimo", "dtype": "bfloat16", "num_hidden_layers": 36,
      "hidden_size": 4096, "intermediate_size": 11008,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "attention_bias": true, "num_nextn_predict_layers": 1,
      "vocab_size": 151680, "max_position_embeddings": 32768,
      "tie_word_embeddings": false})",
     {},
     {}},

    {"muse-glimmer-30b",
     "meta-models/Muse-Glimmer-30B config.json, text part",
     R"({
    "model_type": "muse_glimmer_text", "dtype": "bfloat16",
      "num_hidden_layers": 52, "hidden_size": 6656, "intermediate_size": 19968,
      "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
      "sliding_window": 2048, "vocab_size": 202048,
      "max_position_embeddings": 131072, "tie_word_embeddings": false})",
     {},
     {}},

    {"starcoder",
     "bigcode/starcoder config.json",
     R"({
    "model_type": "gpt_bigcode", "n_layer": 40, "n_embd": 6144,
      "n_inner": 24576, "n_head": 48, "multi_query": true, "vocab_size": 49152,
      "n_positions": 8192, "tie_word_embeddings": true})",
     {},
     {}},

    {"starcoder2-7b",
     "bigcode/starcoder2-7b config.json",
     R"({
    "model_type": "starcoder2", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4608, "intermediate_size": 18432,
      "num_attention_heads": 36, "num_key_value_heads": 4,
      "sliding_window": 4096, "vocab_size": 49152,
      "max_position_embeddings": 16384})",
     {},
     {}},

    {"falcon-7b",
     "tiiuae/falcon-7b config.json",
     R"({
    "model_type": "falcon", "dtype": "bfloat16", "num_hidden_layers": 32,
      "hidden_size": 4544, "num_attention_heads": 71, "num_kv_heads": 71,
      "multi_query": true, "new_decoder_architecture": false,
      "vocab_size": 65024})",
     {},
     {}},

    {"falcon-40b",
     "tiiuae/falcon-40b config.json",
     R"({
    "model_type": "falcon", "dtype": "bfloat16", "num_hidden_layers": 60,
      "hidden_size": 8192, "num_attention_heads": 128, "num_kv_heads": 8,
      "new_decoder_architecture": true, "vocab_size": 65024})",
     {},
     {}},

    {"gpt2",
     "openai-community/gpt2 config.json",
     R"({
    "model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12,
      "vocab_size": 50257, "n_positions": 1024})",
     {},
     {}},

    {"bloom",
     "bigscience/bloom config.json",
     R"({
    "model_type": "bloom", "n_layer": 70, "hidden_size": 14336, "n_head": 112,
      "vocab_size": 250880})",
     {},
     {}},

    {"whisper-large-v3",
     "openai/whisper-large-v3 config.json",
     R"({
    "model_type": "whisper", "decoder_layers": 32, "d_model": 1280,
      "decoder_ffn_dim": 5120, "decoder_attention_heads": 20,
      "max_source_positions": 1500, "max_target_positions": 448,
      "vocab_size": 51866})",
     {},
     {}},

    {"t5-small",
     "google-t5/t5-small config.json",
     R"({
    "model_type": "t5", "num_layers": 6, "num_decoder_layers": 6,
      "d_model": 512, "d_ff": 2048, "num_heads": 8, "d_kv": 64,
      "vocab_size": 32128, "n_positions": 512})",
     {},
     {}},
};

}  // namespace

std::span<const CatalogueEntry> DenseEntries() { return kEntries; }

}  // namespace kvsim
