#include "engines/vllm/serve_arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kvsim::vllm {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostCount = int64_t{1} << 50;

struct Suffix {
  char letter;
  int64_t factor;
};
constexpr Suffix kSuffixes[] = {
    {'k', 1000},
    {'m', 1000000},
    {'g', 1000000000},
    {'t', 1000000000000},
    {'K', int64_t{1} << 10},
    {'M', int64_t{1} << 20},
    {'G', int64_t{1} << 30},
    {'T', int64_t{1} << 40},
};

absl::Status NotACount() {
  return absl::InvalidArgumentError(
      "expected a count such as 32768, 32k (32,000) or 32K (32,768)");
}

absl::StatusOr<int64_t> ParseInteger(absl::string_view text) {
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value) && std::abs(value) <= kMostCount) {
    return value;
  }
  return absl::InvalidArgumentError("expected an integer");
}

absl::StatusOr<double> ParseNumber(absl::string_view text) {
  double value = 0;
  if (absl::SimpleAtod(text, &value) && std::isfinite(value)) return value;
  return absl::InvalidArgumentError("expected a number");
}

// "auto" leaves the field alone.
absl::StatusOr<std::optional<DType>> ParseAutoDType(absl::string_view text) {
  if (text == "auto") return std::optional<DType>();
  const std::optional<DType> dtype = ParseDType(text);
  if (dtype.has_value() && BitsPerElement(*dtype) >= 16) return dtype;
  return absl::InvalidArgumentError(
      "accepted: auto, bfloat16, float16, half, float32, float");
}

absl::StatusOr<Platform> ParseDevice(absl::string_view text) {
  if (text == "auto" || text == "cuda") return Platform::kCuda;
  if (text == "xpu") return Platform::kXpu;
  if (text == "tpu") return Platform::kTpu;
  if (text == "npu") return Platform::kAscend;
  return absl::InvalidArgumentError("accepted: auto, cuda, xpu, tpu, npu");
}

// Reads one flag after the other and keeps the first error.
class Reader {
 public:
  explicit Reader(const ServeCommand& command) : command_(command) {}

  const absl::Status& status() const { return status_; }

  // Leaves *out alone when the flag is not given or an error came before.
  template <typename T, typename Out>
  void Read(absl::string_view name,
            absl::StatusOr<T> (*parse)(absl::string_view), Out* out) {
    const GivenFlag* given = command_.Find(name);
    if (given == nullptr || !status_.ok()) return;
    absl::StatusOr<T> value = parse(given->values[0]);
    if (value.ok()) {
      *out = Out(*std::move(value));
    } else {
      status_ = given->Refuse(value.status().message());
    }
  }

  // The same for counts that must be positive.
  template <typename Out>
  void ReadPositive(absl::string_view name,
                    absl::StatusOr<int64_t> (*parse)(absl::string_view),
                    Out* out) {
    std::optional<int64_t> count;
    Read(name, parse, &count);
    if (!count.has_value() || !status_.ok()) return;
    if (*count > 0) {
      *out = Convert(*count, out);
    } else {
      status_ = command_.Find(name)->Refuse("must be positive");
    }
  }

  // A JSON object; null when the flag is not given.
  Json ReadObject(absl::string_view name) {
    const GivenFlag* given = command_.Find(name);
    if (given == nullptr || !status_.ok()) return Json();
    Json json = Json::parse(given->values[0], nullptr,
                            /*allow_exceptions=*/false);
    if (!json.is_object()) {
      status_ = given->Refuse("expected a JSON object");
      return Json();
    }
    return json;
  }

  void Fail(absl::string_view name, absl::string_view problem) {
    if (status_.ok()) status_ = command_.Find(name)->Refuse(problem);
  }

 private:
  static int64_t Convert(int64_t count, int64_t*) { return count; }
  static std::optional<int64_t> Convert(int64_t count,
                                        std::optional<int64_t>*) {
    return count;
  }
  template <typename Unit>
  static Unit Convert(int64_t count, std::optional<Unit>*) {
    return Unit(count);
  }

  const ServeCommand& command_;
  absl::Status status_;
};

absl::StatusOr<bool> IsAuto(absl::string_view text) {
  return text == "auto" || text == "-1";
}

void ReadLength(const ServeCommand& command, Reader& reader,
                CapacityQuestion& question) {
  bool is_auto = false;
  reader.Read("--max-model-len", IsAuto, &is_auto);
  if (is_auto) {
    question.fit_max_model_len = true;
  } else {
    reader.ReadPositive("--max-model-len", ParseHumanCount,
                        &question.max_model_len);
  }
  reader.ReadPositive("--max-num-batched-tokens", ParseHumanCount,
                      &question.max_num_batched_tokens);
  reader.ReadPositive("--max-num-seqs", ParseHumanCount,
                      &question.max_num_seqs);
  question.chunked_prefill =
      command.IsOn("--enable-chunked-prefill", question.chunked_prefill);
  question.async_scheduling =
      command.IsOn("--async-scheduling", question.async_scheduling);
}

void ReadParallel(Reader& reader, CapacityQuestion& question) {
  std::optional<int64_t> data;
  reader.ReadPositive("--tensor-parallel-size", ParseInteger, &question.tensor);
  reader.ReadPositive("--pipeline-parallel-size", ParseInteger,
                      &question.pipeline);
  reader.ReadPositive("--decode-context-parallel-size", ParseInteger,
                      &question.decode_context);
  reader.ReadPositive("--prefill-context-parallel-size", ParseInteger,
                      &question.prefill_context);
  reader.ReadPositive("--data-parallel-size", ParseInteger, &data);
  if (!question.tensor.has_value()) question.tensor = 1;
  if (data.has_value()) {
    constexpr int64_t kMost = 65536;
    const int64_t sizes[] = {*question.tensor, question.pipeline,
                             question.prefill_context, *data};
    int64_t gpus = 1;
    for (int64_t size : sizes)
      gpus = std::min(gpus * std::min(size, kMost), kMost + 1);
    question.num_gpus = gpus;
  }
}

void ReadCache(const ServeCommand& command, Reader& reader,
               CapacityQuestion& question) {
  reader.ReadPositive("--block-size", ParseInteger, &question.block_size);
  reader.Read("--kv-cache-dtype", ParseKvCacheDtype, &question.kv_cache_dtype);
  reader.Read("--dtype", ParseAutoDType, &question.dtype);
  reader.Read("--gpu-memory-utilization", ParseNumber,
              &question.gpu_memory_utilization);
  reader.ReadPositive("--kv-cache-memory-bytes", ParseHumanCount,
                      &question.kv_memory);
  reader.ReadPositive("--num-gpu-blocks-override", ParseInteger,
                      &question.num_gpu_blocks);
  double swap_gib = -1;
  reader.Read("--swap-space", ParseNumber, &swap_gib);
  if (swap_gib >= 0 && swap_gib <= 1e6) {
    question.swap_space =
        Bytes(static_cast<int64_t>(std::llround(swap_gib * 0x1p30)));
  }
  if (command.Find("--enable-prefix-caching") != nullptr) {
    question.prefix_caching = command.IsOn("--enable-prefix-caching", true);
  }
  if (command.Find("--disable-hybrid-kv-cache-manager") != nullptr) {
    question.hybrid_manager =
        !command.IsOn("--disable-hybrid-kv-cache-manager", true);
  }
  reader.Read("--mamba-cache-mode", ParseStateMode, &question.state_mode);
  reader.Read("--mamba-ssm-cache-dtype", ParseAutoDType, &question.state_dtype);
  reader.Read("--mamba-cache-dtype", ParseAutoDType,
              &question.conv_state_dtype);
  reader.ReadPositive("--mamba-block-size", ParseInteger,
                      &question.state_block);
}

void ReadPlatform(const ServeCommand& command, Reader& reader,
                  CapacityQuestion& question) {
  if (command.Find("--device") != nullptr) {
    reader.Read("--device", ParseDevice, &question.platform);
  }
  const std::string* backend = command.Environment("VLLM_ATTENTION_BACKEND");
  if (backend != nullptr) question.attention_backend = *backend;
  const Json config = reader.ReadObject("--attention-config");
  if (config.is_object() && config.contains("backend") &&
      config["backend"].is_string()) {
    question.attention_backend = config["backend"].get<std::string>();
  }
  if (command.Find("--attention-backend") != nullptr) {
    question.attention_backend = command.Value("--attention-backend");
  }
  const std::string* use_v1 = command.Environment("VLLM_USE_V1");
  if (use_v1 != nullptr) question.previous_engine = *use_v1 == "0";
}

// "--speculative-config" with what its three short forms add.
Json SpeculativeObject(const ServeCommand& command, Reader& reader) {
  Json config = reader.ReadObject("--speculative-config");
  const std::pair<absl::string_view, const char*> kShort[] = {
      {"--spec-method", "method"},
      {"--spec-model", "model"},
      {"--spec-tokens", "num_speculative_tokens"}};
  for (const auto& [flag, key] : kShort) {
    const GivenFlag* given = command.Find(flag);
    if (given == nullptr) continue;
    int64_t count = 0;
    if (absl::SimpleAtoi(given->values[0], &count)) {
      config[key] = count;
    } else {
      config[key] = given->values[0];
    }
  }
  return config;
}

// A method without a name: what the drafter's name says, as vLLM guesses.
std::string MethodOf(const Json& config) {
  if (config.contains("method")) {
    if (!config["method"].is_string()) return config["method"].dump();
    return config["method"].get<std::string>();
  }
  if (!config.contains("model")) return "";
  const std::string model =
      absl::AsciiStrToLower(config["model"].get<std::string>());
  for (absl::string_view known :
       {"dflash", "dspark", "eagle3", "eagle", "medusa", "ngram"}) {
    if (absl::StrContains(model, known)) return std::string(known);
  }
  return "draft_model";
}

absl::StatusOr<SpeculativeMethod> ParseMethod(absl::string_view method) {
  if (method == "mtp" || absl::EndsWith(method, "_mtp")) {
    return SpeculativeMethod::kMtp;
  }
  for (absl::string_view known :
       {"eagle", "eagle3", "dflash", "dspark", "draft_model"}) {
    if (method == known) return SpeculativeMethod::kDraftModel;
  }
  for (absl::string_view known :
       {"ngram", "ngram_gpu", "suffix", "medusa", "mlp_speculator"}) {
    if (method == known) return SpeculativeMethod::kNoCache;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "method '", method,
      "' is unknown; accepted: mtp, eagle, eagle3, dflash, dspark, "
      "draft_model, ngram, suffix, medusa, mlp_speculator"));
}

// The flag that a speculative setting came from, for errors.
absl::string_view SpeculativeFlag(const ServeCommand& command) {
  for (absl::string_view flag :
       {"--speculative-config", "--spec-method", "--spec-model"}) {
    if (command.Find(flag) != nullptr) return flag;
  }
  return "--spec-tokens";
}

void ReadSpeculation(const ServeCommand& command, Reader& reader,
                     CapacityQuestion& question, ServedModel& served) {
  const Json config = SpeculativeObject(command, reader);
  if (!config.is_object() || !reader.status().ok()) return;
  const absl::string_view flag = SpeculativeFlag(command);
  const auto text = [&](const char* key) {
    return config.contains(key) && config[key].is_string()
               ? config[key].get<std::string>()
               : "";
  };
  if (config.contains("model") && !config["model"].is_string()) {
    reader.Fail(flag, "\"model\": expected a name");
    return;
  }
  const absl::StatusOr<SpeculativeMethod> method =
      ParseMethod(MethodOf(config));
  if (!method.ok()) {
    reader.Fail(flag, method.status().message());
    return;
  }
  const auto count = [&](const char* key, int64_t otherwise) {
    return config.contains(key) && config[key].is_number_integer()
               ? config[key].get<int64_t>()
               : otherwise;
  };
  // The engine takes the checkpoint's number of MTP layers when none is named.
  const int64_t tokens = count("num_speculative_tokens", 1);
  if (tokens < 1 || tokens > 1024) {
    reader.Fail(flag, "\"num_speculative_tokens\": expected 1 to 1024");
    return;
  }
  question.speculative_method = *method;
  question.speculative_tokens = tokens;
  if (*method == SpeculativeMethod::kDraftModel) {
    served.draft_model = text("model");
  }
  if (config.contains("draft_tensor_parallel_size")) {
    question.draft_tensor = count("draft_tensor_parallel_size", 0);
  }
  question.draft_kv_cache_dtype = question.kv_cache_dtype;
  const std::string dtype = text("kv_cache_dtype");
  if (dtype.empty()) return;
  const absl::StatusOr<KvCacheDtype> parsed = ParseKvCacheDtype(dtype);
  if (!parsed.ok()) {
    reader.Fail(
        flag, absl::StrCat("\"kv_cache_dtype\": ", parsed.status().message()));
    return;
  }
  question.draft_kv_cache_dtype = *parsed;
}

// Variables that could change the cache and that nothing here reads.
constexpr absl::string_view kUnmodelledVariables[] = {
    "VLLM_PP_LAYER_PARTITION",
    "VLLM_KV_CACHE_LAYOUT",
    "VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE",
    "VLLM_PREFIX_CACHE_RETENTION_INTERVAL",
};

std::vector<std::string> Warnings(const ServeCommand& command,
                                  const CapacityQuestion& question) {
  std::vector<std::string> names = command.OfEffect(FlagEffect::kUnmodelled);
  for (absl::string_view variable : kUnmodelledVariables) {
    if (command.Environment(variable) != nullptr) names.emplace_back(variable);
  }
  std::vector<std::string> warnings;
  if (!names.empty()) {
    warnings.push_back(
        absl::StrCat("not modelled, and could change the cache: ",
                     absl::StrJoin(names, ", ")));
  }
  const std::vector<std::string> left =
      command.OfEffect(FlagEffect::kMemoryLeft);
  const bool modelled =
      !question.kv_memory.has_value() && !question.num_gpu_blocks.has_value();
  if (modelled && !left.empty()) {
    warnings.push_back(
        absl::StrCat("not modelled, and change the memory left for the cache: ",
                     absl::StrJoin(left, ", ")));
  }
  return warnings;
}

}  // namespace

absl::StatusOr<int64_t> ParseHumanCount(absl::string_view text) {
  if (text.empty()) return NotACount();
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) {
    if (std::abs(integer) > kMostCount) return NotACount();
    return integer;
  }
  for (const Suffix& suffix : kSuffixes) {
    if (text.back() != suffix.letter) continue;
    double number = 0;
    const absl::string_view digits = text.substr(0, text.size() - 1);
    if (!absl::SimpleAtod(digits, &number) || !(number >= 0)) break;
    const double count = number * static_cast<double>(suffix.factor);
    const bool binary =
        absl::ascii_isupper(static_cast<unsigned char>(suffix.letter));
    if (count > static_cast<double>(kMostCount)) break;
    if (binary && number != std::floor(number)) break;
    return static_cast<int64_t>(count);
  }
  return NotACount();
}

absl::StatusOr<ServedModel> ApplyServeCommand(const ServeCommand& command,
                                              CapacityQuestion* question) {
  ServedModel served;
  served.model = command.Value("--model");
  Reader reader(command);
  ReadLength(command, reader, *question);
  ReadParallel(reader, *question);
  ReadCache(command, reader, *question);
  ReadPlatform(command, reader, *question);
  ReadSpeculation(command, reader, *question, served);
  const Json overrides = reader.ReadObject("--hf-overrides");
  if (overrides.is_object()) served.hf_overrides = overrides.dump();
  if (!reader.status().ok()) return reader.status();
  served.warnings = Warnings(command, *question);
  return served;
}

}  // namespace kvsim::vllm
