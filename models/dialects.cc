#include "models/dialects.h"

namespace kvsim {
namespace {

constexpr AttentionFamily kHeads = AttentionFamily::kHeads;
constexpr AttentionFamily kMla = AttentionFamily::kMla;
constexpr AttentionFamily kMlaIfRanked = AttentionFamily::kMlaIfRanked;
constexpr AttentionFamily kCompressed = AttentionFamily::kCompressed;
constexpr LayerPattern kUniform = LayerPattern::kUniform;
constexpr LayerPattern kLayerTypesOnly = LayerPattern::kLayerTypesOnly;
constexpr LayerPattern kWindowEverywhere = LayerPattern::kWindowEverywhere;
constexpr LayerPattern kWindowIfEnabled = LayerPattern::kWindowIfEnabled;
constexpr LayerPattern kAlternating = LayerPattern::kAlternating;
constexpr LayerPattern kEveryNthFull = LayerPattern::kEveryNthFull;
constexpr LayerPattern kIntervalFull = LayerPattern::kIntervalFull;
constexpr LayerPattern kKdaLists = LayerPattern::kKdaLists;
constexpr LayerPattern kChunkedRope = LayerPattern::kChunkedRope;
constexpr LayerPattern kHybridBits = LayerPattern::kHybridBits;
constexpr LayerPattern kLinearEverywhere = LayerPattern::kLinearEverywhere;
constexpr LayerPattern kHybridEverywhere = LayerPattern::kHybridEverywhere;
constexpr LayerPattern kGroupTail = LayerPattern::kGroupTail;
constexpr LayerPattern kAttnTypeList = LayerPattern::kAttnTypeList;
constexpr LayerPattern kPeriodOffset = LayerPattern::kPeriodOffset;
constexpr LayerPattern kIndexList = LayerPattern::kIndexList;
constexpr LayerPattern kLayerLetters = LayerPattern::kLayerLetters;
constexpr LayerPattern kLocalIds = LayerPattern::kLocalIds;
constexpr LayerPattern kSparseBits = LayerPattern::kSparseBits;
constexpr LayerPattern kBlockConfigs = LayerPattern::kBlockConfigs;
constexpr LayerPattern kBlockTypes = LayerPattern::kBlockTypes;
constexpr std::nullopt_t kNoLinear = std::nullopt;
constexpr RecurrentKind kGdn = RecurrentKind::kGatedDeltaNet;
constexpr RecurrentKind kKda = RecurrentKind::kKda;
constexpr RecurrentKind kMamba1 = RecurrentKind::kMamba1;
constexpr RecurrentKind kMamba2 = RecurrentKind::kMamba2;
constexpr RecurrentKind kLightning = RecurrentKind::kLightning;
constexpr RecurrentKind kShortConv = RecurrentKind::kShortConv;
constexpr RecurrentKind kRgLru = RecurrentKind::kRgLru;
constexpr RecurrentKind kRwkv7 = RecurrentKind::kRwkv7;

// GPT-2 and its contemporaries: two matrices, biases, one table of tokens.
constexpr uint32_t kEarlyGpt = kQkvBias | kBiasOnOutput | kPlainMlp |
                               kTiedByDefault | kFp32ByDefault | kWideFfn;

// clang-format off
constexpr Dialect kDialects[] = {
    // Dense heads, every layer alike.
    {"llama", "LlamaForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kBiasOnOutput},
    {"mistral", "MistralForCausalLM", kHeads, kWindowEverywhere, 0, kNoLinear},
    {"mixtral", "MixtralForCausalLM", kHeads, kWindowEverywhere, 0, kNoLinear},
    {"phi3", "Phi3ForCausalLM", kHeads, kWindowEverywhere, 0, kNoLinear},
    {"starcoder2", "Starcoder2ForCausalLM", kHeads, kWindowEverywhere, 0,
     kNoLinear, kQkvBias | kPlainMlp | kTiedByDefault},
    {"seed_oss", "SeedOssForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"mimo", "MiMoForCausalLM", kHeads, kWindowIfEnabled, 0, kNoLinear,
     kQkvBias},
    {"qwen2", "Qwen2ForCausalLM", kHeads, kWindowIfEnabled, 0, kNoLinear,
     kQkvBias},
    {"qwen3", "Qwen3ForCausalLM", kHeads, kWindowIfEnabled, 0, kNoLinear,
     kQkNorm},
    {"qwen3_moe", "Qwen3MoeForCausalLM", kHeads, kWindowIfEnabled, 0,
     kNoLinear, kQkNorm},
    {"qwen3_vl_moe_text", "Qwen3VLMoeForConditionalGeneration", kHeads,
     kUniform, 0, kNoLinear, kQkNorm},
    {"glm4_moe", "Glm4MoeForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"minimax_m2", "MiniMaxM2ForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"gemma", "GemmaForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kTiedByDefault},
    {"qwen2_moe", "Qwen2MoeForCausalLM", kHeads, kWindowIfEnabled, 0,
     kNoLinear, kQkvBias},
    {"qwen3_vl_text", "Qwen3VLForConditionalGeneration", kHeads, kUniform, 0,
     kNoLinear, kQkNorm},
    {"olmo2", "Olmo2ForCausalLM", kHeads, kUniform, 0, kNoLinear, kQkNorm},
    {"granite", "GraniteForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"qwen2_vl_text", "Qwen2VLForConditionalGeneration", kHeads,
     kWindowIfEnabled, 0, kNoLinear, kQkvBias},
    {"qwen2_5_vl_text", "Qwen2_5_VLForConditionalGeneration", kHeads,
     kWindowIfEnabled, 0, kNoLinear, kQkvBias},
    {"olmo", "OlmoForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"olmoe", "OlmoeForCausalLM", kHeads, kUniform, 0, kNoLinear, kQkNorm},
    {"granitemoe", "GraniteMoeForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"glm4", "Glm4ForCausalLM", kHeads, kUniform, 0, kNoLinear, kFourNorms},
    {"smollm3", "SmolLM3ForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kTiedByDefault},
    {"nemotron", "NemotronForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kPlainMlp},
    {"internlm2", "InternLM2ForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"ernie4_5", "Ernie4_5ForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kTiedByDefault},
    {"bailing_moe_v2", "BailingMoeV2ForCausalLM", kHeads, kUniform, 0,
     kNoLinear, kQkNorm},
    {"gpt_neox", "GPTNeoXForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kQkvBias | kBiasOnOutput | kPlainMlp},
    {"cohere", "CohereForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kTiedByDefault | kOneNorm},
    {"arcee", "ArceeForCausalLM", kHeads, kUniform, 0, kNoLinear, kPlainMlp},
    {"hunyuan", "HunYuanMoEV1ForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kTiedByDefault | kQkNorm},
    {"hy_v3", "HYV3ForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kQkNorm | kFirstDense},
    {"chatglm", "ChatGLMModel", kHeads, kUniform, 0, kNoLinear},
    {"qwen3_omni_moe_text", "Qwen3OmniMoeThinkerTextModel", kHeads, kUniform, 0,
     kNoLinear, kQkNorm},
    {"step3_text", "Step3TextForCausalLM", kHeads, kUniform, 0, kNoLinear},
    {"gpt2", "GPT2LMHeadModel", kHeads, kUniform, 0, kNoLinear, kEarlyGpt},
    {"bloom", "BloomForCausalLM", kHeads, kUniform, 0, kNoLinear, kEarlyGpt},
    {"gpt_bigcode", "GPTBigCodeForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kEarlyGpt | kMultiQuery},
    {"falcon", "FalconForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kPlainMlp | kTiedByDefault | kWideFfn | kMultiQuery | kOneNorm},
    {"RefinedWeb", "RWForCausalLM", kHeads, kUniform, 0, kNoLinear,
     kPlainMlp | kTiedByDefault | kWideFfn | kMultiQuery | kOneNorm},

    // Windows and chunks beside full layers.
    {"gpt_oss", "GptOssForCausalLM", kHeads, kAlternating, 0, kNoLinear,
     kQkvBias | kBiasOnOutput | kSinkLogits | kExpertBias},
    {"gemma2", "Gemma2ForCausalLM", kHeads, kAlternating, 0, kNoLinear,
     kTiedByDefault | kFourNorms},
    {"gemma3_text", "Gemma3ForCausalLM", kHeads, kEveryNthFull, 6, kNoLinear,
     kTiedByDefault | kFourNorms | kQkNorm},
    {"gemma3", "Gemma3ForConditionalGeneration", kHeads, kEveryNthFull, 6,
     kNoLinear, kTiedByDefault | kFourNorms | kQkNorm},
    {"olmo3", "Olmo3ForCausalLM", kHeads, kEveryNthFull, 4, kNoLinear,
     kQkNorm},
    {"exaone4", "Exaone4ForCausalLM", kHeads, kEveryNthFull, 4, kNoLinear,
     kQkNorm},
    {"cohere2", "Cohere2ForCausalLM", kHeads, kEveryNthFull, 4, kNoLinear,
     kTiedByDefault},
    {"llama4_text", "Llama4ForCausalLM", kHeads, kChunkedRope, 4, kNoLinear,
     kSharedExpert},
    {"mimo_v2_flash", "MiMoV2FlashForCausalLM", kHeads, kHybridBits, 0,
     kNoLinear},
    {"gemma4_text", "Gemma4ForCausalLM", kHeads, kEveryNthFull, 6, kNoLinear,
     kTiedByDefault | kFourNorms | kQkNorm | kLastLayerFull |
         kDenseBesideExperts},
    {"gemma3n_text", "Gemma3nForCausalLM", kHeads, kEveryNthFull, 5, kNoLinear,
     kTiedByDefault | kFourNorms | kQkNorm},
    {"laguna", "LagunaForCausalLM", kHeads, kLayerTypesOnly, 0, kNoLinear,
     kQkNorm},
    {"muse_glimmer_text", "MuseGlimmerForConditionalGeneration", kHeads,
     kEveryNthFull, 4, kNoLinear},
    {"step3p5", "Step3p5ForCausalLM", kHeads, kLayerTypesOnly, 0, kNoLinear,
     kQkNorm},
    {"step3p7", "Step3p7FlashForCausalLM", kHeads, kLayerTypesOnly, 0,
     kNoLinear, kQkNorm},
    {"afmoe", "AfmoeForCausalLM", kHeads, kEveryNthFull, 4, kNoLinear,
     kFourNorms | kQkNorm},
    {"inkling_text", "InklingForConditionalGeneration", kHeads, kLocalIds, 0,
     kNoLinear, kQkNorm},

    // Every layer on its own; some without attention.
    {"nemotron-nas", "DeciLMForCausalLM", kHeads, kBlockConfigs, 0, kNoLinear},

    // K and V everywhere, index keys on some layers.
    {"minimax_m3", "MiniMaxM3ForCausalLM", kHeads, kSparseBits, 0, kNoLinear,
     kQkNorm},
    {"minimax_m3_vl", "MiniMaxM3SparseForCausalLM", kHeads, kSparseBits, 0,
     kNoLinear, kQkNorm},

    // Latents, with and without a sparse indexer.
    {"deepseek_v2", "DeepseekV2ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"deepseek_v3", "DeepseekV3ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"minicpm3", "MiniCPM3ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"kimi_k2", "KimiK2ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"glm4_moe_lite", "Glm4MoeLiteForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"deepseek_v32", "DeepseekV32ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"glm_moe_dsa", "GlmMoeDsaForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"hy_v4", "HYV4ForCausalLM", kMla, kUniform, 0, kNoLinear, kNoTraits, 4},
    {"longcat_flash", "LongcatFlashForCausalLM", kMla, kUniform, 0, kNoLinear,
     kTwoAttentions},

    // Compressed rows.
    {"deepseek_v4", "DeepseekV4ForCausalLM", kCompressed, kUniform, 0,
     kNoLinear},

    // Recurrent layers beside full ones.
    {"kimi_linear", "KimiLinearForCausalLM", kMla, kKdaLists, 0, kKda},
    {"qwen3_next", "Qwen3NextForCausalLM", kHeads, kIntervalFull, 4, kGdn,
     kQkNorm | kOutputGate},
    {"qwen3_5_text", "Qwen3_5ForCausalLM", kHeads, kIntervalFull, 4, kGdn,
     kQkNorm | kOutputGate},
    {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", kHeads, kIntervalFull, 4,
     kGdn, kQkNorm | kOutputGate},
    {"qwen4_exp_text", "Qwen4ExpForConditionalGeneration", kHeads,
     kIntervalFull, 4, kGdn, kQkNorm | kOutputGate},
    {"glm5_next_text", "Glm5NextForConditionalGeneration", kMla, kKdaLists, 0,
     kKda},
    {"minimax_m1", "MiniMaxM1ForCausalLM", kHeads, kAttnTypeList, 0,
     kLightning},
    {"minimax_text_01", "MiniMaxText01ForCausalLM", kHeads, kAttnTypeList, 0,
     kLightning},
    {"minimax", "MiniMaxForCausalLM", kHeads, kAttnTypeList, 0, kLightning},
    {"bailing_hybrid", "BailingMoeV2_5ForCausalLM", kMlaIfRanked, kGroupTail, 1,
     kLightning},
    {"bailing_moe_linear", "BailingMoeLinearV2ForCausalLM", kMlaIfRanked,
     kGroupTail, 1, kLightning},
    {"jamba", "JambaForCausalLM", kHeads, kPeriodOffset, 8, kMamba1},
    {"bamba", "BambaForCausalLM", kHeads, kIndexList, 0, kMamba2},
    {"granitemoehybrid", "GraniteMoeHybridForCausalLM", kHeads, kIndexList, 0,
     kMamba2, kTiedByDefault},
    {"falcon_h1", "FalconH1ForCausalLM", kHeads, kHybridEverywhere, 0, kMamba2},
    {"nemotron_h", "NemotronHForCausalLM", kHeads, kLayerLetters, 0, kMamba2,
     kPlainMlp | kSplitLayers},
    {"zamba2", "Zamba2ForCausalLM", kHeads, kLayerLetters, 0, kMamba2,
     kTiedByDefault},
    {"lfm2", "Lfm2ForCausalLM", kHeads, kIndexList, 0, kShortConv,
     kTiedByDefault | kQkNorm},
    {"lfm2_moe", "Lfm2MoeForCausalLM", kHeads, kIndexList, 0, kShortConv,
     kTiedByDefault | kQkNorm},
    {"recurrent_gemma", "RecurrentGemmaForCausalLM", kHeads, kBlockTypes, 0,
     kRgLru, kTiedByDefault},
    {"mamba", "MambaForCausalLM", kHeads, kLinearEverywhere, 0, kMamba1,
     kTiedByDefault | kNoFfn | kOneNorm},
    {"falcon_mamba", "FalconMambaForCausalLM", kHeads, kLinearEverywhere, 0,
     kMamba1, kNoFfn | kOneNorm},
    {"mamba2", "Mamba2ForCausalLM", kHeads, kLinearEverywhere, 0, kMamba2,
     kNoFfn | kOneNorm},
    {"rwkv7", "RWKV7ForCausalLM", kHeads, kLinearEverywhere, 0, kRwkv7,
     kPlainMlp | kWideFfn},

    // Encoders.
    {"bert", "BertModel", kHeads, kUniform, 0, kNoLinear,
     kEarlyGpt | kEncoder},

    // Encoder and decoder.
    {"t5", "T5ForConditionalGeneration", kHeads, kUniform, 0, kNoLinear,
     kPlainMlp | kTiedByDefault | kFp32ByDefault | kCrossAttention},
    {"whisper", "WhisperForConditionalGeneration", kHeads, kUniform, 0,
     kNoLinear,
     kQkvBias | kBiasOnOutput | kPlainMlp | kTiedByDefault | kCrossAttention},
};
// clang-format on

}  // namespace

std::span<const Dialect> AllDialects() { return kDialects; }

const Dialect* FindDialect(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const Dialect& dialect : kDialects) {
      if (dialect.model_type == name || dialect.architecture == name) {
        return &dialect;
      }
    }
  }
  return nullptr;
}

}  // namespace kvsim
