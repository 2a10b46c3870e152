// ConfigFields: typed reads from one JSON object of a config.json.
//
// Model:  a reader asks for fields one after the other and looks at status()
//         once, at the end. The first bad field is remembered with file, field,
//         value and what would be accepted; later reads return their defaults,
//         so callers need no check after each field. A field that is null
//         counts as absent, as in the config classes themselves.
// Numbers: integers may be written as integral floats (4096.0). Every integer
//         must lie in the range the caller names.
// Ownership: points into the parsed document and to a shared status; copies
//         are cheap and must not outlive either.

#ifndef KVSIM_MODELS_CONFIG_FIELDS_H_
#define KVSIM_MODELS_CONFIG_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

// Parses text that must be one JSON object; errors give line and column.
// Comments and NaN are not JSON.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text,
                                               absl::string_view name);

class ConfigFields {
 public:
  // Names of one field over the generations of configs; the first present one
  // is read, the first listed one is named in errors.
  using Names = std::initializer_list<const char*>;

  // `object` is a JSON object; `path` precedes field names in errors.
  ConfigFields(const nlohmann::json& object, std::string file, std::string path,
               absl::Status& status);

  bool Has(Names names) const { return Find(names) != nullptr; }

  // Integers in [0 or 1, kMaxDimension].
  int64_t RequiredCount(Names names);
  int64_t CountOr(Names names, int64_t absent);  // 0 allowed
  int64_t PositiveOr(Names names, int64_t absent);
  bool BoolOr(Names names, bool absent);
  std::string StringOr(Names names, absl::string_view absent);
  // A number in [0, kMaxDimension], not necessarily whole.
  double NumberOr(Names names, double absent);

  // Lists; empty when absent.
  std::vector<int64_t> Ints(Names names);
  std::vector<std::string> Strings(Names names);

  // Nested object; nullopt when absent, an error when it is something else.
  std::optional<ConfigFields> Object(const char* name);
  // A list of objects; empty when absent.
  std::vector<ConfigFields> Objects(const char* name);

  // Whether the present value is a list, or a string.
  bool IsList(Names names) const;
  bool IsString(Names names) const;

  // Records an error about `field`, whose value is quoted from the document.
  void Fail(const char* field, absl::string_view accepted);
  // The same about a field that is absent.
  void FailMissing(const char* field, absl::string_view accepted);

  const absl::Status& status() const { return *status_; }
  const std::string& file() const { return file_; }

 private:
  const nlohmann::json* Find(Names names) const;
  const char* FoundName(Names names) const;
  int64_t Integer(const nlohmann::json& value, const std::string& field,
                  int64_t min);
  void FailValue(const std::string& field, const nlohmann::json& value,
                 absl::string_view accepted);

  const nlohmann::json* object_;
  std::string file_;
  std::string path_;
  absl::Status* status_;
};

}  // namespace kvsim

#endif  // KVSIM_MODELS_CONFIG_FIELDS_H_
