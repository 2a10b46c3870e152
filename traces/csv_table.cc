#include "traces/csv_table.h"

#include <simdjson.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/decimal.h"
#include "traces/csv_line.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr char kAcceptedSeconds[] =
    "a decimal number of seconds from 0 to 2305843009";

TraceProblem Problem(const TraceProblem& place, absl::string_view field,
                     std::string found, absl::string_view accepted) {
  TraceProblem problem = place;
  problem.field = std::string(field);
  problem.found = std::move(found);
  problem.accepted = std::string(accepted);
  return problem;
}

// Cuts the line; false with a problem when that fails.
bool Split(absl::string_view line, const TraceProblem& place,
           std::vector<std::string>* fields,
           std::vector<TraceProblem>* problems) {
  if (!simdjson::validate_utf8(line.data(), line.size())) {
    problems->push_back(
        Problem(place, "", Excerpt(line), "UTF-8 text, which this is not"));
    return false;
  }
  const absl::Status status = SplitCsvLine(line, fields);
  if (status.ok()) return true;
  TraceProblem problem = place;
  problem.found = absl::StrCat(Excerpt(line), " (", status.message(), ")");
  problem.accepted = "a CSV record";
  problems->push_back(std::move(problem));
  return false;
}

bool IsDigits(absl::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

std::optional<int64_t> ParseSeconds(absl::string_view text) {
  const std::optional<Decimal> number = ConsumeDecimal(&text);
  if (!number.has_value() || !text.empty()) return std::nullopt;
  const std::optional<int64_t> ns = Scale(*number, kNsPerSecond);
  if (!ns.has_value() || *ns > kMaxTraceTimeNs) return std::nullopt;
  return ns;
}

}  // namespace

void CsvTable::ReadHeader(absl::string_view line,
                          const std::vector<std::string>& required,
                          const TraceProblem& place,
                          std::vector<TraceProblem>* problems) {
  const std::string accepted =
      absl::StrCat("a header with ", absl::StrJoin(required, ", "));
  line = absl::StripPrefix(line, "\xef\xbb\xbf");  // a byte order mark
  if (line.empty()) {
    problems->push_back(Problem(place, "", "no header", accepted));
    return;
  }
  if (!Split(line, place, &columns_, problems)) return;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto earlier = columns_.begin() + i;
    if (std::find(columns_.begin(), earlier, columns_[i]) != earlier) {
      problems->push_back(
          Problem(place, columns_[i], "the column twice", "one column"));
    }
  }
  for (const std::string& name : required) {
    if (HasColumn(name)) continue;
    problems->push_back(Problem(place, name, Excerpt(line), accepted));
  }
}

bool CsvTable::HasColumn(absl::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

bool CsvTable::ReadRecord(absl::string_view line, const TraceProblem& place,
                          std::vector<TraceProblem>* problems) {
  place_ = place;
  problems_ = problems;
  if (!Split(line, place, &fields_, problems)) return false;
  if (fields_.size() == columns_.size()) return true;
  problems->push_back(Problem(
      place, "", absl::StrCat(fields_.size(), " fields in ", Excerpt(line)),
      absl::StrCat(columns_.size(), " fields, as in the header")));
  return false;
}

std::optional<absl::string_view> CsvTable::Text(
    absl::string_view column) const {
  const auto it = std::find(columns_.begin(), columns_.end(), column);
  if (it == columns_.end()) return std::nullopt;
  const std::string& field = fields_[it - columns_.begin()];
  if (field.empty()) return std::nullopt;
  return field;
}

int64_t CsvTable::Integer(absl::string_view column, int64_t min, int64_t max,
                          absl::string_view accepted) {
  const std::optional<absl::string_view> text = Text(column);
  int64_t value = 0;
  if (text.has_value() && IsDigits(*text) && absl::SimpleAtoi(*text, &value) &&
      value >= min && value <= max) {
    return value;
  }
  AddProblem(column, accepted);
  return min;
}

int64_t CsvTable::Seconds(absl::string_view column) {
  if (Text(column).has_value()) return OptionalSeconds(column);
  AddProblem(column, kAcceptedSeconds);
  return 0;
}

int64_t CsvTable::OptionalSeconds(absl::string_view column) {
  const std::optional<absl::string_view> text = Text(column);
  if (!text.has_value()) return 0;
  const std::optional<int64_t> ns = ParseSeconds(*text);
  if (!ns.has_value()) AddProblem(column, kAcceptedSeconds);
  return ns.value_or(0);
}

void CsvTable::AddProblem(absl::string_view column,
                          absl::string_view accepted) {
  const std::optional<absl::string_view> text = Text(column);
  problems_->push_back(Problem(place_, column,
                               text.has_value() ? Excerpt(*text) : "no value",
                               accepted));
}

}  // namespace kvsim
