#include "models/model_loader.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/catalogue.h"
#include "models/model_config.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;

// Far above any real config.json; a mistyped path to weights stops here.
constexpr std::uintmax_t kLongestConfigBytes = 64 << 20;

absl::StatusOr<std::string> ReadFile(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat(path.string(), ": ", error.message(),
                     "; accepted: a readable config.json"));
  }
  if (size > kLongestConfigBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path.string(), ": is ", size,
                     " bytes long; accepted: a config.json of at most ",
                     kLongestConfigBytes, " bytes"));
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    return absl::NotFoundError(absl::StrCat(path.string(), ": cannot be read"));
  }
  return text.str();
}

absl::Status UnknownModel(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const CatalogueEntry& entry : Catalogue()) names.push_back(entry.name);
  return absl::NotFoundError(absl::StrCat(
      "model \"", name, "\" is neither a catalogue name nor a file; accepted: ",
      absl::StrJoin(names, ", "),
      ", the path of a config.json, or a folder that holds one"));
}

}  // namespace

absl::StatusOr<ModelSpec> LoadModel(absl::string_view name_or_path,
                                    absl::string_view overrides,
                                    AssumedAttention assume) {
  if (const CatalogueEntry* entry = FindCatalogueEntry(name_or_path)) {
    return ReadCatalogueEntry(*entry, overrides);
  }
  const fs::path path{std::string(name_or_path)};
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (!fs::exists(found)) return UnknownModel(name_or_path);
  if (!fs::is_directory(found)) {
    absl::StatusOr<std::string> config = ReadFile(path);
    if (!config.ok()) return config.status();
    return ReadModelConfig(*config, name_or_path, overrides, "", assume);
  }
  absl::StatusOr<std::string> config = ReadFile(path / "config.json");
  if (!config.ok()) return config.status();
  std::string record;
  const fs::path record_path = path / "hf_quant_config.json";
  if (fs::exists(record_path, error)) {
    absl::StatusOr<std::string> text = ReadFile(record_path);
    if (!text.ok()) return text.status();
    record = *std::move(text);
  }
  return ReadModelConfig(*config, (path / "config.json").string(), overrides,
                         record, assume);
}

}  // namespace kvsim
