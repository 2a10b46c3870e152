#include "traces/first_record.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace kvsim {
namespace {

// The position behind the string that begins at `at`, or the text's end.
size_t StringEnd(absl::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// The position of the comma or bracket that ends the value at `at`.
size_t ValueEnd(absl::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = StringEnd(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return text.size();
}

size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  return at;
}

}  // namespace

FirstRecord::FirstRecord(absl::string_view begin) : raw_(begin) {
  absl::ConsumePrefix(&begin, "\xef\xbb\xbf");  // a byte order mark
  text_ = begin.substr(SkipSpace(begin, 0));
  if (!text_.empty() && text_.front() == '{') ScanObject();
}

absl::string_view FirstRecord::line() const {
  return absl::StripSuffix(text_.substr(0, text_.find('\n')), "\r");
}

void FirstRecord::ScanObject() {
  size_t at = 1;
  while ((at = SkipSpace(text_, at)) < text_.size() && text_[at] == '"') {
    const size_t name_end = StringEnd(text_, at);
    const size_t colon = SkipSpace(text_, name_end);
    if (colon >= text_.size() || text_[colon] != ':') return;
    const size_t value = SkipSpace(text_, colon + 1);
    const size_t end = ValueEnd(text_, value);
    fields_.push_back({text_.substr(at + 1, name_end - at - 2),
                       text_.substr(value, end - value)});
    if (end >= text_.size() || text_[end] != ',') return;
    at = end + 1;
  }
}

const FirstRecord::Field* FirstRecord::Find(absl::string_view name) const {
  const auto it =
      std::find_if(fields_.begin(), fields_.end(),
                   [name](const Field& field) { return field.name == name; });
  return it == fields_.end() ? nullptr : &*it;
}

bool FirstRecord::HasAny(std::initializer_list<absl::string_view> names) const {
  return std::any_of(names.begin(), names.end(), [this](absl::string_view n) {
    return Find(n) != nullptr;
  });
}

bool FirstRecord::HasAll(std::initializer_list<absl::string_view> names) const {
  return std::all_of(names.begin(), names.end(), [this](absl::string_view n) {
    return Find(n) != nullptr;
  });
}

std::optional<int64_t> FirstRecord::ListSize(absl::string_view name) const {
  const Field* const field = Find(name);
  if (field == nullptr) return std::nullopt;
  absl::string_view list = absl::StripAsciiWhitespace(field->value);
  if (!absl::ConsumePrefix(&list, "[") || !absl::ConsumeSuffix(&list, "]")) {
    return std::nullopt;
  }
  if (absl::StripAsciiWhitespace(list).empty()) return 0;
  return 1 + std::count(list.begin(), list.end(), ',');
}

std::optional<int64_t> FirstRecord::Number(absl::string_view name) const {
  const Field* const field = Find(name);
  int64_t number = 0;
  if (field == nullptr || !absl::SimpleAtoi(field->value, &number) ||
      number < 0) {
    return std::nullopt;
  }
  return number;
}

}  // namespace kvsim
