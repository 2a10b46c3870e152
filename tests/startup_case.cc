#include "tests/startup_case.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

using Json = nlohmann::json;

constexpr double kGib = 1073741824.0;

// A field of text; "" where it is missing or null.
std::string Text(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

std::string Dump(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_object() ? found->dump() : "";
}

Json Object(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_object() ? *found : Json::object();
}

void ReadMemory(const Json& json, StartupCase& read) {
  const auto bytes = json.find("available_kv_bytes");
  if (bytes != json.end() && bytes->is_number_integer()) {
    read.memory = Bytes(bytes->get<int64_t>());
    return;
  }
  const auto gib = json.find("available_kv_gib");
  if (gib == json.end() || !gib->is_number()) return;
  const int decimals = json.value("decimals", 2);
  read.memory = Bytes(std::llround(gib->get<double>() * kGib));
  read.memory_band = Bytes(std::llround(0.5 * std::pow(10, -decimals) * kGib));
}

}  // namespace

std::optional<int64_t> GivenFigure(const StartupCase& startup,
                                   const char* name) {
  const auto found = startup.given.find(name);
  if (found == startup.given.end() || !found->is_number_integer()) {
    return std::nullopt;
  }
  return found->get<int64_t>();
}

absl::StatusOr<StartupCase> ParseStartupCase(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("not a JSON object");
  StartupCase read;
  read.id = Text(json, "id");
  read.kind = Text(json, "kind");
  read.engine = Text(json, "engine");
  read.engine_version = Text(json, "engine_version");
  read.token_line = Text(json, "token_line");
  read.v4_layout = Text(json, "v4_layout");
  read.in_flight_batches = json.value("in_flight_batches", int64_t{0});
  read.vllm_v0 = json.value("vllm_v0", false);
  read.platform = Text(json, "platform");
  if (read.platform.empty()) read.platform = "cuda";
  read.config = Dump(json, "config");
  read.draft_config = Dump(json, "draft_config");
  if (read.engine.empty()) {
    return absl::InvalidArgumentError("engine: missing");
  }
  if (read.config.empty()) {
    return absl::InvalidArgumentError("config: not an object");
  }
  const auto args = json.find("args");
  if (args == json.end() || !args->is_array()) {
    return absl::InvalidArgumentError("args: not a list");
  }
  for (const Json& word : *args) {
    if (!word.is_string()) {
      return absl::InvalidArgumentError("args: not a list of words");
    }
    read.args.push_back(word.get<std::string>());
  }
  ReadMemory(json, read);
  read.given = Object(json, "given");
  read.expect = Object(json, "expect");
  read.refused = Text(json, "outcome") == "refused";
  return read;
}

absl::StatusOr<std::vector<StartupCase>> ReadStartupCases(
    const std::string& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") paths.push_back(it->path());
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<StartupCase> cases;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    absl::StatusOr<StartupCase> read = ParseStartupCase(text.str());
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path.string(), ": ", read.status().message()));
    }
    cases.push_back(*std::move(read));
  }
  return cases;
}

}  // namespace kvsim
