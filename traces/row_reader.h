// Reads every format of one record a line, with that format's RowDecoder.
//
// Model:      in-order formats are streamed, and a row that arrives before its
//             predecessor is refused unless disorder is allowed. Formats that
//             are written out of order are read at opening and sorted, stably.
// Accepted:   CRLF, no final newline, empty lines (skipped), lines up to 256
//             MiB.
// Costs:      streaming: the longest line. Sorting: the whole trace in memory.
// Errors:     every problem of a line is in problems(); the next call goes on
//             behind it, except behind a bad header. When sorting, all problems
//             come first.
#ifndef KVSIM_TRACES_ROW_READER_H_
#define KVSIM_TRACES_ROW_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "traces/byte_source.h"
#include "traces/line_reader.h"
#include "traces/row_decoder.h"
#include "traces/row_linker.h"
#include "traces/trace_reader.h"

namespace kvsim {

class RowReader final : public TraceReader {
 public:
  static absl::StatusOr<std::unique_ptr<RowReader>> Open(
      std::unique_ptr<ByteSource> source, std::unique_ptr<RowDecoder> decoder,
      TraceFormat format, bool allow_disorder = false);

  absl::StatusOr<bool> Next(TraceRequest* row) override;
  std::span<const TraceProblem> problems() const override { return problems_; }
  bool can_continue() const override { return can_continue_; }
  TraceFormat format() const override { return format_; }
  bool has_sessions() const override { return has_sessions_; }

 private:
  RowReader(std::unique_ptr<ByteSource> source,
            std::unique_ptr<RowDecoder> decoder, TraceFormat format,
            bool allow_disorder);
  absl::Status Begin();
  absl::Status SortAll();
  absl::StatusOr<bool> NextLine();
  absl::StatusOr<bool> NextDecoded(DecodedRow* row);
  absl::StatusOr<bool> NextSorted(TraceRequest* row);
  void CheckOrder(const DecodedRow& row);
  void Give(DecodedRow* decoded, TraceRequest* row);
  TraceProblem Place() const;

  LineReader lines_;
  std::unique_ptr<RowDecoder> decoder_;
  TraceFormat format_;
  bool allow_disorder_;
  RowTraits traits_;
  RowLinker linker_;

  absl::string_view line_;
  bool line_is_held_ = false;  // line_ was read ahead and not decoded yet
  bool is_dead_ = false;       // the header was bad
  bool has_sessions_ = false;
  bool can_continue_ = false;
  std::optional<int64_t> zero_ns_;  // the first row's time
  int64_t last_arrival_ns_ = 0;
  std::vector<TraceProblem> problems_;

  // When sorting: what was read at opening.
  bool is_sorted_ = false;
  std::vector<DecodedRow> rows_;
  size_t next_row_ = 0;
  std::vector<std::vector<TraceProblem>> bad_;
  size_t next_bad_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_ROW_READER_H_
