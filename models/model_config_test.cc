#include "models/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/layout_builder.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A valid dense config whose fields a test adds to or replaces. JSON keeps the
// last of two equal keys.
std::string Config(const std::string& more) {
  std::string text =
      R"("model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
         "num_attention_heads": 8, "num_key_value_heads": 2,
         "intermediate_size": 128, "vocab_size": 100)";
  if (!more.empty()) text += ", " + more;
  return "{" + text + "}";
}

ModelSpec Read(const std::string& json) {
  const absl::StatusOr<ModelSpec> spec = ReadModelConfig(json, "c.json");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : ModelSpec();
}

std::string Error(const std::string& json) {
  const absl::StatusOr<ModelSpec> spec = ReadModelConfig(json, "c.json");
  EXPECT_FALSE(spec.ok()) << json;
  return std::string(spec.status().message());
}

std::vector<AttentionKind> Kinds(const ModelSpec& spec) {
  std::vector<AttentionKind> kinds;
  for (const LayerSpec& layer : spec.layers) {
    kinds.push_back(layer.attention[0].kind);
  }
  return kinds;
}

constexpr AttentionKind kFull = AttentionKind::kFull;
constexpr AttentionKind kWindow = AttentionKind::kSlidingWindow;
constexpr AttentionKind kChunk = AttentionKind::kChunkedLocal;

TEST(ModelConfigTest, ReadsADenseConfig) {
  const ModelSpec spec = Read(Config(""));
  EXPECT_EQ(spec.name, "c.json");
  EXPECT_EQ(spec.model_type, "llama");
  ASSERT_EQ(spec.layers.size(), 2u);
  const AttentionSpec& attention = spec.layers[0].attention[0];
  EXPECT_EQ(attention.kv_heads, 2);
  EXPECT_EQ(attention.head_dim, 8);  // 64 / 8
  EXPECT_EQ(spec.dtype, DType::kBf16);
}

TEST(ModelConfigTest, ExplicitHeadDimWins) {
  EXPECT_EQ(Read(Config(R"("head_dim": 24)")).layers[0].attention[0].head_dim,
            24);
}

TEST(ModelConfigTest, MissingOrNullKvHeadsMeanMha) {
  EXPECT_EQ(Read(Config(R"("num_key_value_heads": null)"))
                .layers[0]
                .attention[0]
                .kv_heads,
            8);
}

TEST(ModelConfigTest, IntegralFloatsAreIntegers) {
  EXPECT_EQ(Read(Config(R"("hidden_size": 64.0)")).hidden_size, 64);
}

TEST(ModelConfigTest, TextConfigIsReadAndVisionIgnored) {
  const ModelSpec spec = Read(
      R"({"model_type": "gemma3", "torch_dtype": "float16",
          "vision_config": {"num_hidden_layers": 27, "hidden_size": 9},
          "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 7,
            "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16,
            "num_key_value_heads": 2, "sliding_window": 32}})");
  EXPECT_EQ(spec.layers.size(), 7u);
  EXPECT_EQ(spec.dtype, DType::kFp16);    // from the outer level
  EXPECT_TRUE(spec.tie_word_embeddings);  // the class default
  // Class default: every sixth layer full.
  EXPECT_EQ(Kinds(spec),
            (std::vector<AttentionKind>{kWindow, kWindow, kWindow, kWindow,
                                        kWindow, kFull, kWindow}));
}

TEST(ModelConfigTest, ArchitectureServesWhereModelTypeIsUnknown) {
  const ModelSpec spec = Read(
      R"({"model_type": "my_llama", "architectures": ["LlamaForCausalLM"],
          "num_hidden_layers": 1, "hidden_size": 64,
          "num_attention_heads": 8})");
  EXPECT_EQ(spec.model_type, "llama");
}

// One pattern dialect per line: the fields and the kinds of four layers.
TEST(ModelConfigTest, LayerPatterns) {
  const std::string sizes =
      R"("num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8)";
  const auto kinds = [&](const std::string& fields) {
    return Kinds(Read("{" + sizes + ", " + fields + "}"));
  };
  using K = std::vector<AttentionKind>;
  EXPECT_EQ(kinds(R"("model_type": "mistral", "sliding_window": 8)"),
            (K{kWindow, kWindow, kWindow, kWindow}));
  EXPECT_EQ(kinds(R"("model_type": "mistral", "sliding_window": null)"),
            (K{kFull, kFull, kFull, kFull}));
  EXPECT_EQ(kinds(R"("model_type": "qwen2", "sliding_window": 8,
                     "use_sliding_window": false, "max_window_layers": 2)"),
            (K{kFull, kFull, kFull, kFull}));
  EXPECT_EQ(kinds(R"("model_type": "qwen2", "sliding_window": 8,
                     "use_sliding_window": true, "max_window_layers": 2)"),
            (K{kFull, kFull, kWindow, kWindow}));
  EXPECT_EQ(kinds(R"("model_type": "gpt_oss", "sliding_window": 8)"),
            (K{kWindow, kFull, kWindow, kFull}));
  EXPECT_EQ(kinds(R"("model_type": "cohere2", "sliding_window": 8,
                     "sliding_window_pattern": 2)"),
            (K{kWindow, kFull, kWindow, kFull}));
  // Letters; the last layer is always full.
  EXPECT_EQ(kinds(R"("model_type": "exaone4", "sliding_window": 8,
                     "sliding_window_pattern": "LLG")"),
            (K{kWindow, kWindow, kFull, kFull}));
  EXPECT_EQ(kinds(R"("model_type": "llama4_text",
                     "attention_chunk_size": 16)"),
            (K{kChunk, kChunk, kChunk, kFull}));
  EXPECT_EQ(kinds(R"("model_type": "llama4_text", "no_rope_layers": [],
                     "no_rope_layer_interval": 2)"),
            (K{kChunk, kFull, kChunk, kFull}));
  EXPECT_EQ(kinds(R"("model_type": "mimo_v2_flash", "sliding_window": 8,
                     "hybrid_layer_pattern": [0, 1, 1, 0])"),
            (K{kFull, kWindow, kWindow, kFull}));
  // An explicit list wins over the family's rule.
  EXPECT_EQ(kinds(R"("model_type": "gpt_oss", "sliding_window": 8,
                     "layer_types": ["full_attention", "full_attention",
                     "sliding_attention", "chunked_attention"])"),
            (K{kFull, kFull, kWindow, kChunk}));
}

TEST(ModelConfigTest, IntervalsAndListsOfLinearLayers) {
  const std::string gdn =
      R"({"model_type": "qwen3_next", "num_hidden_layers": 4,
          "hidden_size": 64, "num_attention_heads": 8,
          "full_attention_interval": 2,
          "linear_num_key_heads": 2, "linear_num_value_heads": 4,
          "linear_key_head_dim": 8, "linear_value_head_dim": 16,
          "linear_conv_kernel_dim": 4, "mamba_ssm_dtype": "float32"})";
  const ModelSpec spec = Read(gdn);
  EXPECT_TRUE(spec.layers[0].recurrent && spec.layers[2].recurrent);
  EXPECT_FALSE(spec.layers[1].recurrent || spec.layers[3].recurrent);
  const RecurrentSpec& state = *spec.layers[0].recurrent;
  EXPECT_EQ(state.conv_channels, 2 * 2 * 8 + 4 * 16);
  EXPECT_EQ(state.state_dtype, DType::kFp32);
}

std::string KimiConfig(const std::string& lists) {
  return R"({"model_type": "kimi_linear", "num_hidden_layers": 3,
      "hidden_size": 64, "num_attention_heads": 8, "kv_lora_rank": 32,
      "qk_rope_head_dim": 8, "linear_attn_config": {"num_heads": 4,
      "head_dim": 8, "short_conv_kernel_size": 4, )" +
         lists + "}}";
}

// Every layer is named once, so an id of 0 shows that ids count from 0.
TEST(ModelConfigTest, KdaListsWithALayerZeroCountFromZero) {
  const ModelSpec spec =
      Read(KimiConfig(R"("kda_layers": [0, 1], "full_attn_layers": [2])"));
  EXPECT_TRUE(spec.layers[0].recurrent && spec.layers[1].recurrent);
  EXPECT_EQ(spec.layers[2].attention[0].kind, AttentionKind::kMla);
}

TEST(ModelConfigTest, KdaListsAreOneBasedAndNameEachLayerOnce) {
  const ModelSpec spec =
      Read(KimiConfig(R"("kda_layers": [1, 3], "full_attn_layers": [2])"));
  EXPECT_TRUE(spec.layers[0].recurrent && spec.layers[2].recurrent);
  EXPECT_EQ(spec.layers[1].attention[0].kind, AttentionKind::kMla);
  EXPECT_EQ(spec.layers[0].recurrent->conv_channels, 3 * 4 * 8);

  EXPECT_THAT(
      Error(KimiConfig(R"("kda_layers": [1, 2], "full_attn_layers": [2])")),
      HasSubstr("layer 2 is named 2 times"));
  EXPECT_THAT(
      Error(KimiConfig(R"("kda_layers": [1], "full_attn_layers": [2])")),
      HasSubstr("layer 3 is named 0 times"));
  EXPECT_THAT(
      Error(KimiConfig(R"("kda_layers": [4, 1], "full_attn_layers": [2])")),
      HasSubstr("layer ids from 1 to 3; found 4"));
  EXPECT_THAT(
      Error(KimiConfig(R"("kda_layers": [0, 1], "full_attn_layers": [3])")),
      HasSubstr("layer ids from 0 to 2; found 3"));
}

std::string DsaConfig(const std::string& more) {
  return R"({"model_type": "glm_moe_dsa", "num_hidden_layers": 6,
      "hidden_size": 64, "num_attention_heads": 8, "kv_lora_rank": 32,
      "qk_rope_head_dim": 8, "index_head_dim": 16, "index_n_heads": 4)" +
         more + "}";
}

std::string IndexerLetters(const ModelSpec& spec) {
  std::string letters;
  for (const LayerSpec& layer : spec.layers) {
    const IndexerKind kind = layer.attention[0].indexer.kind;
    letters += kind == IndexerKind::kFull ? 'F' : 'S';
  }
  return letters;
}

TEST(ModelConfigTest, IndexersByListLettersOrInterval) {
  EXPECT_EQ(IndexerLetters(Read(DsaConfig(""))), "FFFFFF");
  EXPECT_EQ(IndexerLetters(Read(DsaConfig(
                R"(, "indexer_types": ["full", "shared", "full", "shared",
                   "shared", "full"])"))),
            "FSFSSF");
  EXPECT_EQ(
      IndexerLetters(Read(DsaConfig(R"(, "index_topk_pattern": "FSSFSS")"))),
      "FSSFSS");
  // Shared iff max(i - 3 + 1, 0) mod 2 != 0: layers 3 and 5.
  EXPECT_EQ(IndexerLetters(Read(DsaConfig(
                R"(, "index_topk_freq": 2, "index_skip_topk_offset": 3)"))),
            "FFFSFS");
  EXPECT_THAT(Error(DsaConfig(R"(, "index_topk_pattern": "FSX")")),
              HasSubstr("a string of 6 letters F or S"));
  EXPECT_THAT(Error(DsaConfig(R"(, "indexer_types": ["full"])")),
              AllOf(HasSubstr("indexer_types is a list of 1 entries"),
                    HasSubstr("6 entries")));
}

TEST(ModelConfigTest, MtpLayersFollowTheirFieldAndAlwaysIndex) {
  const ModelSpec spec = Read(DsaConfig(
      R"(, "index_topk_pattern": "FSSSSS", "num_nextn_predict_layers": 2)"));
  ASSERT_EQ(spec.mtp_layers.size(), 2u);
  EXPECT_EQ(spec.mtp_layers[1].attention[0].indexer.kind, IndexerKind::kFull);
}

std::string V4Config(const std::string& ratios) {
  return R"({"model_type": "deepseek_v4", "num_hidden_layers": 3,
      "hidden_size": 64, "num_attention_heads": 8, "head_dim": 32,
      "qk_rope_head_dim": 8, "sliding_window": 16, "index_head_dim": 8,
      "num_nextn_predict_layers": 1, "compress_ratios": )" +
         ratios + "}";
}

TEST(ModelConfigTest, CompressRatiosMayNameMtpLayersToo) {
  for (const char* ratios : {"[1, 4, 128]", "[1, 4, 128, 0]"}) {
    const ModelSpec spec = Read(V4Config(ratios));
    EXPECT_EQ(spec.layers[0].attention[0].compress_ratio, 0);  // 1 is none
    EXPECT_EQ(spec.layers[1].attention[0].indexer.kind, IndexerKind::kFull);
    EXPECT_EQ(spec.layers[2].attention[0].indexer.kind, IndexerKind::kNone);
    EXPECT_EQ(spec.mtp_layers[0].attention[0].compress_ratio, 0);
  }
  EXPECT_THAT(Error(V4Config("[0, 4]")), HasSubstr("a list of 2 entries"));
  EXPECT_THAT(Error(V4Config("[0, 4, 128, 0, 0]")),
              HasSubstr("a list of 5 entries"));
}

TEST(ModelConfigTest, GemmaSharesTheKvOfItsLastLayers) {
  const ModelSpec spec = Read(
      R"({"model_type": "gemma4_text", "num_hidden_layers": 6,
          "hidden_size": 64, "num_attention_heads": 8, "head_dim": 8,
          "global_head_dim": 16, "num_key_value_heads": 2,
          "sliding_window": 32, "num_kv_shared_layers": 3,
          "layer_types": ["sliding_attention", "full_attention",
            "sliding_attention", "sliding_attention", "full_attention",
            "sliding_attention"]})");
  const auto target = [&](int layer) {
    return spec.layers[layer].attention[0].kv_sharing_target;
  };
  EXPECT_EQ(target(2), -1);
  EXPECT_EQ(target(3), 2);  // last windowed layer with its own
  EXPECT_EQ(target(4), 1);  // last full one
  EXPECT_EQ(target(5), 1);  // the last layer is full whatever the list says
  EXPECT_EQ(spec.layers[1].attention[0].head_dim, 16);
  EXPECT_EQ(spec.layers[0].attention[0].head_dim, 8);
}

TEST(ModelConfigTest, WindowedLayersMayHaveTheirOwnHeads) {
  const ModelSpec spec = Read(
      R"({"model_type": "mimo_v2_flash", "num_hidden_layers": 2,
          "hidden_size": 64, "num_attention_heads": 8, "head_dim": 24,
          "v_head_dim": 16, "num_key_value_heads": 2, "sliding_window": 32,
          "swa_num_key_value_heads": 4, "hybrid_layer_pattern": [0, 1]})");
  const AttentionSpec& full = spec.layers[0].attention[0];
  const AttentionSpec& window = spec.layers[1].attention[0];
  EXPECT_EQ(full.kv_heads, 2);
  EXPECT_EQ(window.kv_heads, 4);
  EXPECT_EQ(window.head_dim, 24);
  EXPECT_EQ(window.head_dim_v, 16);
}

TEST(ModelConfigTest, WhisperReadsTheDecoderAndCrossAttends) {
  // num_hidden_layers counts the encoder here.
  const ModelSpec spec = Read(
      R"({"model_type": "whisper", "num_hidden_layers": 9, "d_model": 64,
          "decoder_layers": 2, "decoder_attention_heads": 4,
          "decoder_ffn_dim": 256, "max_source_positions": 1500})");
  ASSERT_EQ(spec.layers.size(), 2u);
  EXPECT_EQ(spec.layers[0].cross->kv_heads, 4);
  EXPECT_EQ(spec.layers[0].cross->head_dim, 16);
  EXPECT_EQ(spec.max_encoder_tokens, 1500);
}

TEST(ModelConfigTest, QuantizationRecords) {
  const auto read = [](const std::string& record) {
    return Read(Config("\"quantization_config\": " + record)).quantization;
  };
  EXPECT_EQ(read(R"({"quant_method": "fp8"})").weight_dtype, DType::kFp8);
  EXPECT_EQ(read(R"({"quant_method": "fp8"})").kv_cache_dtype, std::nullopt);
  EXPECT_EQ(read(R"({"quant_method": "awq", "bits": 4})").weight_dtype,
            DType::kInt4);
  EXPECT_EQ(read(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
               "kv_cache_scheme": {"num_bits": 8, "type": "float"}})")
                .kv_cache_dtype,
            DType::kFp8);
  EXPECT_EQ(read(R"({"quant_method": "compressed-tensors", "config_groups":
               {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}})")
                .weight_dtype,
            DType::kInt4);
  EXPECT_FALSE(read(R"({"quant_method": "fancy"})").weights_known);
}

TEST(ModelConfigTest, QuantizationRecordBesideTheConfig) {
  const ModelSpec spec =
      *ReadModelConfig(Config(""), "c.json", "",
                       R"({"quantization": {"quant_algo": "FP8",
                           "kv_cache_quant_algo": "FP8"}})");
  EXPECT_EQ(spec.quantization.weight_dtype, DType::kFp8);
  EXPECT_EQ(spec.quantization.kv_cache_dtype, DType::kFp8);
}

TEST(ModelConfigTest, FourBitRecordsOfMoeModelsMeanTheExperts) {
  const ModelSpec spec = Read(Config(
      R"("num_local_experts": 4, "quantization_config":
         {"quant_method": "mxfp4"})"));
  EXPECT_EQ(spec.quantization.weight_dtype, DType::kBf16);
  EXPECT_EQ(spec.quantization.expert_dtype, DType::kFp4);
}

TEST(ModelConfigTest, OverridesGoWhereTheFieldIs) {
  EXPECT_EQ(ReadModelConfig(Config(""), "c", R"({"num_hidden_layers": 5})")
                ->layers.size(),
            5u);
  const std::string nested =
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
          "num_hidden_layers": 2, "hidden_size": 64,
          "num_attention_heads": 4, "head_dim": 16}})";
  EXPECT_EQ(ReadModelConfig(nested, "c", R"({"num_hidden_layers": 5})")
                ->layers.size(),
            5u);
  const auto bad = ReadModelConfig(Config(""), "c", "[1]");
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("--hf-overrides"));
}

// Bad input. Each error names the file, the field, what was found and what
// would be accepted.

TEST(ModelConfigBadInputTest, TruncatedJsonHasLineAndColumn) {
  EXPECT_THAT(Error("{\n \"model_type\": \"llama\",\n \"num"),
              AllOf(HasSubstr("c.json: line 3, column 6"),
                    HasSubstr("not valid JSON")));
  EXPECT_THAT(Error(""), HasSubstr("line 1, column 1"));
}

TEST(ModelConfigBadInputTest, EveryTruncationIsAnError) {
  const std::string whole = Config("\"torch_dtype\": \"bfloat16\"");
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ReadModelConfig(whole.substr(0, length), "c.json").ok());
  }
}

TEST(ModelConfigBadInputTest, NotUtf8) {
  EXPECT_THAT(Error("{\"model_type\": \"\xff\xfe\"}"),
              HasSubstr("not valid JSON"));
}

TEST(ModelConfigBadInputTest, NotAnObject) {
  EXPECT_THAT(Error("[1, 2]"), HasSubstr("found a list of 2 entries"));
  EXPECT_THAT(Error("3"), HasSubstr("found 3"));
}

TEST(ModelConfigBadInputTest, DeepNestingIsNoCrash) {
  const std::string deep(200'000, '[');
  EXPECT_THAT(Error("{\"a\": " + deep), HasSubstr("not valid JSON"));
  EXPECT_THAT(
      Error("{\"model_type\": " + deep + std::string(200'000, ']') + "}"),
      HasSubstr("model_type is a list of 1 entries"));
}

TEST(ModelConfigBadInputTest, WrongTypes) {
  EXPECT_THAT(Error(Config(R"("num_hidden_layers": "two")")),
              AllOf(HasSubstr("field num_hidden_layers is \"two\""),
                    HasSubstr("an integer from 1 to 16777216")));
  EXPECT_THAT(Error(Config(R"("num_hidden_layers": true)")),
              HasSubstr("num_hidden_layers is true"));
  EXPECT_THAT(Error(Config(R"("hidden_size": {})")),
              HasSubstr("hidden_size is an object"));
  EXPECT_THAT(Error(Config(R"("layer_types": "full_attention")")),
              HasSubstr("a list of strings"));
  EXPECT_THAT(Error(Config(R"("layer_types": [1, 2])")),
              HasSubstr("layer_types[0] is 1"));
  EXPECT_THAT(Error(Config(R"("tie_word_embeddings": 1)")),
              HasSubstr("true or false"));
  EXPECT_THAT(Error(Config(R"("torch_dtype": "float7")")),
              HasSubstr("torch_dtype is \"float7\""));
  EXPECT_THAT(Error(Config(R"("quantization_config": 3)")),
              HasSubstr("quantization_config is 3"));
}

TEST(ModelConfigBadInputTest, NumbersOutOfRange) {
  for (const char* value :
       {"-1", "0", "-0.5", "1.5", "1e300", "9223372036854775808",
        "18446744073709551616", "-9223372036854775808", "16777217"}) {
    const std::string error =
        Error(Config("\"num_attention_heads\": " + std::string(value)));
    EXPECT_THAT(error, HasSubstr("field num_attention_heads is")) << value;
  }
  EXPECT_THAT(Error(Config("\"hidden_size\": NaN")),
              HasSubstr("not valid JSON"));
}

TEST(ModelConfigBadInputTest, NumberBeyondADouble) {
  EXPECT_THAT(Error(Config("\"hidden_size\": 1e999")),
              AllOf(HasSubstr("c.json"), HasSubstr("1e999")));
}

TEST(ModelConfigBadInputTest, TooManyLayers) {
  EXPECT_THAT(Error(Config(R"("num_hidden_layers": 16000000)")),
              AllOf(HasSubstr("num_hidden_layers is 16000000"),
                    HasSubstr("1 to 4096")));
}

TEST(ModelConfigBadInputTest, WindowZero) {
  EXPECT_THAT(Error(R"({"model_type": "mistral", "num_hidden_layers": 1,
                "hidden_size": 64, "num_attention_heads": 8,
                "sliding_window": 0})"),
              AllOf(HasSubstr("sliding_window is 0"), HasSubstr("from 1")));
}

TEST(ModelConfigBadInputTest, HeadsThatDoNotDivide) {
  EXPECT_THAT(Error(Config(R"("num_key_value_heads": 3)")),
              AllOf(HasSubstr("num_key_value_heads is 3"),
                    HasSubstr("a divisor of the 8")));
  EXPECT_THAT(Error(Config(R"("hidden_size": 65)")),
              AllOf(HasSubstr("head_dim is missing"), HasSubstr("(65)"),
                    HasSubstr("(8)")));
}

TEST(ModelConfigBadInputTest, MissingFields) {
  EXPECT_THAT(Error(R"({"model_type": "llama"})"),
              HasSubstr("field hidden_size is missing"));
  EXPECT_THAT(Error(Config(R"("num_hidden_layers": null)")),
              HasSubstr("is missing"));
  EXPECT_THAT(Error(R"({"model_type": "deepseek_v3", "num_hidden_layers": 1,
                        "hidden_size": 64, "num_attention_heads": 8})"),
              HasSubstr("kv_lora_rank is missing"));
  EXPECT_THAT(Error(R"({"model_type": "kimi_linear", "num_hidden_layers": 1,
                        "hidden_size": 64, "num_attention_heads": 8,
                        "kv_lora_rank": 8})"),
              HasSubstr("linear_attn_config is missing"));
}

TEST(ModelConfigBadInputTest, LayerTypesOfTheWrongLength) {
  EXPECT_THAT(Error(Config(R"("layer_types": ["full_attention"])")),
              AllOf(HasSubstr("layer_types is a list of 1 entries"),
                    HasSubstr("2 entries, one for each of the 2 layers")));
  EXPECT_THAT(
      Error(Config(R"("layer_types": ["full_attention", "full_attention",
                      "full_attention"])")),
      HasSubstr("layer_types is a list of 3 entries"));
}

TEST(ModelConfigBadInputTest, UnknownLayerType) {
  EXPECT_THAT(
      Error(Config(R"("layer_types": ["full_attention", "magic"])")),
      AllOf(HasSubstr("entry 1 is \"magic\""), HasSubstr("sliding_attention")));
  EXPECT_THAT(Error(Config(R"("layer_types": ["full_attention",
                      "linear_attention"])")),
              HasSubstr("no linear_attention for model_type llama"));
}

TEST(ModelConfigBadInputTest, UnknownFamilyListsTheTable) {
  EXPECT_THAT(Error(R"({"model_type": "perceptron"})"),
              AllOf(HasSubstr("c.json: field model_type is \"perceptron\""),
                    HasSubstr("accepted: llama, mistral")));
  EXPECT_THAT(Error("{}"), HasSubstr("field model_type is \"\""));
}

}  // namespace
}  // namespace kvsim
