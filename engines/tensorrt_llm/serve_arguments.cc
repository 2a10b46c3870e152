#include "engines/tensorrt_llm/serve_arguments.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engines/serve_config_file.h"
#include "engines/serve_values.h"

namespace kvsim::tensorrt_llm {
namespace {

using Json = nlohmann::json;

// "4096", "4096,131072".
absl::StatusOr<std::vector<int64_t>> ParseWindows(absl::string_view text) {
  std::vector<int64_t> windows;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<int64_t> window = ParseServeInteger(part);
    if (!window.ok()) {
      return absl::InvalidArgumentError(
          "expected integers with commas between");
    }
    windows.push_back(*window);
  }
  return windows;
}

void ReadFlags(ServeValues& values, ServeArguments& arguments) {
  Settings& settings = arguments.settings;
  values.Text("--model", &arguments.model);
  values.Integer("--tp-size", &settings.tp_size);
  values.Integer("--pp-size", &settings.pp_size);
  values.Integer("--max-batch-size", &settings.max_batch_size);
  values.Integer("--max-num-tokens", &settings.max_num_tokens);
  values.Integer("--max-seq-len", &settings.max_seq_len);
  values.Integer("--max-tokens", &settings.max_tokens);
  values.Integer("--tokens-per-block", &settings.tokens_per_block);
  values.Read("--kv-cache-dtype", ParseCacheType, &settings.kv_cache_dtype);
  values.Number("--kv-cache-free-gpu-memory-fraction",
                &settings.free_gpu_memory_fraction);
  values.Read("--max-attention-window", ParseWindows,
              &settings.max_attention_window);
  values.Switch("--enable-attention-dp", &settings.enable_attention_dp);
}

absl::Status ReadShares(const ServeCommand& command, Settings& settings) {
  const std::string* shares = command.Environment("TRTLLM_WINDOW_SIZE_SHARES");
  if (shares == nullptr) return absl::OkStatus();
  for (absl::string_view part : absl::StrSplit(*shares, ',')) {
    const absl::StatusOr<double> share = ParseServeNumber(part);
    if (!share.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("TRTLLM_WINDOW_SIZE_SHARES '", *shares,
                       "': expected numbers with commas between"));
    }
    settings.window_size_shares.push_back(*share);
  }
  return absl::OkStatus();
}

// One field of a file, for messages.
struct Field {
  const std::string& file;
  int line;
  std::string name;

  absl::Status Refuse(absl::string_view value,
                      absl::string_view problem) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ", line ", line, ": ", name, " '", value, "': ", problem));
  }
};

template <typename Out>
absl::Status SetInteger(const Field& field, const std::string& text, Out* out) {
  const absl::StatusOr<int64_t> value = ParseServeInteger(text);
  if (!value.ok()) return field.Refuse(text, value.status().message());
  *out = *value;
  return absl::OkStatus();
}

// Text of a JSON scalar, as YAML would spell it.
std::string TextOf(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

absl::Status SetWindows(const Field& field, const Json& value,
                        Settings& settings) {
  settings.max_attention_window.clear();
  const Json list = value.is_array() ? value : Json::array({value});
  for (const Json& window : list) {
    if (!window.is_number_integer()) {
      return field.Refuse(value.dump(), "expected a list of integers");
    }
    settings.max_attention_window.push_back(window.get<int64_t>());
  }
  return absl::OkStatus();
}

absl::Status SetDtype(const Field& field, const std::string& text,
                      Settings& settings) {
  const absl::StatusOr<CacheType> type = ParseCacheType(text);
  if (!type.ok()) return field.Refuse(text, type.status().message());
  settings.kv_cache_dtype = *type;
  return absl::OkStatus();
}

absl::Status SetFraction(const Field& field, const std::string& text,
                         Settings& settings) {
  const absl::StatusOr<double> value = ParseServeNumber(text);
  if (!value.ok()) return field.Refuse(text, value.status().message());
  settings.free_gpu_memory_fraction = *value;
  return absl::OkStatus();
}

// One field of kv_cache_config. False: it is not read here.
absl::StatusOr<bool> SetCacheField(const Field& field, const std::string& key,
                                   const Json& value, Settings& settings) {
  const std::string text = TextOf(value);
  absl::Status status;
  if (key == "free_gpu_memory_fraction") {
    status = SetFraction(field, text, settings);
  } else if (key == "max_tokens") {
    status = SetInteger(field, text, &settings.max_tokens);
  } else if (key == "tokens_per_block") {
    status = SetInteger(field, text, &settings.tokens_per_block);
  } else if (key == "dtype") {
    status = SetDtype(field, text, settings);
  } else if (key == "max_attention_window") {
    status = SetWindows(field, value, settings);
  } else if (key == "enable_block_reuse") {
    settings.enable_block_reuse = text == "true";
  } else if (key == "host_cache_size") {
    int64_t bytes = 0;
    status = SetInteger(field, text, &bytes);
    settings.host_cache_size = Bytes(bytes);
  } else {
    return false;
  }
  if (!status.ok()) return status;
  return true;
}

absl::Status ReadCacheConfig(const Field& field, const std::string& text,
                             ServeArguments& arguments) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return field.Refuse(text, "expected a mapping");
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) continue;
    const Field inner{field.file, field.line,
                      absl::StrCat(field.name, ".", key)};
    const absl::StatusOr<bool> known =
        SetCacheField(inner, key, value, arguments.settings);
    if (!known.ok()) return known.status();
    if (!*known && key != "enable_partial_reuse" &&
        key != "copy_on_partial_reuse" && key != "event_buffer_max_size") {
      arguments.warnings.push_back(UnmodelledWarning(inner.name));
    }
  }
  return absl::OkStatus();
}

// Drafts with the model's own layers where the type says MTP.
void ReadSpeculation(const std::string& text, ServeArguments& arguments) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string type =
      json.is_object() ? json.value("decoding_type", "") : "";
  if (type == "MTP") {
    arguments.settings.speculative = true;
  } else {
    arguments.warnings.push_back(
        absl::StrCat("speculative_config with decoding_type '", type,
                     "': a drafter's caches are not counted"));
  }
}

absl::Status ReadFileField(const std::string& file, const ConfigFlag& flag,
                           ServeArguments& arguments) {
  Settings& settings = arguments.settings;
  const Field field{file, flag.line, flag.name};
  const std::string text = flag.values.empty() ? "" : flag.values[0];
  if (flag.name == "kv_cache_config") {
    return ReadCacheConfig(field, text, arguments);
  }
  if (flag.name == "speculative_config") {
    ReadSpeculation(text, arguments);
    return absl::OkStatus();
  }
  if (flag.name == "enable_attention_dp") {
    settings.enable_attention_dp = flag.kind == ConfigFlag::Kind::kSwitch;
    return absl::OkStatus();
  }
  const std::pair<const char*, int64_t*> sizes[] = {
      {"tensor_parallel_size", &settings.tp_size},
      {"pipeline_parallel_size", &settings.pp_size},
      {"max_batch_size", &settings.max_batch_size},
      {"max_num_tokens", &settings.max_num_tokens}};
  for (const auto& [name, size] : sizes) {
    if (flag.name == name) return SetInteger(field, text, size);
  }
  if (flag.name == "max_seq_len") {
    return SetInteger(field, text, &settings.max_seq_len);
  }
  if (flag.name == "context_parallel_size" || flag.name == "max_beam_width" ||
      flag.name == "sparse_attention_config") {
    arguments.warnings.push_back(UnmodelledWarning(flag.name));
  }
  return absl::OkStatus();
}

absl::Status ReadFile(const std::string& path, ServeArguments& arguments) {
  if (path.empty()) return absl::OkStatus();
  const absl::StatusOr<std::vector<ConfigFlag>> flags = ReadServeConfig(path);
  if (!flags.ok()) return flags.status();
  for (const ConfigFlag& flag : *flags) {
    if (flag.kind == ConfigFlag::Kind::kAbsent &&
        flag.name != "enable_attention_dp") {
      continue;
    }
    absl::Status status = ReadFileField(path, flag, arguments);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServeArguments> ReadServeArguments(const ServeCommand& command) {
  ServeArguments arguments;
  ServeValues values(command);
  ReadFlags(values, arguments);
  absl::Status status = values.status();
  if (status.ok()) status = ReadShares(command, arguments.settings);
  if (status.ok()) {
    status = ReadFile(command.Value("--extra-llm-api-options"), arguments);
  }
  if (status.ok()) status = arguments.settings.Validate();
  if (!status.ok()) return status;
  WarnOfUnmodelled(command, &arguments.warnings);
  return arguments;
}

}  // namespace kvsim::tensorrt_llm
