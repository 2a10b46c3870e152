#include "models/config_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/model_spec.h"

namespace kvsim {
namespace {

using nlohmann::json;

// A value short enough for one line of an error.
std::string Quote(const json& value) {
  constexpr size_t kLongest = 60;
  if (value.is_array()) {
    return absl::StrCat("a list of ", value.size(), " entries");
  }
  if (value.is_object()) return "an object";
  std::string text = value.dump();
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::string Position(absl::string_view text, size_t byte) {
  const absl::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column =
      newline == absl::string_view::npos ? byte : byte - newline - 1;
  return absl::StrCat("line ", line, ", column ", column);
}

}  // namespace

absl::StatusOr<json> ParseJsonObject(absl::string_view text,
                                     absl::string_view name) {
  json document;
  // The one place where the JSON library's exceptions enter: only they carry
  // the position of a syntax error. A number like 1e999 is no syntax error.
  try {
    document = json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", Position(text, error.byte),
                     ": not valid JSON (", error.what(), ")"));
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not readable JSON (", error.what(),
                     "); accepted: numbers within a double's range"));
  }
  if (!document.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": found ", Quote(document),
                     "; accepted: one JSON object, as in a config.json"));
  }
  return document;
}

ConfigFields::ConfigFields(const json& object, std::string file,
                           std::string path, absl::Status& status)
    : object_(&object),
      file_(std::move(file)),
      path_(std::move(path)),
      status_(&status) {}

const char* ConfigFields::FoundName(Names names) const {
  for (const char* name : names) {
    const auto field = object_->find(name);
    if (field != object_->end() && !field->is_null()) return name;
  }
  return nullptr;
}

const json* ConfigFields::Find(Names names) const {
  const char* name = FoundName(names);
  return name == nullptr ? nullptr : &*object_->find(name);
}

void ConfigFields::FailValue(const std::string& field, const json& value,
                             absl::string_view accepted) {
  if (!status_->ok()) return;
  *status_ = absl::InvalidArgumentError(
      absl::StrCat(file_, ": field ", path_, field, " is ", Quote(value),
                   "; accepted: ", accepted));
}

void ConfigFields::Fail(const char* field, absl::string_view accepted) {
  const json* value = Find({field});
  if (value == nullptr) return FailMissing(field, accepted);
  FailValue(field, *value, accepted);
}

void ConfigFields::FailMissing(const char* field, absl::string_view accepted) {
  if (!status_->ok()) return;
  *status_ = absl::InvalidArgumentError(absl::StrCat(
      file_, ": field ", path_, field, " is missing; accepted: ", accepted));
}

int64_t ConfigFields::Integer(const json& value, const std::string& field,
                              int64_t min) {
  const auto accept = [&](bool fits, int64_t number) -> int64_t {
    if (fits && number >= min && number <= kMaxDimension) return number;
    FailValue(field, value,
              absl::StrCat("an integer from ", min, " to ", kMaxDimension));
    return std::max<int64_t>(min, 1);
  };
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    return accept(number <= static_cast<uint64_t>(kMaxDimension),
                  static_cast<int64_t>(number));
  }
  if (value.is_number_integer()) return accept(true, value.get<int64_t>());
  if (value.is_number_float()) {
    const double number = value.get<double>();
    const bool fits = number >= 0 &&
                      number <= static_cast<double>(kMaxDimension) &&
                      number == std::floor(number);
    return accept(fits, fits ? static_cast<int64_t>(number) : 0);
  }
  return accept(false, 0);
}

int64_t ConfigFields::RequiredCount(Names names) {
  const json* value = Find(names);
  if (value == nullptr) {
    FailMissing(*names.begin(), "a positive integer");
    return 1;
  }
  return Integer(*value, FoundName(names), 1);
}

int64_t ConfigFields::CountOr(Names names, int64_t absent) {
  const json* value = Find(names);
  return value == nullptr ? absent : Integer(*value, FoundName(names), 0);
}

int64_t ConfigFields::PositiveOr(Names names, int64_t absent) {
  const json* value = Find(names);
  return value == nullptr ? absent : Integer(*value, FoundName(names), 1);
}

bool ConfigFields::BoolOr(Names names, bool absent) {
  const json* value = Find(names);
  if (value == nullptr) return absent;
  if (value->is_boolean()) return value->get<bool>();
  FailValue(FoundName(names), *value, "true or false");
  return absent;
}

std::string ConfigFields::StringOr(Names names, absl::string_view absent) {
  const json* value = Find(names);
  if (value == nullptr) return std::string(absent);
  if (value->is_string()) return value->get<std::string>();
  FailValue(FoundName(names), *value, "a string");
  return std::string(absent);
}

double ConfigFields::NumberOr(Names names, double absent) {
  const json* value = Find(names);
  if (value == nullptr) return absent;
  const double number = value->is_number() ? value->get<double>() : -1.0;
  if (number >= 0 && number <= static_cast<double>(kMaxDimension)) {
    return number;
  }
  FailValue(FoundName(names), *value,
            absl::StrCat("a number from 0 to ", kMaxDimension));
  return absent;
}

std::vector<int64_t> ConfigFields::Ints(Names names) {
  std::vector<int64_t> numbers;
  const json* value = Find(names);
  if (value == nullptr) return numbers;
  const std::string name = FoundName(names);
  if (!value->is_array()) {
    FailValue(name, *value, "a list of integers");
    return numbers;
  }
  for (const json& entry : *value) {
    numbers.push_back(
        Integer(entry, absl::StrCat(name, "[", numbers.size(), "]"), 0));
  }
  return numbers;
}

std::vector<std::string> ConfigFields::Strings(Names names) {
  std::vector<std::string> texts;
  const json* value = Find(names);
  if (value == nullptr) return texts;
  const std::string name = FoundName(names);
  if (!value->is_array()) {
    FailValue(name, *value, "a list of strings");
    return texts;
  }
  for (const json& entry : *value) {
    if (!entry.is_string()) {
      FailValue(absl::StrCat(name, "[", texts.size(), "]"), entry, "a string");
      return texts;
    }
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

std::optional<ConfigFields> ConfigFields::Object(const char* name) {
  const json* value = Find({name});
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    FailValue(name, *value, "an object");
    return std::nullopt;
  }
  return ConfigFields(*value, file_, absl::StrCat(path_, name, "."), *status_);
}

std::vector<ConfigFields> ConfigFields::Objects(const char* name) {
  std::vector<ConfigFields> objects;
  const json* value = Find({name});
  if (value == nullptr) return objects;
  if (!value->is_array()) {
    FailValue(name, *value, "a list of objects");
    return objects;
  }
  for (const json& entry : *value) {
    const std::string field = absl::StrCat(name, "[", objects.size(), "]");
    if (!entry.is_object()) {
      FailValue(field, entry, "an object");
      return objects;
    }
    objects.push_back(
        ConfigFields(entry, file_, absl::StrCat(path_, field, "."), *status_));
  }
  return objects;
}

bool ConfigFields::IsList(Names names) const {
  const json* value = Find(names);
  return value != nullptr && value->is_array();
}

bool ConfigFields::IsString(Names names) const {
  const json* value = Find(names);
  return value != nullptr && value->is_string();
}

}  // namespace kvsim
