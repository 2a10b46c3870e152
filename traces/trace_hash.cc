#include "traces/trace_hash.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;

using HashState = std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)>;

absl::Status SystemError(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
}

absl::Status AddFile(const std::string& path, XXH3_state_t* state) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return SystemError(path);
  std::vector<char> buffer(size_t{1} << 18);
  while (const size_t size =
             std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    XXH3_64bits_update(state, buffer.data(), size);
  }
  if (std::ferror(file.get()) != 0) return SystemError(path);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FileNames(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    if (it->is_regular_file(error)) {
      names.push_back(it->path().filename().string());
    }
  }
  if (error) {
    return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status AddFolder(const std::string& folder, XXH3_state_t* state) {
  const absl::StatusOr<std::vector<std::string>> names = FileNames(folder);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    // With its final zero, so that no name runs into the bytes behind it.
    XXH3_64bits_update(state, name.c_str(), name.size() + 1);
    const absl::Status status =
        AddFile((fs::path(folder) / name).string(), state);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> TraceHash(const std::string& path) {
  const HashState state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::error_code error;
  const absl::Status status = fs::is_directory(path, error)
                                  ? AddFolder(path, state.get())
                                  : AddFile(path, state.get());
  if (!status.ok()) return status;
  return absl::StrFormat("%016x", XXH3_64bits_digest(state.get()));
}

}  // namespace kvsim
