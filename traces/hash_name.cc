#include "traces/hash_name.h"

#include <xxhash.h>

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace kvsim {

std::optional<uint64_t> HashNameToId(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "0x")) absl::ConsumePrefix(&name, "0X");
  if (name.empty()) return std::nullopt;
  for (const char c : name) {
    if (!absl::ascii_isxdigit(c)) return std::nullopt;
  }
  const size_t first = name.find_first_not_of('0');
  name = first == absl::string_view::npos ? "0" : name.substr(first);
  uint64_t id = 0;
  if (name.size() <= 16 && absl::SimpleHexAtoi(name, &id)) return id;
  const std::string lower = absl::AsciiStrToLower(name);
  return XXH3_64bits(lower.data(), lower.size());
}

}  // namespace kvsim
