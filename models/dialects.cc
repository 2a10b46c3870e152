#include "models/dialects.h"

namespace kvsim {
namespace {

constexpr AttentionFamily kHeads = AttentionFamily::kHeads;
constexpr AttentionFamily kMla = AttentionFamily::kMla;
constexpr AttentionFamily kCompressed = AttentionFamily::kCompressed;
constexpr LayerPattern kUniform = LayerPattern::kUniform;
constexpr LayerPattern kWindowEverywhere = LayerPattern::kWindowEverywhere;
constexpr LayerPattern kWindowIfEnabled = LayerPattern::kWindowIfEnabled;
constexpr LayerPattern kAlternating = LayerPattern::kAlternating;
constexpr LayerPattern kEveryNthFull = LayerPattern::kEveryNthFull;
constexpr LayerPattern kIntervalFull = LayerPattern::kIntervalFull;
constexpr LayerPattern kKdaLists = LayerPattern::kKdaLists;
constexpr LayerPattern kChunkedRope = LayerPattern::kChunkedRope;
constexpr LayerPattern kHybridBits = LayerPattern::kHybridBits;
constexpr std::nullopt_t kNoLinear = std::nullopt;
constexpr RecurrentKind kGdn = RecurrentKind::kGatedDeltaNet;
constexpr RecurrentKind kKda = RecurrentKind::kKda;

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
     kTiedByDefault | kFourNorms | kQkNorm},

    // Latents, with and without a sparse indexer.
    {"deepseek_v2", "DeepseekV2ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"deepseek_v3", "DeepseekV3ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"kimi_k2", "KimiK2ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"glm4_moe_lite", "Glm4MoeLiteForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"deepseek_v32", "DeepseekV32ForCausalLM", kMla, kUniform, 0, kNoLinear},
    {"glm_moe_dsa", "GlmMoeDsaForCausalLM", kMla, kUniform, 0, kNoLinear},

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

    // Encoder and decoder.
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
