// Configs that a careless reader gets wrong, one test each. The configs are
// written by hand from the published figures; sizes that decide nothing are
// left out. Expected widths are derived beside each test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/layout_builder.h"
#include "models/model_config.h"
#include "models/parameter_count.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ModelSpec Read(const std::string& fields) {
  const absl::StatusOr<ModelSpec> spec =
      ReadModelConfig("{" + fields + "}", "c.json");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : ModelSpec();
}

std::string Error(const std::string& fields) {
  const auto spec = ReadModelConfig("{" + fields + "}", "c.json");
  EXPECT_FALSE(spec.ok()) << fields;
  return std::string(spec.status().message());
}

// A letter per layer: F full, W windowed, C chunked, M MLA, L linear, H full
// beside linear, E encoder's own, - nothing that mixes tokens.
std::string Letters(const std::vector<LayerSpec>& layers) {
  std::string letters;
  for (const LayerSpec& layer : layers) {
    if (layer.attention.empty()) {
      letters += layer.recurrent ? 'L' : '-';
    } else if (layer.recurrent) {
      letters += 'H';
    } else {
      switch (layer.attention[0].kind) {
        case AttentionKind::kSlidingWindow:
          letters += 'W';
          break;
        case AttentionKind::kChunkedLocal:
          letters += 'C';
          break;
        case AttentionKind::kMla:
          letters += 'M';
          break;
        case AttentionKind::kEncoderOnly:
          letters += 'E';
          break;
        default:
          letters += 'F';
      }
    }
  }
  return letters;
}

int64_t Count(const ModelSpec& spec, char letter) {
  const std::string letters = Letters(spec.layers);
  return std::count(letters.begin(), letters.end(), letter);
}

double BytesPerToken(const ModelSpec& spec) {
  return BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kBf16})
      ->BytesPerToken();
}

// Falcon-7B says num_kv_heads 71, but multi_query means one head of 4544 / 71
// = 64 in each of 32 layers: 32 x 2 x 64 x 2 B = 8,192 B.
TEST(DialectTrapsTest, Falcon7bKeepsOneHead) {
  const ModelSpec spec = Read(
      R"("model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
         "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true,
         "new_decoder_architecture": false)");
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 1);
  EXPECT_EQ(BytesPerToken(spec), 8192);
}

// Falcon-40B: 8 heads of 8192 / 128 = 64 in 60 layers, 122,880 B.
TEST(DialectTrapsTest, Falcon40bMeansItsCountOfHeads) {
  const ModelSpec spec = Read(
      R"("model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
         "num_attention_heads": 128, "num_kv_heads": 8,
         "new_decoder_architecture": true)");
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 8);
  EXPECT_EQ(BytesPerToken(spec), 60 * 2 * 8 * 64 * 2);
}

// StarCoder has no count of KV heads at all; multi_query is the default.
TEST(DialectTrapsTest, BigCodeIsMultiQueryUnlessItSaysNo) {
  const std::string sizes =
      R"("model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48,
         "n_layer": 40, "n_positions": 8192)";
  EXPECT_EQ(Read(sizes).layers[0].attention[0].kv_heads, 1);
  EXPECT_EQ(Read(sizes).max_position_embeddings, 8192);
  EXPECT_EQ(
      Read(sizes + R"(, "multi_query": false)").layers[0].attention[0].kv_heads,
      48);
}

// GPT-2: names of its own, four times the width, float32 without a field.
TEST(DialectTrapsTest, Gpt2HasItsOwnNamesAndIsFloat32) {
  const ModelSpec spec = Read(
      R"("model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
         "n_ctx": 1024, "n_positions": 1024, "vocab_size": 50257)");
  EXPECT_EQ(spec.dtype, DType::kFp32);
  EXPECT_EQ(spec.layers[0].ffn.intermediate, 4 * 768);
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 12);
  EXPECT_TRUE(spec.tie_word_embeddings);
  // GPT2-XL, 48 layers of 1600: 300 KiB in 16 bits.
  EXPECT_EQ(BytesPerToken(Read(R"("model_type": "gpt2", "n_embd": 1600,
                "n_head": 25, "n_layer": 48)")) /
                1024,
            300);
}

TEST(DialectTrapsTest, BloomNamesLayersAndHeadsButNotItsContext) {
  const ModelSpec spec = Read(
      R"("model_type": "bloom", "hidden_size": 14336, "n_layer": 70,
         "n_head": 112, "seq_length": 2048)");
  EXPECT_EQ(spec.layers.size(), 70u);
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 112);
  EXPECT_EQ(spec.max_position_embeddings, 2048);
}

TEST(DialectTrapsTest, CommandRMeansModelMaxLength) {
  EXPECT_EQ(Read(R"("model_type": "cohere", "hidden_size": 12288,
                    "num_hidden_layers": 1, "num_attention_heads": 96,
                    "num_key_value_heads": 8, "model_max_length": 131072,
                    "max_position_embeddings": 8192)")
                .max_position_embeddings,
            131072);
}

// Seed-OSS: 5120 / 80 would be 64, the field says 128.
TEST(DialectTrapsTest, SeedOssHeadsAreWiderThanTheHiddenSizeSuggests) {
  const ModelSpec spec = Read(
      R"("model_type": "seed_oss", "hidden_size": 5120,
         "num_hidden_layers": 64, "num_attention_heads": 80,
         "num_key_value_heads": 8, "head_dim": 128)");
  EXPECT_EQ(BytesPerToken(spec), 64 * 2 * 8 * 128 * 2);
}

// MiMo-V2: attention_chunk_size is noise; 39 windowed layers of 8 heads and 9
// full ones of 4, keys of 192 and values of 128.
TEST(DialectTrapsTest, MiMoIsNotChunked) {
  const ModelSpec spec = Read(
      R"("model_type": "mimo_v2_flash", "hidden_size": 4096,
         "num_hidden_layers": 6, "num_attention_heads": 64,
         "num_key_value_heads": 4, "swa_num_key_value_heads": 8,
         "head_dim": 192, "v_head_dim": 128, "sliding_window": 128,
         "attention_chunk_size": 128,
         "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0])");
  EXPECT_EQ(Letters(spec.layers), "FWWWWF");
  EXPECT_EQ(BytesPerToken(spec), 2 * 4 * (192 + 128) * 2);
  EXPECT_EQ(spec.layers[1].attention[0].kv_heads, 8);
}

constexpr char kNemotronNano[] =
    R"("model_type": "nemotron_h", "hidden_size": 4480,
       "num_hidden_layers": 8, "num_attention_heads": 40,
       "num_key_value_heads": 8, "head_dim": 128, "ssm_state_size": 128,
       "mamba_num_heads": 128, "mamba_head_dim": 80, "n_groups": 8,
       "conv_kernel": 4, "expand": 2, "intermediate_size": 15680,
       "hybrid_override_pattern": "M-M*-M-M")";

// Nemotron-Nano-9B-v2: the inner width is 128 x 80 = 10,240, not expand x 4480
// = 8,960; the convolution runs over 10240 + 2 x 8 x 128 = 12,288 channels.
TEST(DialectTrapsTest, NemotronNanoWidthIsItsHeads) {
  const ModelSpec spec = Read(kNemotronNano);
  EXPECT_EQ(Letters(spec.layers), "L-LF-L-L");
  const RecurrentSpec& state = *spec.layers[0].recurrent;
  EXPECT_EQ(state.value_heads * state.value_dim, 10240);
  EXPECT_EQ(state.conv_channels, 12288);
  EXPECT_EQ(BytesPerToken(spec), 2 * 8 * 128 * 2);
  // A mixer has no feed-forward part and the other way round.
  EXPECT_EQ(spec.layers[0].ffn.kind, FfnKind::kNone);
  EXPECT_EQ(spec.layers[1].ffn.kind, FfnKind::kDense);
  EXPECT_EQ(spec.layers[1].ffn.matrices, 2);
}

// Nemotron-3 Ultra counts its layers only by the list; one step of prediction
// is several layers.
TEST(DialectTrapsTest, LayersBlockTypeCountsTheLayers) {
  const ModelSpec spec = Read(
      R"("model_type": "nemotron_h", "hidden_size": 64,
         "num_attention_heads": 8, "num_key_value_heads": 2,
         "ssm_state_size": 16, "mamba_num_heads": 4, "mamba_head_dim": 8,
         "n_routed_experts": 4, "moe_intermediate_size": 16,
         "layers_block_type": ["mamba", "moe", "attention", "moe"],
         "mtp_layers_block_type": ["attention", "moe"],
         "num_nextn_predict_layers": 2)");
  EXPECT_EQ(Letters(spec.layers), "L-F-");
  EXPECT_EQ(Letters(spec.mtp_layers), "F-F-");
  EXPECT_EQ(spec.layers[1].ffn.experts, 4);
  EXPECT_EQ(spec.mtp_layers[3].ffn.experts, 4);
  EXPECT_THAT(Error(R"("model_type": "nemotron_h", "hidden_size": 64,
               "num_attention_heads": 8, "hybrid_override_pattern": "MX")"),
              HasSubstr("entry 1 is \"X\""));
}

// Falcon-H1: K, V and a state in every layer; attn_layer_indices is null; the
// inner width is mamba_d_ssm 3072, not expand x 3072 = 6144.
TEST(DialectTrapsTest, FalconH1HasBothInEveryLayer) {
  const std::string config =
      R"("model_type": "falcon_h1", "hidden_size": 3072,
         "num_hidden_layers": 3, "num_attention_heads": 12,
         "num_key_value_heads": 2, "head_dim": 128,
         "attn_layer_indices": null, "mamba_d_conv": 4, "mamba_d_head": 128,
         "mamba_d_state": 256, "mamba_expand": 2, "mamba_n_groups": 1,
         "mamba_n_heads": 24, "mamba_d_ssm": )";
  const ModelSpec spec = Read(config + "3072");
  EXPECT_EQ(Letters(spec.layers), "HHH");
  EXPECT_EQ(BytesPerToken(spec), 3 * 2 * 2 * 128 * 2);
  const RecurrentSpec& state = *spec.layers[0].recurrent;
  EXPECT_EQ(state.value_heads * state.value_dim * state.key_dim, 3072 * 256);
  EXPECT_EQ(state.conv_channels, 3072 + 2 * 256);
  EXPECT_THAT(Error(config + "6144"),
              AllOf(HasSubstr("mamba_d_ssm is 6144"), HasSubstr("3072")));
}

TEST(DialectTrapsTest, MambaHeadWidthAutoIsTheRestOfTheInnerWidth) {
  const ModelSpec spec = Read(
      R"("model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 4,
         "num_attention_heads": 32, "num_key_value_heads": 8,
         "attn_layer_indices": [1, 3], "mamba_d_state": 128,
         "mamba_n_heads": 128, "mamba_d_head": "auto", "mamba_expand": 2)");
  EXPECT_EQ(Letters(spec.layers), "LFLF");
  EXPECT_EQ(spec.layers[0].recurrent->value_dim, 64);  // 8192 / 128
}

// Plain Mamba-2: num_heads and head_dim are the state's.
TEST(DialectTrapsTest, MambaCodestralHasNoKeysAtAll) {
  const ModelSpec spec = Read(
      R"("model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64,
         "num_heads": 128, "head_dim": 64, "state_size": 128, "n_groups": 8,
         "expand": 2, "conv_kernel": 4, "torch_dtype": "bfloat16",
         "vocab_size": 32768)");
  EXPECT_EQ(Letters(spec.layers), std::string(64, 'L'));
  EXPECT_EQ(BytesPerToken(spec), 0);
  // Conv (8192 + 2 x 8 x 128) x 3 and state 128 x 64 x 128, 2 B each.
  EXPECT_EQ(BuildCacheLayout(spec, {})->FixedBytes(),
            Bytes(64 * 2 * (10240 * 3 + 128 * 64 * 128)));
}

// Jamba: one layer in eight attends; Mamba-1 keeps 16,384 channels of 16.
TEST(DialectTrapsTest, JambaAttendsAtAnOffset) {
  const ModelSpec spec = Read(
      R"("model_type": "jamba", "hidden_size": 8192, "num_hidden_layers": 16,
         "num_attention_heads": 64, "num_key_value_heads": 8,
         "attn_layer_period": 8, "attn_layer_offset": 4,
         "expert_layer_period": 2, "expert_layer_offset": 1,
         "num_experts": 16, "num_experts_per_tok": 2,
         "intermediate_size": 24576, "mamba_d_state": 16, "mamba_d_conv": 4,
         "mamba_expand": 2)");
  EXPECT_EQ(Letters(spec.layers), "LLLLFLLLLLLLFLLL");
  const RecurrentSpec& state = *spec.layers[0].recurrent;
  EXPECT_EQ(state.value_heads * state.value_dim * state.key_dim, 16384 * 16);
  EXPECT_EQ(state.conv_channels, 16384);
  EXPECT_EQ(spec.layers[0].ffn.kind, FfnKind::kDense);
  EXPECT_EQ(spec.layers[1].ffn.kind, FfnKind::kMoe);
}

// Gemma 4: the last layer is full whatever the list says; full layers have
// their own width and heads.
TEST(DialectTrapsTest, Gemma4ForcesItsLastLayerFull) {
  const ModelSpec spec = Read(
      R"("model_type": "gemma4_text", "hidden_size": 64,
         "num_hidden_layers": 3, "num_attention_heads": 8, "head_dim": 256,
         "num_key_value_heads": 8, "global_head_dim": 512,
         "num_global_key_value_heads": 2, "sliding_window": 1024,
         "layer_types": ["sliding_attention", "full_attention",
                         "sliding_attention"])");
  EXPECT_EQ(Letters(spec.layers), "WFF");
  EXPECT_EQ(BytesPerToken(spec), 2 * 2 * 2 * 512 * 2);
}

// Llama 4: an empty no_rope_layers means the default interval of 4.
TEST(DialectTrapsTest, Llama4EmptyListMeansEveryFourthFull) {
  const ModelSpec spec = Read(
      R"("model_type": "llama4", "text_config": {"model_type": "llama4_text",
         "hidden_size": 5120, "num_hidden_layers": 8,
         "num_attention_heads": 40, "num_key_value_heads": 8,
         "head_dim": 128, "attention_chunk_size": 8192,
         "no_rope_layers": []})");
  EXPECT_EQ(Letters(spec.layers), "CCCFCCCF");
}

std::string NasConfig(const std::string& blocks) {
  return R"("model_type": "nemotron-nas", "hidden_size": 8192,
            "num_hidden_layers": 3, "num_attention_heads": 64,
            "num_key_value_heads": null, "intermediate_size": null,
            "block_configs": [)" +
         blocks + "]";
}

// Nemotron-Super-49B: KV heads are 64 / n_heads_in_group, a block without
// attention keeps nothing, and widths are 2/3 x 2.625 x 8192 = 14,336.
TEST(DialectTrapsTest, NemotronNasBlocksStandAlone) {
  const ModelSpec spec = Read(NasConfig(
      R"({"attention": {"n_heads_in_group": 8, "no_op": false},
          "ffn": {"ffn_mult": 2.625, "no_op": false}},
         {"attention": {"no_op": true, "n_heads_in_group": null},
          "ffn": {"ffn_mult": 1.3125}},
         {"attention": {"n_heads_in_group": 16, "window_length": 1024},
          "ffn": {"replace_with_linear": true}})"));
  EXPECT_EQ(Letters(spec.layers), "F-W");
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 8);
  EXPECT_EQ(spec.layers[2].attention[0].kv_heads, 4);
  EXPECT_EQ(spec.layers[2].attention[0].window, 1024);
  EXPECT_EQ(spec.layers[0].ffn.intermediate, 14336);
  EXPECT_EQ(spec.layers[1].ffn.intermediate, 7168);
  EXPECT_EQ(spec.layers[2].ffn.kind, FfnKind::kNone);
  EXPECT_EQ(spec.layers[2].linear_replacements, 1);
  EXPECT_THAT(Error(NasConfig("{}")),
              HasSubstr("block_configs is a list of 1 entries"));
  EXPECT_THAT(Error(NasConfig("3")), HasSubstr("block_configs[0] is 3"));
}

// LongCat-Flash: two latents of 576 in each of num_layers layers, 56 in all.
TEST(DialectTrapsTest, LongCatKeepsTwoLatentsPerLayer) {
  const ModelSpec spec = Read(
      R"("model_type": "longcat_flash", "hidden_size": 6144,
         "num_layers": 28, "num_attention_heads": 64, "kv_lora_rank": 512,
         "q_lora_rank": 1536, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "v_head_dim": 128,
         "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048,
         "n_routed_experts": 512, "moe_topk": 12, "vocab_size": 131072)");
  EXPECT_EQ(spec.layers[0].attention.size(), 2u);
  EXPECT_EQ(BytesPerToken(spec), 56 * 576 * 2);
  // The model card says 560 billion.
  EXPECT_NEAR(static_cast<double>(CountParameters(spec).total()) / 1e9, 560,
              0.02 * 560);
}

// Hy4's own default: full indexers in layer 0 and in 1, 5, 9, ... 77: 21.
TEST(DialectTrapsTest, Hy4IndexesEveryFourthLayerByDefault) {
  const ModelSpec spec = Read(
      R"("model_type": "hy_v4", "hidden_size": 6144,
         "num_hidden_layers": 78, "num_attention_heads": 64,
         "kv_lora_rank": 512, "qk_rope_head_dim": 64,
         "index_head_dim": 128, "index_n_heads": 32)");
  int full = 0;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const bool is_full =
        spec.layers[i].attention[0].indexer.kind == IndexerKind::kFull;
    EXPECT_EQ(is_full, i == 0 || (i - 1) % 4 == 0) << i;
    full += is_full;
  }
  EXPECT_EQ(full, 21);
  EXPECT_EQ(BytesPerToken(spec), 78 * 576 * 2 + 21 * 132);
}

// Step-3.5: the list describes the prediction layers too, windowed layers have
// 96 query heads, and ids of layers with experts are a text.
TEST(DialectTrapsTest, Step35ListsItsPredictionLayers) {
  const ModelSpec spec = Read(
      R"("model_type": "step3p5", "hidden_size": 4096,
         "intermediate_size": 11264, "num_hidden_layers": 4,
         "num_attention_heads": 64, "num_attention_groups": 8,
         "head_dim": 128, "attention_other_setting": {
           "num_attention_heads": 96, "num_attention_groups": 8,
           "head_dim": 128},
         "layer_types": ["full_attention", "sliding_attention",
           "sliding_attention", "full_attention", "sliding_attention"],
         "sliding_window": 512, "num_nextn_predict_layers": 1,
         "moe_num_experts": 288, "moe_top_k": 8,
         "moe_intermediate_size": 1280, "share_expert_dim": 1280,
         "moe_layers_enum": "2, 3")");
  EXPECT_EQ(Letters(spec.layers), "FWWF");
  EXPECT_EQ(Letters(spec.mtp_layers), "W");
  EXPECT_EQ(spec.layers[1].attention[0].query_heads, 96);
  EXPECT_EQ(spec.layers[0].attention[0].query_heads, 64);
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 8);
  EXPECT_EQ(spec.layers[1].ffn.kind, FfnKind::kDense);
  EXPECT_EQ(spec.layers[2].ffn.experts, 288);
}

// Step-3: one KV head of 256, named a group.
TEST(DialectTrapsTest, Step3KeepsOneGroup) {
  const ModelSpec spec = Read(
      R"("model_type": "step3_vl", "text_config": {
         "model_type": "step3_text", "hidden_size": 7168,
         "num_hidden_layers": 61, "num_attention_heads": 64,
         "num_attention_groups": 1, "head_dim": 256, "share_q_dim": 2048,
         "max_seq_len": 65536})");
  EXPECT_EQ(BytesPerToken(spec), 61 * 2 * 256 * 2);
  EXPECT_EQ(spec.max_position_embeddings, 65536);
}

// Bailing: full every 4th layer, and the two layers that fill no group.
// A latent where a rank is given, otherwise K and V.
TEST(DialectTrapsTest, BailingFillsItsLastGroupWithFullLayers) {
  const std::string sizes =
      R"("model_type": "bailing_hybrid", "hidden_size": 8192,
         "num_hidden_layers": 10, "num_attention_heads": 64,
         "head_dim": 128, "layer_group_size": 4)";
  const ModelSpec latent =
      Read(sizes + R"(, "kv_lora_rank": 512, "qk_rope_head_dim": 64)");
  EXPECT_EQ(Letters(latent.layers), "LLLMLLLMMM");
  EXPECT_EQ(latent.layers[0].recurrent->conv_kernel, 0);
  EXPECT_EQ(Letters(Read(sizes + R"(, "num_key_value_heads": 4)").layers),
            "LLLFLLLFFF");
}

TEST(DialectTrapsTest, MiniMaxTypeListMarksSoftmaxWithOne) {
  const std::string sizes =
      R"("model_type": "minimax_m1", "hidden_size": 6144, "head_dim": 128,
         "num_hidden_layers": 4, "num_attention_heads": 64,
         "num_key_value_heads": 8)";
  const ModelSpec spec = Read(sizes + R"(, "attn_type_list": [0, 0, 0, 1])");
  EXPECT_EQ(Letters(spec.layers), "LLLF");
  const RecurrentSpec& state = *spec.layers[0].recurrent;
  EXPECT_EQ(state.value_heads * state.value_dim * state.key_dim,
            64 * 128 * 128);
  EXPECT_THAT(Error(sizes + R"(, "attn_type_list": [0, 1])"),
              HasSubstr("attn_type_list is a list of 2 entries"));
}

// MiniMax-M3: K and V everywhere, one bf16 key of 128 where the bit is 1.
TEST(DialectTrapsTest, MiniMaxM3IndexesSomeLayersBesideKAndV) {
  const std::string config =
      R"("model_type": "minimax_m3_vl", "text_config": {"hidden_size": 6144,
         "num_hidden_layers": 4, "num_attention_heads": 64,
         "num_key_value_heads": 4, "head_dim": 128, "num_mtp_modules": 1,
         "sparse_attention_config": {"sparse_index_dim": 128,
           "sparse_num_index_heads": 4, "sparse_topk_blocks": 16,
           "sparse_block_size": 128,
           "sparse_attention_freq": [0, 0, 1, 1]}})";
  const ModelSpec spec = Read(config);
  EXPECT_EQ(BytesPerToken(spec), 4 * 2 * 4 * 128 * 2 + 2 * 128 * 2);
  EXPECT_EQ(spec.layers[3].attention[0].indexer.top_k, 16 * 128);
  EXPECT_EQ(spec.mtp_layers.size(), 1u);
}

// GLM-5.3-Flash: no rope part is a value (512, not 576 + 64), and four tokens
// share an index key of 132 B.
TEST(DialectTrapsTest, Glm53FlashPoolsItsIndexKeys) {
  const ModelSpec spec = Read(
      R"("model_type": "glm5_next", "text_config": {
         "model_type": "glm5_next_text", "hidden_size": 4096,
         "num_hidden_layers": 4, "num_attention_heads": 64,
         "num_key_value_heads": 64, "kv_lora_rank": 512,
         "q_lora_rank": 1536, "qk_nope_head_dim": 256,
         "qk_rope_head_dim": 0, "v_head_dim": 256, "index_head_dim": 128,
         "index_topk": 2048, "index_kpool": 4,
         "linear_attn_config": {"num_heads": 64, "head_dim": 128,
           "short_conv_kernel_size": 4},
         "layer_types": ["linear_attention", "linear_attention",
           "linear_attention", "deepseek_sparse_attention"]})");
  EXPECT_EQ(Letters(spec.layers), "LLLM");
  EXPECT_EQ(BytesPerToken(spec), 512 * 2 + 132 / 4);
}

// Where a list tells sparse from full, only the sparse have an indexer.
TEST(DialectTrapsTest, FullLayersBesideSparseOnesHaveNoIndexer) {
  const ModelSpec spec = Read(
      R"("model_type": "glm_moe_dsa", "hidden_size": 64,
         "num_hidden_layers": 2, "num_attention_heads": 8,
         "kv_lora_rank": 32, "index_head_dim": 128,
         "layer_types": ["full_attention", "deepseek_sparse_attention"])");
  EXPECT_EQ(spec.layers[0].attention[0].indexer.kind, IndexerKind::kNone);
  EXPECT_EQ(spec.layers[1].attention[0].indexer.kind, IndexerKind::kFull);
}

// Inkling: the list names windowed layers, which have more KV heads; the
// prediction layers stand in an object of their own. Convolutions of 2 x 128 +
// 2 x 6144 / 8 = 1,792 per head are packed to 2,048.
TEST(DialectTrapsTest, InklingListsItsLocalLayers) {
  const ModelSpec spec = Read(
      R"("model_type": "inkling_mm_model", "text_config": {
         "model_type": "inkling_text", "model_max_length": 1048576,
         "hidden_size": 6144, "num_hidden_layers": 4,
         "num_attention_heads": 64, "num_key_value_heads": 8,
         "head_dim": 128, "local_layer_ids": [0, 1, 2],
         "swa_num_key_value_heads": 16, "sliding_window_size": 512,
         "use_sconv": true, "sconv_kernel_size": 4},
         "mtp_config": {"num_nextn_predict_layers": 3,
           "local_layer_ids": [0, 2]})");
  EXPECT_EQ(Letters(spec.layers), "WWWF");
  EXPECT_EQ(Letters(spec.mtp_layers), "WFW");
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 16);
  EXPECT_EQ(spec.layers[3].attention[0].short_conv_width, 2048);
  EXPECT_EQ(spec.max_position_embeddings, 1048576);
}

// Laguna: query heads differ by layer, KV heads do not.
TEST(DialectTrapsTest, LagunaCountsQueryHeadsPerLayer) {
  const ModelSpec spec = Read(
      R"("model_type": "laguna", "hidden_size": 3072, "num_hidden_layers": 2,
         "num_attention_heads": 48, "num_key_value_heads": 8,
         "head_dim": 128, "sliding_window": 512,
         "layer_types": ["full_attention", "sliding_attention"],
         "num_attention_heads_per_layer": [48, 72])");
  EXPECT_EQ(spec.layers[1].attention[0].query_heads, 72);
  EXPECT_EQ(spec.layers[1].attention[0].kv_heads, 8);
  EXPECT_EQ(BytesPerToken(spec), 2 * 8 * 128 * 2);
}

// Families whose windows no rule describes need the list.
TEST(DialectTrapsTest, SomeFamiliesNeedTheirLayerTypes) {
  for (const char* type : {"laguna", "step3p5", "step3p7"}) {
    EXPECT_THAT(Error("\"model_type\": \"" + std::string(type) +
                      R"(", "hidden_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 8, "sliding_window": 16)"),
                HasSubstr("layer_types is missing"))
        << type;
  }
}

// Hunyuan: lists per layer; cla_share_factor counts only with use_cla.
TEST(DialectTrapsTest, HunyuanSharesAcrossLayersOnlyWhenTold) {
  const std::string sizes =
      R"("model_type": "hunyuan", "hidden_size": 4096,
         "num_hidden_layers": 4, "num_attention_heads": 32,
         "num_key_value_heads": 8, "attention_head_dim": 128,
         "kv_lora_rank": null, "num_experts": 64, "moe_topk": [8, 8, 8, 8],
         "moe_intermediate_size": [3072, 3072, 3072, 1024],
         "num_shared_expert": [1, 1, 1, 1], "cla_share_factor": 2)";
  EXPECT_EQ(BytesPerToken(Read(sizes + R"(, "use_cla": false)")),
            4 * 2 * 8 * 128 * 2);
  const ModelSpec shared = Read(sizes + R"(, "use_cla": true)");
  EXPECT_EQ(BytesPerToken(shared), 2 * 2 * 8 * 128 * 2);
  EXPECT_EQ(shared.layers[3].attention[0].kv_sharing_target, 2);
  EXPECT_EQ(shared.layers[3].ffn.expert_intermediate, 1024);
}

TEST(DialectTrapsTest, QwenSparseLayersKeepAKeyForFourTokens) {
  const ModelSpec spec = Read(
      R"("model_type": "qwen4_exp_text", "hidden_size": 2560,
         "num_hidden_layers": 4, "num_attention_heads": 24,
         "num_key_value_heads": 2, "head_dim": 256,
         "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
         "linear_key_head_dim": 128, "linear_value_head_dim": 128,
         "linear_num_key_heads": 16, "linear_num_value_heads": 48,
         "indexer_n_heads": 4, "indexer_head_dim": 128,
         "indexer_compress_ratio": 4)");
  EXPECT_EQ(Letters(spec.layers), "LLLF");
  EXPECT_EQ(BytesPerToken(spec), 2 * 2 * 256 * 2 + 128 * 2 / 4);
}

// DeepSeek V4's newer form names kinds instead of ratios.
TEST(DialectTrapsTest, CompressedLayersMayBeNamed) {
  const ModelSpec spec = Read(
      R"("model_type": "deepseek_v4", "hidden_size": 64,
         "num_hidden_layers": 3, "num_attention_heads": 8, "head_dim": 32,
         "qk_rope_head_dim": 8, "sliding_window": 16, "index_head_dim": 8,
         "compress_rates": {"compressed_sparse_attention": 4,
                            "heavily_compressed_attention": 64},
         "layer_types": ["sliding_attention", "compressed_sparse_attention",
                         "heavily_compressed_attention"])");
  EXPECT_EQ(spec.layers[0].attention[0].compress_ratio, 0);
  EXPECT_EQ(spec.layers[1].attention[0].compress_ratio, 4);
  EXPECT_EQ(spec.layers[2].attention[0].compress_ratio, 64);
}

// RecurrentGemma repeats a short list; its attention is always local.
TEST(DialectTrapsTest, RecurrentGemmaRepeatsItsBlockTypes) {
  const ModelSpec spec = Read(
      R"("model_type": "recurrent_gemma", "hidden_size": 2560,
         "num_hidden_layers": 5, "num_attention_heads": 10,
         "num_key_value_heads": 1, "lru_width": 2560, "conv1d_width": 4,
         "attention_window_size": 2048,
         "block_types": ["recurrent", "recurrent", "attention"])");
  EXPECT_EQ(Letters(spec.layers), "LLWLL");
  EXPECT_EQ(spec.layers[2].attention[0].window, 2048);
}

// LFM2 names its full layers; the others keep conv_L_cache - 1 inputs.
TEST(DialectTrapsTest, Lfm2KeepsTwoColumnsOfItsConvolutions) {
  const ModelSpec spec = Read(
      R"("model_type": "lfm2", "hidden_size": 1024, "num_hidden_layers": 3,
         "num_attention_heads": 16, "num_key_value_heads": 8,
         "full_attn_idxs": [2], "conv_L_cache": 3,
         "torch_dtype": "bfloat16")");
  EXPECT_EQ(Letters(spec.layers), "LLF");
  EXPECT_EQ(BuildCacheLayout(spec, {})->FixedBytes(), Bytes(2 * 1024 * 2 * 2));
}

// AFMoE: every N-th layer full under a name of its own.
TEST(DialectTrapsTest, AfmoeNamesItsIntervalOtherwise) {
  EXPECT_EQ(Letters(Read(R"("model_type": "afmoe", "hidden_size": 64,
                "num_hidden_layers": 4, "num_attention_heads": 8,
                "sliding_window": 16, "global_attn_every_n_layers": 2)")
                        .layers),
            "WFWF");
}

// T5: the decoder has as many layers as the encoder unless it says otherwise,
// heads are d_kv wide; an encoder alone keeps nothing.
TEST(DialectTrapsTest, T5KeepsItsDecoderOnly) {
  const std::string sizes =
      R"("model_type": "t5", "d_model": 512, "d_kv": 32, "d_ff": 2048,
         "num_layers": 6, "num_heads": 8, "n_positions": 512)";
  const ModelSpec spec = Read(sizes);
  EXPECT_EQ(spec.layers.size(), 6u);
  EXPECT_EQ(spec.layers[0].cross->head_dim, 32);
  EXPECT_EQ(BytesPerToken(spec), 6 * 2 * 8 * 32 * 2);
  EXPECT_EQ(Read(sizes + R"(, "num_decoder_layers": 2)").layers.size(), 2u);

  const ModelSpec encoder =
      Read(sizes + R"(, "architectures": ["T5EncoderModel"])");
  EXPECT_EQ(Count(encoder, 'E'), 6);
  EXPECT_EQ(BuildCacheLayout(encoder, {})->BytesAt(Tokens(100)), Bytes(0));
}

// BERT is an encoder, whatever it was exported as.
TEST(DialectTrapsTest, BertKeepsNothing) {
  const ModelSpec spec = Read(
      R"("model_type": "bert", "hidden_size": 384, "num_hidden_layers": 12,
         "num_attention_heads": 12)");
  EXPECT_EQ(Count(spec, 'E'), 12);
  EXPECT_EQ(spec.layers[0].attention[0].head_dim, 32);
  EXPECT_EQ(BuildCacheLayout(spec, {})->BytesAt(Tokens(100)), Bytes(0));
}

// RWKV-7: 4,096 / 64 heads of 64 x 64, and the last input of both halves.
TEST(DialectTrapsTest, Rwkv7KeepsAStateAndTwoInputs) {
  const std::string sizes =
      R"("model_type": "rwkv7", "hidden_size": 4096, "num_hidden_layers": 2)";
  const ModelSpec spec = Read(sizes + R"(, "head_dim": 64)");
  EXPECT_EQ(Letters(spec.layers), "LL");
  const RecurrentSpec& state = *spec.layers[0].recurrent;
  EXPECT_EQ(state.value_heads * state.value_dim * state.key_dim, 64 * 64 * 64);
  EXPECT_EQ(state.conv_channels * (state.conv_kernel - 1), 2 * 4096);
  EXPECT_THAT(Error(sizes + R"(, "head_dim": 60)"),
              HasSubstr("a divisor of hidden_size (4096)"));
}

// Families whose fields say everything: each row of the table reads the plain
// names, and keeps K and V of its KV heads.
TEST(DialectTrapsTest, PlainFamiliesReadPlainNames) {
  for (const char* type :
       {"qwen2_vl_text", "qwen2_5_vl_text", "olmo", "olmoe", "granitemoe",
        "glm4", "smollm3", "nemotron", "internlm2", "ernie4_5",
        "bailing_moe_v2", "gpt_neox", "granite", "gemma", "qwen2_moe"}) {
    const ModelSpec spec = Read("\"model_type\": \"" + std::string(type) +
                                R"(", "hidden_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 8,
        "num_key_value_heads": 2)");
    EXPECT_EQ(BytesPerToken(spec), 2 * 2 * 2 * 8 * 2) << type;
  }
}

}  // namespace
}  // namespace kvsim
