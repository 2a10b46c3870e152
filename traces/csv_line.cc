#include "traces/csv_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/trace_problem.h"

namespace kvsim {
namespace {

absl::Status Refuse(size_t field, absl::string_view found,
                    absl::string_view accepted) {
  return absl::InvalidArgumentError(absl::StrCat(
      "column ", field + 1, ": found ", found, "; accepted: ", accepted));
}

// Reads the field at *at, which stands on its first character, and leaves *at
// on the comma or at the end.
absl::Status TakeQuoted(absl::string_view line, size_t index, size_t* at,
                        std::string* field) {
  for (++*at; *at < line.size(); ++*at) {
    if (line[*at] != '"') {
      field->push_back(line[*at]);
    } else if (*at + 1 < line.size() && line[*at + 1] == '"') {
      field->push_back('"');
      ++*at;
    } else {
      ++*at;
      if (*at == line.size() || line[*at] == ',') return absl::OkStatus();
      return Refuse(index, Excerpt(line.substr(*at, 20)),
                    "a comma behind the closing quote");
    }
  }
  return Refuse(index, "a quote that does not close",
                "a field that ends on its line");
}

absl::Status TakePlain(absl::string_view line, size_t index, size_t* at,
                       std::string* field) {
  const size_t comma = std::min(line.find(',', *at), line.size());
  const absl::string_view text = line.substr(*at, comma - *at);
  if (text.find('"') != absl::string_view::npos) {
    return Refuse(index, Excerpt(text), "quotes around the whole field");
  }
  field->assign(text.data(), text.size());
  *at = comma;
  return absl::OkStatus();
}

}  // namespace

absl::Status SplitCsvLine(absl::string_view line,
                          std::vector<std::string>* fields) {
  fields->clear();
  for (size_t at = 0;; ++at) {  // over the comma
    std::string field;
    const bool is_quoted = at < line.size() && line[at] == '"';
    const absl::Status status =
        is_quoted ? TakeQuoted(line, fields->size(), &at, &field)
                  : TakePlain(line, fields->size(), &at, &field);
    if (!status.ok()) return status;
    fields->push_back(std::move(field));
    if (at == line.size()) return absl::OkStatus();
  }
}

}  // namespace kvsim
