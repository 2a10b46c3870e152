#include "models/model_loader.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/catalogue.h"
#include "models/gguf_config.h"
#include "models/gguf_header.h"
#include "models/model_config.h"
#include "models/safetensors_index.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;

// Far above any real config.json; a mistyped path to weights stops here.
constexpr std::uintmax_t kLongestConfigBytes = 64 << 20;

absl::StatusOr<std::string> ReadFront(const fs::path& path,
                                      std::uintmax_t longest) {
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (stream && text.size() < longest) {
    stream.read(buffer, sizeof(buffer));
    text.append(buffer, static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof() && !stream) {
    return absl::NotFoundError(absl::StrCat(path.string(), ": cannot be read"));
  }
  return text;
}

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
  return ReadFront(path, kLongestConfigBytes);
}

// Sizes beyond this are no checkpoint's: 2^60 bytes.
constexpr std::uintmax_t kLargestCheckpoint = std::uintmax_t{1} << 60;

int64_t FileBytes(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error || size > kLargestCheckpoint ? 0 : static_cast<int64_t>(size);
}

// Bytes of the weights beside a config: metadata.total_size of the index, or
// the size of the one file.
absl::StatusOr<int64_t> CheckpointBytes(const fs::path& folder) {
  const fs::path index = folder / "model.safetensors.index.json";
  std::error_code error;
  if (!fs::exists(index, error)) {
    return FileBytes(folder / "model.safetensors");
  }
  absl::StatusOr<std::string> text = ReadFile(index);
  if (!text.ok()) return text.status();
  return ReadTotalSize(*text, index.string());
}

absl::StatusOr<ModelSpec> LoadGguf(const fs::path& path,
                                   absl::string_view overrides,
                                   AssumedAttention assume) {
  const std::string name = path.string();
  absl::StatusOr<std::string> front = ReadFront(path, kLongestConfigBytes);
  if (!front.ok()) return front.status();
  const absl::StatusOr<GgufHeader> header = ParseGgufHeader(*front, name);
  if (!header.ok()) return header.status();
  const absl::StatusOr<std::string> config = GgufConfig(*header, name);
  if (!config.ok()) return config.status();
  absl::StatusOr<ModelSpec> spec =
      ReadModelConfig(*config, name, overrides, "", assume);
  if (spec.ok()) spec->checkpoint_bytes = FileBytes(path);
  return spec;
}

// The GGUF file of a folder that has no config.json: the first by name, which
// of a split model is the one with the header. An empty path: none.
fs::path FirstGguf(const fs::path& folder) {
  fs::path first;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() != ".gguf") continue;
    if (first.empty() || file.path() < first) first = file.path();
  }
  return first;
}

absl::Status UnknownModel(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const CatalogueEntry& entry : Catalogue()) names.push_back(entry.name);
  return absl::NotFoundError(absl::StrCat(
      "model \"", name, "\" is neither a catalogue name nor a file; accepted: ",
      absl::StrJoin(names, ", "),
      ", the path of a config.json or GGUF file, or a folder that holds one"));
}

absl::StatusOr<ModelSpec> LoadFile(const fs::path& path, absl::string_view name,
                                   absl::string_view overrides,
                                   AssumedAttention assume) {
  const absl::StatusOr<std::string> front = ReadFront(path, 1);
  if (!front.ok()) return front.status();
  if (IsGguf(*front)) return LoadGguf(path, overrides, assume);
  absl::StatusOr<std::string> config = ReadFile(path);
  if (!config.ok()) return config.status();
  return ReadModelConfig(*config, name, overrides, "", assume);
}

absl::StatusOr<ModelSpec> LoadFolder(const fs::path& path,
                                     absl::string_view overrides,
                                     AssumedAttention assume) {
  std::error_code error;
  const fs::path config_path = path / "config.json";
  if (!fs::exists(config_path, error)) {
    const fs::path gguf = FirstGguf(path);
    if (!gguf.empty()) return LoadGguf(gguf, overrides, assume);
  }
  absl::StatusOr<std::string> config = ReadFile(config_path);
  if (!config.ok()) return config.status();
  std::string record;
  const fs::path record_path = path / "hf_quant_config.json";
  if (fs::exists(record_path, error)) {
    absl::StatusOr<std::string> text = ReadFile(record_path);
    if (!text.ok()) return text.status();
    record = *std::move(text);
  }
  const absl::StatusOr<int64_t> bytes = CheckpointBytes(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<ModelSpec> spec =
      ReadModelConfig(*config, config_path.string(), overrides, record, assume);
  if (spec.ok()) spec->checkpoint_bytes = *bytes;
  return spec;
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
  return fs::is_directory(found)
             ? LoadFolder(path, overrides, assume)
             : LoadFile(path, name_or_path, overrides, assume);
}

}  // namespace kvsim
