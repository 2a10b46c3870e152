#include "tools/calibration.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "models/gpu_catalogue.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kVersionField[] = "kvsim_calibration";

Json PartsOf(const LogComparison& comparison) {
  Json parts = Json::object();
  for (const LogFigure& figure : comparison.figures) {
    double value = 0;
    const bool memory = absl::EndsWith(figure.name, "_gib") ||
                        absl::EndsWith(figure.name, "_gb") ||
                        absl::EndsWith(figure.name, "_bytes") ||
                        absl::EndsWith(figure.name, "_gb_printed");
    if (!memory || !absl::StartsWith(figure.name, "ranks.")) continue;
    if (absl::SimpleAtod(figure.printed, &value)) parts[figure.name] = value;
  }
  return parts;
}

absl::Status Refuse(const std::string& path, absl::string_view what,
                    const std::string& theirs, const std::string& ours) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": was made with ", what, " ", theirs, ", this question has ", ours,
      "; accepted: a calibration of the same engine, model, card "
      "and split"));
}

absl::StatusOr<Json> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path + ": cannot be opened");
  std::ostringstream text;
  text << file.rdbuf();
  Json json = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains(kVersionField) ||
      json[kVersionField] != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": is no calibration; accepted: a file that `kvsim "
                     "capacity --from-log LOG --calibration FILE` wrote"));
  }
  for (const char* field : {"engine", "model"}) {
    if (!json.contains(field) || !json[field].is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", field, ": expected a text"));
    }
  }
  for (const char* field :
       {"tensor_parallel_size", "pipeline_parallel_size",
        "max_num_batched_tokens", "max_num_seqs", "kv_bytes"}) {
    if (!json.contains(field) || !json[field].is_number_integer() ||
        json[field].get<int64_t>() < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": ", field, ": expected an integer that is not negative"));
    }
  }
  return json;
}

std::string TextOf(const Json& json, const char* field) {
  return json.contains(field) && json[field].is_string()
             ? json[field].get<std::string>()
             : "";
}

// The card by name, else by the memory that the engine sees.
absl::Status CheckCard(const std::string& path, const Json& json,
                       const CapacityQuestion& question) {
  const std::string name = TextOf(json, "gpu");
  if (question.gpu.has_value() && !name.empty()) {
    if (question.gpu->name == name) return absl::OkStatus();
    return Refuse(path, "--gpu", name, question.gpu->name);
  }
  const bool total =
      json.contains("gpu_total_gib") && json["gpu_total_gib"].is_number();
  const Bytes asked = question.gpu.has_value()
                          ? question.gpu->engine_total
                          : question.gpu_memory.value_or(Bytes(0));
  if (!total || asked == Bytes(0)) return absl::OkStatus();
  const double theirs = json["gpu_total_gib"].get<double>();
  const double ours = static_cast<double>(asked.value()) / 0x1p30;
  // Logs of one card differ by a few hundredths of a GiB.
  const double spread =
      question.gpu.has_value()
          ? static_cast<double>(question.gpu->engine_spread.value()) / 0x1p30
          : 0;
  if (std::abs(theirs - ours) <= spread + 0.1) return absl::OkStatus();
  return Refuse(path, "a card of", absl::StrFormat("%.2f GiB", theirs),
                absl::StrFormat("%.2f GiB", ours));
}

absl::Status Check(const std::string& path, const Json& json,
                   const CapacityQuestion& question) {
  const std::string engine = TextOf(json, "engine");
  if (engine != question.engine) {
    return Refuse(path, "--engine", engine, question.engine);
  }
  const std::string model = TextOf(json, "model");
  if (model != question.model->name) {
    return Refuse(path, "model", model, question.model->name);
  }
  const bool known = json.contains("gpu_memory_utilization") &&
                     json["gpu_memory_utilization"].is_number();
  if (known && question.gpu_memory_utilization.has_value()) {
    const double theirs = json["gpu_memory_utilization"].get<double>();
    const double ours = *question.gpu_memory_utilization;
    if (std::abs(theirs - ours) > 1e-9) {
      return Refuse(path, "--gpu-memory-utilization", absl::StrCat(theirs),
                    absl::StrCat(ours));
    }
  }
  return CheckCard(path, json, question);
}

}  // namespace

absl::Status SaveCalibration(const LogComparison& comparison,
                             const std::string& path) {
  if (!comparison.kv_memory.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--calibration ", path, ": ", comparison.file,
        comparison.refused ? " is of a start that was refused"
                           : " gives no memory: the cache of llama.cpp "
                             "follows from its flags alone"));
  }
  Json json;
  json[kVersionField] = 1;
  json["engine"] = comparison.engine;
  json["rules"] = comparison.rules;
  json["model"] = comparison.model;
  json["gpu"] = comparison.gpu.empty() ? Json() : Json(comparison.gpu);
  json["gpu_total_gib"] = comparison.gpu_total_gib.has_value()
                              ? Json(*comparison.gpu_total_gib)
                              : Json();
  json["tensor_parallel_size"] = comparison.tensor;
  json["pipeline_parallel_size"] = comparison.pipeline;
  json["max_num_batched_tokens"] = comparison.max_num_batched_tokens;
  json["max_num_seqs"] = comparison.max_num_seqs;
  json["gpu_memory_utilization"] = comparison.utilization.has_value()
                                       ? Json(*comparison.utilization)
                                       : Json();
  json["settings"] = Json::array();
  for (const LogSetting& setting : comparison.settings.given) {
    json["settings"].push_back(setting.value.empty()
                                   ? setting.flag
                                   : setting.flag + " " + setting.value);
  }
  json["parts"] = PartsOf(comparison);
  json["kv_bytes"] = comparison.kv_memory->value();
  std::ofstream file(path, std::ios::binary);
  file << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  file.close();
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--calibration ", path, ": cannot be written"));
}

absl::Status ApplyCalibration(const std::string& path,
                              CapacityQuestion* question) {
  const absl::StatusOr<Json> json = ReadFile(path);
  if (!json.ok()) return json.status();
  if (question->kv_memory.has_value() || !question->kv_memory_ranks.empty() ||
      question->num_gpu_blocks.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--calibration ", path,
                     ": not together with --kv-memory or --num-gpu-blocks"));
  }
  absl::Status status = Check(path, *json, *question);
  if (!status.ok()) return status;
  question->kv_memory = Bytes((*json)["kv_bytes"].get<int64_t>());
  question->notes.push_back(absl::StrCat(
      "the memory of the cache, ", FormatGiB(*question->kv_memory, 3),
      " on a rank, is that of ", path, " (", TextOf(*json, "rules"),
      "), not modelled"));
  return absl::OkStatus();
}

absl::Status CheckCalibrated(const std::string& path, CapacityAnswer* answer) {
  const absl::StatusOr<Json> json = ReadFile(path);
  if (!json.ok()) return json.status();
  struct Size {
    const char* field;
    const char* flag;
    int64_t ours;
    bool refuses;
  };
  const Size kSizes[] = {
      {"tensor_parallel_size", "--tensor-parallel-size",
       answer->parallel.tensor, true},
      {"pipeline_parallel_size", "--pipeline-parallel-size",
       answer->parallel.pipeline, true},
      {"max_num_batched_tokens", "--max-num-batched-tokens",
       answer->max_num_batched_tokens, false},
      {"max_num_seqs", "--max-num-seqs", answer->max_num_seqs, false}};
  for (const Size& size : kSizes) {
    const auto theirs = (*json)[size.field].get<int64_t>();
    if (theirs == size.ours) continue;
    if (size.refuses) {
      return Refuse(path, size.flag, absl::StrCat(theirs),
                    absl::StrCat(size.ours));
    }
    answer->warnings.push_back(
        absl::StrCat(path, ": was made with ", size.flag, " ", theirs,
                     ", this question has ", size.ours,
                     ": activations and graphs may take another share"));
  }
  return absl::OkStatus();
}

}  // namespace kvsim
