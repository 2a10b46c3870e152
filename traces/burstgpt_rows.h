// The rows of BurstGPT.
//
// Format:     CSV, read by the header's names, because releases differ in their
//             columns: `Timestamp` (seconds from the midnight before the trace;
//             the first row becomes 0 here), `Request tokens`, `Response
//             tokens` (0: the request failed); some releases have `Session ID`
//             (conversations only) and `Elapsed time` (seconds, the whole
//             answer). `Model`, `Total tokens` and `Log Type` are not used.
// Source:     github.com/HPMLL/BurstGPT.
#ifndef KVSIM_TRACES_BURSTGPT_ROWS_H_
#define KVSIM_TRACES_BURSTGPT_ROWS_H_

#include <vector>

#include "traces/csv_table.h"
#include "traces/row_decoder.h"

namespace kvsim {

class BurstGptRows final : public RowDecoder {
 public:
  RowTraits traits() const override {
    return {.has_header = true, .in_order = true, .shift_to_zero = true};
  }
  void ReadHeader(absl::string_view line, const TraceProblem& place,
                  std::vector<TraceProblem>* problems) override;
  Outcome Decode(absl::string_view line, const TraceProblem& place,
                 DecodedRow* row, std::vector<TraceProblem>* problems) override;
  bool MayHaveSessions(absl::string_view) const override {
    return table_.HasColumn("Session ID");
  }

 private:
  CsvTable table_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_BURSTGPT_ROWS_H_
