// A RowDecoder for formats of one JSON object a line: parses the line, the format
// reads the fields.
#ifndef KVSIM_TRACES_JSON_ROWS_H_
#define KVSIM_TRACES_JSON_ROWS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "traces/json_fields.h"
#include "traces/json_line.h"
#include "traces/row_decoder.h"

namespace kvsim {

class JsonRows : public RowDecoder {
 public:
  Outcome Decode(absl::string_view line, const TraceProblem& place,
                 DecodedRow* row, std::vector<TraceProblem>* problems) final;

 protected:
  // Fills in *row, which is empty. `fields` adds to *problems at `place`; both
  // are for objects inside the line's.
  virtual Outcome DecodeFields(JsonFields* fields, const TraceProblem& place,
                               DecodedRow* row,
                               std::vector<TraceProblem>* problems) = 0;

 private:
  JsonLineParser parser_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_JSON_ROWS_H_
