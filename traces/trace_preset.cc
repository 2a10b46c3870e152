#include "traces/trace_preset.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "traces/json_fields.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kMaxRows = 50'000'000;
constexpr int64_t kMaxMs = kMaxTraceTimeNs / 1'000'000;
constexpr int64_t kMaxTokenSum = std::numeric_limits<int64_t>::max();

// A list of `count` integers in [min, max], in which each of the `groups` equal
// parts ascends.
void ReadQuantiles(JsonFields* fields, const char* name, int64_t groups,
                   int64_t count, int64_t min, int64_t max,
                   std::vector<int64_t>* quantiles) {
  std::vector<uint64_t> numbers;
  fields->Ids(name, &numbers);
  bool is_good = static_cast<int64_t>(numbers.size()) == groups * count;
  for (size_t i = 0; is_good && i < numbers.size(); ++i) {
    is_good =
        numbers[i] >= static_cast<uint64_t>(min) &&
        numbers[i] <= static_cast<uint64_t>(max) &&
        (static_cast<int64_t>(i) % count == 0 || numbers[i] >= numbers[i - 1]);
  }
  if (!is_good) {
    fields->AddProblem(
        name, absl::StrCat(numbers.size(), " numbers"),
        absl::StrCat(groups * count, " integers from ", min, " to ", max,
                     ", ascending in groups of ", count));
  }
  quantiles->assign(numbers.begin(), numbers.end());
}

int64_t ReadNumber(JsonFields* fields, const char* name, int64_t min,
                   int64_t max) {
  return fields->Integer(name, min, max,
                         absl::StrCat("an integer from ", min, " to ", max));
}

void ReadPreset(JsonFields* fields, TracePreset* preset) {
  using P = TracePreset;
  preset->source = fields->OptionalName("source");
  preset->rows = ReadNumber(fields, "rows", 1, kMaxRows);
  preset->hash_block = ReadNumber(fields, "hash_block", 1, kMaxHashBlock);
  preset->span_ms = ReadNumber(fields, "span_ms", 0, kMaxMs);
  preset->moments = ReadNumber(fields, "moments", 1, kMaxRows);
  preset->input_tokens = ReadNumber(fields, "input_tokens", 1, kMaxTokenSum);
  preset->hit_tokens = ReadNumber(fields, "hit_tokens", 0, kMaxTokenSum);
  ReadQuantiles(fields, "input_quantiles", 1, P::kQuantiles, 1, kMaxTraceTokens,
                &preset->input_quantiles);
  ReadQuantiles(fields, "output_quantiles", 1, P::kQuantiles, 0,
                kMaxTraceTokens, &preset->output_quantiles);
  ReadQuantiles(fields, "hit_shares", P::kClasses, P::kShares, 0, P::kWhole,
                &preset->hit_shares);
  ReadQuantiles(fields, "ages", P::kDepths, P::kShares, 1, kMaxRows,
                &preset->ages);
  if (preset->hit_tokens > preset->input_tokens) {
    fields->AddProblem("hit_tokens", absl::StrCat(preset->hit_tokens),
                       "at most input_tokens");
  }
}

void AppendList(const char* name, const std::vector<int64_t>& numbers,
                std::string* json) {
  absl::StrAppend(json, ",\n  \"", name, "\": [");
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool is_new_line = i % 16 == 0;
    absl::StrAppend(json, i == 0 ? "" : ",", is_new_line ? "\n    " : " ",
                    numbers[i]);
  }
  absl::StrAppend(json, "]");
}

// As a JSON string; anything that would need an escape becomes a space.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted.push_back(c < ' ' || c == '"' || c == '\\' || c > '~' ? ' ' : c);
  }
  return quoted + "\"";
}

}  // namespace

absl::StatusOr<TracePreset> ParseTracePreset(absl::string_view json,
                                             const std::string& name) {
  const TraceProblem place{name, 0, "", "", ""};
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  const auto error = parser.parse(json.data(), json.size()).get(document);
  if (error != simdjson::SUCCESS) {
    return DescribeJsonError(json, error, place).ToStatus();
  }
  simdjson::dom::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) {
    TraceProblem problem = place;
    problem.found = Excerpt(json);
    problem.accepted = "one JSON object";
    return problem.ToStatus();
  }
  std::vector<TraceProblem> problems;
  JsonFields fields(object, place, "", &problems);
  TracePreset preset;
  ReadPreset(&fields, &preset);
  if (!problems.empty()) return problems.front().ToStatus();
  return preset;
}

std::string TracePresetToJson(const TracePreset& preset) {
  std::string json =
      absl::StrCat("{\n  \"source\": ", Quoted(preset.source),
                   ",\n  \"rows\": ", preset.rows,
                   ",\n  \"hash_block\": ", preset.hash_block,
                   ",\n  \"span_ms\": ", preset.span_ms,
                   ",\n  \"moments\": ", preset.moments,
                   ",\n  \"input_tokens\": ", preset.input_tokens,
                   ",\n  \"hit_tokens\": ", preset.hit_tokens);
  AppendList("input_quantiles", preset.input_quantiles, &json);
  AppendList("output_quantiles", preset.output_quantiles, &json);
  AppendList("hit_shares", preset.hit_shares, &json);
  AppendList("ages", preset.ages, &json);
  return json + "\n}\n";
}

int64_t QuantileAt(const int64_t* quantiles, int64_t count, int64_t position) {
  const int64_t at = position * (count - 1);  // below 2^43
  const int64_t index = std::min(at >> 32, count - 2);
  const int64_t rest = at - (index << 32);
  const int64_t low = quantiles[index];
  const int64_t step = quantiles[index + 1] - low;
  const absl::int128 half = absl::int128(1) << 31;
  return low + static_cast<int64_t>((absl::int128(step) * rest + half) >> 32);
}

}  // namespace kvsim
