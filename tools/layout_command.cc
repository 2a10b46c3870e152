#include "tools/layout_command.h"

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "models/kv_cache_dtype.h"
#include "models/model_loader.h"
#include "tools/layout_report.h"
#include "tools/version.h"

namespace kvsim {
namespace {

struct LayoutFlags {
  std::string model;
  std::string context;
  std::string kv_cache_dtype = "auto";
  std::string index_key_dtype;
  std::string index_key_heads;
  std::string state_dtype;
  std::string conv_state_dtype;
  std::string encoder_tokens;
  std::string speculative_tokens;
  std::string hf_overrides;
  std::string assume;
  bool as_article = false;
  bool mtp = false;
  bool index_keys_on_shared_layers = false;
  bool json = false;
};

absl::Status AtFlag(absl::string_view flag, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(flag, ": ", status.message()));
}

absl::StatusOr<Tokens> ReadTokens(absl::string_view flag,
                                  absl::string_view text) {
  const absl::StatusOr<Tokens> tokens = ParseTokens(text);
  if (!tokens.ok()) return AtFlag(flag, tokens.status());
  if (*tokens < Tokens(0) || *tokens > kMaxLayoutTokens) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " is ", text, "; accepted: 0 to ",
                     FormatCount(kMaxLayoutTokens.value()), " tokens"));
  }
  return *tokens;
}

absl::StatusOr<std::optional<int64_t>> ReadCount(absl::string_view flag,
                                                 absl::string_view text) {
  if (text.empty()) return std::optional<int64_t>();
  const absl::StatusOr<int64_t> count = ParseCount(text);
  if (!count.ok()) return AtFlag(flag, count.status());
  return std::optional<int64_t>(*count);
}

absl::StatusOr<std::optional<DType>> ReadDType(absl::string_view flag,
                                               absl::string_view text,
                                               absl::string_view accepted) {
  if (text.empty()) return std::optional<DType>();
  const std::optional<DType> dtype = ParseDType(text);
  if (dtype) return dtype;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is \"", text, "\"; accepted: ", accepted));
}

absl::StatusOr<LayoutOptions> ReadOptions(const LayoutFlags& flags) {
  LayoutOptions options;
  const auto format = ParseKvCacheDtype(flags.kv_cache_dtype);
  if (!format.ok()) return AtFlag("--kv-cache-dtype", format.status());
  const auto index = ReadDType("--index-key-dtype", flags.index_key_dtype,
                               "fp8, fp4, int8, bf16, fp16, fp32");
  if (!index.ok()) return index.status();
  const auto state = ReadDType("--mamba-ssm-cache-dtype", flags.state_dtype,
                               "float32, bfloat16, float16");
  if (!state.ok()) return state.status();
  const auto convolution =
      ReadDType("--mamba-cache-dtype", flags.conv_state_dtype,
                "float32, bfloat16, float16");
  if (!convolution.ok()) return convolution.status();
  const auto heads = ReadCount("--index-key-heads", flags.index_key_heads);
  if (!heads.ok()) return heads.status();
  const auto speculative =
      ReadCount("--num-speculative-tokens", flags.speculative_tokens);
  if (!speculative.ok()) return speculative.status();
  options.kv_cache_dtype = *format;
  options.index_key_dtype = *index;
  options.state_dtype = *state;
  options.conv_state_dtype = *convolution;
  options.index_key_heads = *heads;
  options.speculative_tokens = speculative->value_or(0);
  options.as_article = flags.as_article;
  options.mtp_layers = flags.mtp;
  options.index_keys_on_shared_layers = flags.index_keys_on_shared_layers;
  return options;
}

// Without --context: the model's own length, or 128K where it has none.
absl::StatusOr<std::vector<SequenceLength>> ReadContexts(
    const LayoutFlags& flags, const ModelSpec& spec) {
  std::vector<SequenceLength> contexts;
  std::string text = flags.context;
  if (text.empty()) {
    text = spec.max_position_embeddings > 0
               ? absl::StrCat(spec.max_position_embeddings)
               : "128K";
  }
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<Tokens> tokens = ReadTokens("--context", part);
    if (!tokens.ok()) return tokens.status();
    SequenceLength length;
    length.tokens = *tokens;
    length.encoder_tokens = Tokens(spec.max_encoder_tokens);
    contexts.push_back(length);
  }
  return contexts;
}

absl::Status Layout(const LayoutFlags& flags, CommandContext& context) {
  LayoutReport report;
  const absl::StatusOr<LayoutOptions> options = ReadOptions(flags);
  if (!options.ok()) return options.status();
  const auto assume = ParseAssumedAttention(flags.assume);
  if (!assume.ok()) return assume.status();
  absl::StatusOr<ModelSpec> spec =
      LoadModel(flags.model, flags.hf_overrides, *assume);
  if (!spec.ok()) return spec.status();
  if (!flags.encoder_tokens.empty()) {
    const absl::StatusOr<Tokens> tokens =
        ReadTokens("--encoder-tokens", flags.encoder_tokens);
    if (!tokens.ok()) return tokens.status();
    spec->max_encoder_tokens = tokens->value();
  }
  absl::StatusOr<std::vector<SequenceLength>> contexts =
      ReadContexts(flags, *spec);
  if (!contexts.ok()) return contexts.status();
  report.spec = *std::move(spec);
  report.options = *options;
  report.contexts = *std::move(contexts);
  report.units = context.units;
  report.version = kVersion;
  report.command_line = context.command_line;
  const absl::Status status = CompleteLayoutReport(report);
  if (!status.ok()) return status;
  *context.out << (flags.json ? LayoutReportJson(report)
                              : LayoutReportText(report));
  return absl::OkStatus();
}

}  // namespace

void AddLayoutCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<LayoutFlags>();
  CLI::App* command = AddCommand(
      app, context, "layout",
      "What each layer of a model stores, per token and at given lengths.",
      ServeArguments::kRefused,
      [flags, &context] { return Layout(*flags, context); });
  command
      ->add_option("--model", flags->model,
                   "Catalogue name, config.json, or a folder that holds one.")
      ->required();
  command->add_option("--context", flags->context,
                      "Lengths in tokens: 131072,1048576 or 128K,1M. "
                      "[the model's own]");
  command->add_option("--kv-cache-dtype", flags->kv_cache_dtype,
                      "As engines spell it: auto, bfloat16, fp8, fp8_ds_mla, "
                      "nvfp4, int8_per_token_head, q8_0 ... [auto]");
  command->add_option("--index-key-heads", flags->index_key_heads,
                      "Index keys per token. [1, as engines store]");
  command->add_option("--index-key-dtype", flags->index_key_dtype,
                      "fp8, fp4, int8, bf16, fp16 or fp32. [fp8]");
  command->add_option("--mamba-ssm-cache-dtype", flags->state_dtype,
                      "Recurrent state: float32, bfloat16, float16.");
  command->add_option("--mamba-cache-dtype", flags->conv_state_dtype,
                      "Convolution states, and recurrent ones that nothing "
                      "else names: float32, bfloat16, float16.");
  command->add_option("--encoder-tokens", flags->encoder_tokens,
                      "Encoder length of an encoder-decoder model.");
  command->add_option("--num-speculative-tokens", flags->speculative_tokens,
                      "Draft tokens a convolution state must hold. [0]");
  command->add_option("--hf-overrides", flags->hf_overrides,
                      "JSON object merged into the config.");
  command->add_option("--assume", flags->assume,
                      "How to read a family kvsim does not know: gqa or mla.");
  command->add_flag("--as-article", flags->as_article,
                    "The articles' assumptions instead of the engines'.");
  command->add_flag("--mtp", flags->mtp,
                    "Count multi-token-prediction layers.");
  command->add_flag("--index-keys-on-shared-layers",
                    flags->index_keys_on_shared_layers,
                    "Index keys also where the indexer is shared (SGLang).");
  command->add_flag("--json", flags->json, "One JSON object on stdout.");
}

}  // namespace kvsim
