#include "traces/json_rows.h"

#include <optional>

namespace kvsim {

RowDecoder::Outcome JsonRows::Decode(absl::string_view line,
                                     const TraceProblem& place, DecodedRow* row,
                                     std::vector<TraceProblem>* problems) {
  *row = DecodedRow();
  const std::optional<simdjson::dom::object> object =
      parser_.Parse(line, place, problems);
  if (!object.has_value()) return Outcome::kRow;
  JsonFields fields(*object, place, "", problems);
  return DecodeFields(&fields, place, row, problems);
}

}  // namespace kvsim
