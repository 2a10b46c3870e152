#include "traces/json_line.h"

#include "traces/json_fields.h"
#include "traces/line_reader.h"

namespace kvsim {

static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);

std::optional<simdjson::dom::element> JsonLineParser::ParseValue(
    absl::string_view line, const TraceProblem& place,
    std::vector<TraceProblem>* problems) {
  simdjson::dom::element value;
  const auto error =
      parser_.parse(line.data(), line.size(), /*realloc_if_needed=*/false)
          .get(value);
  if (error == simdjson::SUCCESS) return value;
  problems->push_back(DescribeJsonError(line, error, place));
  return std::nullopt;
}

std::optional<simdjson::dom::object> JsonLineParser::Parse(
    absl::string_view line, const TraceProblem& place,
    std::vector<TraceProblem>* problems) {
  const std::optional<simdjson::dom::element> value =
      ParseValue(line, place, problems);
  if (!value.has_value()) return std::nullopt;
  simdjson::dom::object object;
  if (value->get_object().get(object) == simdjson::SUCCESS) return object;
  TraceProblem problem = place;
  problem.found = Excerpt(line);
  problem.accepted = "one JSON object a line";
  problems->push_back(std::move(problem));
  return std::nullopt;
}

}  // namespace kvsim
