#include "traces/shipped_presets.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "traces/byte_source.h"

namespace kvsim {
namespace {

constexpr size_t kMaxPresetBytes = size_t{1} << 24;

struct Shipped {
  const char* name;
  const char* json;
};

constexpr Shipped kShipped[] = {
    {
        "mooncake-conversation",
#include "traces/presets/mooncake_conversation.inc"
    },
};

}  // namespace

std::vector<std::string> ShippedPresetNames() {
  std::vector<std::string> names;
  for (const Shipped& preset : kShipped) names.push_back(preset.name);
  return names;
}

absl::StatusOr<TracePreset> LoadTracePreset(const std::string& name) {
  for (const Shipped& preset : kShipped) {
    if (name == preset.name) return ParseTracePreset(preset.json, name);
  }
  absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(name);
  if (!source.ok()) {
    return absl::Status(
        source.status().code(),
        absl::StrCat(source.status().message(), "; accepted: a file, or ",
                     absl::StrJoin(ShippedPresetNames(), ", ")));
  }
  const absl::StatusOr<std::string> json = ReadAll(**source, kMaxPresetBytes);
  if (!json.ok()) return json.status();
  return ParseTracePreset(*json, name);
}

}  // namespace kvsim
