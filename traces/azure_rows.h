// The rows of the Azure LLM inference traces.
//
// Format:     CSV `TIMESTAMP,ContextTokens,GeneratedTokens`; TIMESTAMP is a UTC
//             time with up to seven digits behind the point; CRLF, no final
//             newline. No ids, no sessions: nothing can be shared.
// Source:     github.com/Azure/AzurePublicDataset, 2023 and 2024.
#ifndef KVSIM_TRACES_AZURE_ROWS_H_
#define KVSIM_TRACES_AZURE_ROWS_H_

#include <vector>

#include "traces/csv_table.h"
#include "traces/row_decoder.h"

namespace kvsim {

class AzureRows final : public RowDecoder {
 public:
  RowTraits traits() const override {
    return {.has_header = true, .in_order = true, .shift_to_zero = true};
  }
  void ReadHeader(absl::string_view line, const TraceProblem& place,
                  std::vector<TraceProblem>* problems) override;
  Outcome Decode(absl::string_view line, const TraceProblem& place,
                 DecodedRow* row, std::vector<TraceProblem>* problems) override;

 private:
  CsvTable table_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_AZURE_ROWS_H_
