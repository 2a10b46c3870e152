#include "traces/json_fields.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/hash_name.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr char kAcceptedMilliseconds[] =
    "a number of milliseconds from 0 to 2305843009213";
constexpr char kAcceptedSeconds[] = "a number of seconds from 0 to 2305843009";

std::string_view StdView(absl::string_view text) {
  return {text.data(), text.size()};
}

absl::string_view AbslView(std::string_view text) {
  return {text.data(), text.size()};
}

std::string Text(simdjson::dom::element value) {
  return Excerpt(simdjson::minify(value));
}

// From here on a double of seconds is no longer exact to the nanosecond.
constexpr double kManySeconds = 1 << 22;

// The nearest multiple of 1,000 ns (milliseconds, many seconds) or 1 ns
// (seconds) to a time that is not negative; nothing when it is out of range.
// Halves go to even.
std::optional<int64_t> ToNanoseconds(double value, bool is_seconds) {
  const bool is_fine = is_seconds && value < kManySeconds;
  const double per_unit = is_fine ? 1e9 : is_seconds ? 1e6 : 1e3;
  const double units = std::nearbyint(value * per_unit);
  const int64_t unit_ns = is_fine ? 1 : 1000;
  if (!(units >= 0) || units > static_cast<double>(kMaxTraceTimeNs / unit_ns)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(units) * unit_ns;
}

std::optional<int64_t> ToNanoseconds(int64_t value, bool is_seconds) {
  const int64_t unit_ns = is_seconds ? 1'000'000'000 : 1'000'000;
  if (value < 0 || value > kMaxTraceTimeNs / unit_ns) return std::nullopt;
  return value * unit_ns;
}

// The length of the UTF-8 character at the front of `text`; 0 when none is.
size_t Utf8CharLength(absl::string_view text) {
  const size_t limit = std::min<size_t>(4, text.size());
  for (size_t length = 1; length <= limit; ++length) {
    if (simdjson::validate_utf8(text.data(), length)) return length;
  }
  return 0;
}

size_t FirstInvalidUtf8(absl::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    const size_t length = Utf8CharLength(text.substr(position));
    if (length == 0) break;
    position += length;
  }
  return position;
}

// An integer of 64 bits or a decimal number.
bool IsReadableNumber(simdjson::ondemand::value value, std::string_view token) {
  uint64_t natural = 0;
  int64_t integer = 0;
  double decimal = 0;
  if (value.get_uint64().get(natural) == simdjson::SUCCESS ||
      value.get_int64().get(integer) == simdjson::SUCCESS) {
    return true;
  }
  return token.find_first_of(".eE") != std::string_view::npos &&
         value.get_double().get(decimal) == simdjson::SUCCESS;
}

// True when the value can be read. Objects and strings are taken on trust.
bool IsReadable(simdjson::ondemand::value value) {
  const std::string_view token = value.raw_json_token();
  bool truth = false;
  switch (token.front()) {
    case '"':
    case '{':
      return true;
    case 't':
    case 'f':
      return value.get_bool().get(truth) == simdjson::SUCCESS;
    case 'n':
      return value.is_null().get(truth) == simdjson::SUCCESS && truth;
    default:
      return IsReadableNumber(value, token);
  }
}

// The name and the text of the object's first value that cannot be read;
// nothing when all can be. A list counts from its first bad element on.
std::optional<std::pair<std::string, std::string_view>> FindBadValue(
    const simdjson::padded_string& text) {
  namespace ondemand = simdjson::ondemand;
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const auto from = [&text](ondemand::value& value) {
    const char* at = value.raw_json_token().data();
    return std::string_view(at, text.data() + text.size() - at);
  };
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(value) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    const std::string name(key);
    ondemand::array array;
    if (value.raw_json_token().front() != '[') {
      const std::string_view rest = from(value);
      if (!IsReadable(value)) return std::pair(name, rest);
      continue;
    }
    if (value.get_array().get(array) != simdjson::SUCCESS) continue;
    int64_t index = 0;
    for (auto element : array) {
      ondemand::value item;
      if (element.get(item) != simdjson::SUCCESS) return std::nullopt;
      const std::string_view rest = from(item);
      if (!IsReadable(item)) {
        return std::pair(absl::StrCat(name, "[", index, "]"), rest);
      }
      ++index;
    }
  }
  return std::nullopt;
}

}  // namespace

JsonFields::JsonFields(simdjson::dom::object object, const TraceProblem& place,
                       std::string prefix, std::vector<TraceProblem>* problems)
    : object_(object),
      place_(place),
      prefix_(std::move(prefix)),
      problems_(problems) {
  std::vector<std::string_view> keys;
  for (const auto field : object_) keys.push_back(field.key);
  std::sort(keys.begin(), keys.end());
  for (size_t i = 1; i < keys.size(); ++i) {
    if (keys[i] != keys[i - 1] || (i > 1 && keys[i] == keys[i - 2])) continue;
    AddProblem(AbslView(keys[i]), "the field more than once", "one value");
  }
}

std::optional<simdjson::dom::element> JsonFields::Find(
    absl::string_view name) const {
  simdjson::dom::element value;
  if (object_.at_key(StdView(name)).get(value) != simdjson::SUCCESS ||
      value.is_null()) {
    return std::nullopt;
  }
  return value;
}

int64_t JsonFields::Integer(absl::string_view name, int64_t min, int64_t max,
                            absl::string_view accepted) {
  if (!Find(name).has_value()) {
    AddMissing(name, accepted);
    return min;
  }
  return OptionalInteger(name, min, max, min, accepted);
}

int64_t JsonFields::OptionalInteger(absl::string_view name, int64_t min,
                                    int64_t max, int64_t fallback,
                                    absl::string_view accepted) {
  const std::optional<simdjson::dom::element> value = Find(name);
  if (!value.has_value()) return fallback;
  int64_t number = 0;
  if (value->get_int64().get(number) != simdjson::SUCCESS || number < min ||
      number > max) {
    AddProblem(name, Text(*value), accepted);
    return min;
  }
  return number;
}

void JsonFields::Ids(absl::string_view name, std::vector<uint64_t>* ids) {
  ids->clear();
  const std::optional<simdjson::dom::element> value = Find(name);
  if (!value.has_value()) {
    AddMissing(name, kAcceptedHashIds);
    return;
  }
  simdjson::dom::array array;
  if (value->get_array().get(array) != simdjson::SUCCESS) {
    AddProblem(name, Text(*value), kAcceptedHashIds);
    return;
  }
  for (const simdjson::dom::element element : array) {
    uint64_t id = 0;
    if (element.get_uint64().get(id) != simdjson::SUCCESS) {
      AddProblem(absl::StrCat(name, "[", ids->size(), "]"), Text(element),
                 "an integer from 0 to 18446744073709551615");
    }
    ids->push_back(id);
  }
}

void JsonFields::HashNames(absl::string_view name, std::vector<uint64_t>* ids) {
  ids->clear();
  const std::optional<simdjson::dom::element> value = Find(name);
  simdjson::dom::array array;
  if (!value.has_value()) {
    AddMissing(name, "a list of hashes");
    return;
  }
  if (value->get_array().get(array) != simdjson::SUCCESS) {
    AddProblem(name, Text(*value), "a list of hashes");
    return;
  }
  for (const simdjson::dom::element element : array) {
    const std::optional<uint64_t> id = HashId(element);
    if (!id.has_value()) {
      AddProblem(absl::StrCat(name, "[", ids->size(), "]"), Text(element),
                 kAcceptedHashName);
    }
    ids->push_back(id.value_or(0));
  }
}

int64_t JsonFields::Milliseconds(absl::string_view name) {
  if (!Find(name).has_value()) AddMissing(name, kAcceptedMilliseconds);
  return Time(name, /*is_seconds=*/false).value_or(0);
}

int64_t JsonFields::Seconds(absl::string_view name) {
  if (!Find(name).has_value()) AddMissing(name, kAcceptedSeconds);
  return Time(name, /*is_seconds=*/true).value_or(0);
}

std::optional<int64_t> JsonFields::OptionalMilliseconds(
    absl::string_view name) {
  return Time(name, /*is_seconds=*/false);
}

std::optional<int64_t> JsonFields::OptionalSeconds(absl::string_view name) {
  return Time(name, /*is_seconds=*/true);
}

std::optional<int64_t> JsonFields::Time(absl::string_view name,
                                        bool is_seconds) {
  const std::optional<simdjson::dom::element> value = Find(name);
  if (!value.has_value()) return std::nullopt;
  std::optional<int64_t> time_ns;
  int64_t integer = 0;
  double decimal = 0;
  if (value->get_int64().get(integer) == simdjson::SUCCESS) {
    time_ns = ToNanoseconds(integer, is_seconds);
  } else if (value->get_double().get(decimal) == simdjson::SUCCESS) {
    time_ns = ToNanoseconds(decimal, is_seconds);
  }
  if (!time_ns.has_value()) {
    AddProblem(name, Text(*value),
               is_seconds ? kAcceptedSeconds : kAcceptedMilliseconds);
  }
  return time_ns;
}

std::optional<int64_t> JsonFields::OptionalTime(absl::string_view name,
                                                int64_t unit_ns) {
  const std::optional<simdjson::dom::element> value = Find(name);
  if (!value.has_value()) return std::nullopt;
  const int64_t max = kMaxTraceTimeNs / unit_ns;
  int64_t integer = 0;
  double decimal = 0;
  if (value->get_int64().get(integer) == simdjson::SUCCESS) {
    if (integer >= 0 && integer <= max) return integer * unit_ns;
  } else if (value->get_double().get(decimal) == simdjson::SUCCESS) {
    const double ns = std::nearbyint(decimal * static_cast<double>(unit_ns));
    if (ns >= 0 && ns <= static_cast<double>(kMaxTraceTimeNs)) {
      return static_cast<int64_t>(ns);
    }
  }
  const std::string unit = unit_ns == 1'000'000'000 ? "seconds"
                           : unit_ns == 1'000'000
                               ? "milliseconds"
                               : absl::StrCat("units of ", unit_ns, " ns");
  AddProblem(name, Text(*value),
             absl::StrCat("a number of ", unit, " from 0 to ", max));
  return std::nullopt;
}

std::string JsonFields::OptionalName(absl::string_view name) {
  const std::optional<simdjson::dom::element> value = Find(name);
  if (!value.has_value()) return "";
  std::string_view text;
  int64_t number = 0;
  if (value->get_string().get(text) == simdjson::SUCCESS) {
    return std::string(text);
  }
  if (value->get_int64().get(number) == simdjson::SUCCESS) {
    return absl::StrCat(number);
  }
  AddProblem(name, Text(*value), "a string or an integer");
  return "";
}

std::optional<simdjson::dom::object> JsonFields::OptionalObject(
    absl::string_view name) {
  const std::optional<simdjson::dom::element> value = Find(name);
  if (!value.has_value()) return std::nullopt;
  simdjson::dom::object object;
  if (value->get_object().get(object) == simdjson::SUCCESS) return object;
  AddProblem(name, Text(*value), "an object");
  return std::nullopt;
}

std::string JsonFields::OneOf(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (Find(name).has_value()) return name;
  }
  return names.front();
}

void JsonFields::AddProblem(absl::string_view name, std::string found,
                            absl::string_view accepted) {
  TraceProblem problem = place_;
  problem.field = absl::StrCat(prefix_, name);
  problem.found = std::move(found);
  problem.accepted = std::string(accepted);
  problems_->push_back(std::move(problem));
}

void JsonFields::AddMissing(absl::string_view name,
                            absl::string_view accepted) {
  AddProblem(name, "no value", accepted);
}

std::optional<uint64_t> HashId(simdjson::dom::element value) {
  std::string_view text;
  uint64_t natural = 0;
  int64_t integer = 0;
  if (value.get_uint64().get(natural) == simdjson::SUCCESS) return natural;
  if (value.get_int64().get(integer) == simdjson::SUCCESS) {
    return static_cast<uint64_t>(integer);
  }
  if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return HashNameToId(AbslView(text));
}

TraceProblem DescribeJsonError(absl::string_view text,
                               simdjson::error_code error,
                               const TraceProblem& place) {
  TraceProblem problem = place;
  if (const size_t bad = FirstInvalidUtf8(text); bad < text.size()) {
    problem.found = absl::StrCat("the byte ", Excerpt(text.substr(bad, 1)),
                                 " at offset ", bad, ", which is not UTF-8");
    problem.accepted = "UTF-8 text";
    return problem;
  }
  const simdjson::padded_string padded(text.data(), text.size());
  if (const auto bad = FindBadValue(padded); bad.has_value()) {
    problem.field = bad->first;
    problem.found = Excerpt(AbslView(bad->second), 24);
  } else {
    problem.found = Excerpt(text);
  }
  absl::StrAppend(&problem.found, " (", simdjson::error_message(error), ")");
  problem.accepted = "a complete JSON object (JSON knows no NaN, no Infinity)";
  return problem;
}

}  // namespace kvsim
