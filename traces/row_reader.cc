#include "traces/row_reader.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/strip.h"
#include "traces/row_problems.h"

namespace kvsim {

RowReader::RowReader(std::unique_ptr<ByteSource> source,
                     std::unique_ptr<RowDecoder> decoder, TraceFormat format,
                     bool allow_disorder)
    : lines_(std::move(source)),
      decoder_(std::move(decoder)),
      format_(format),
      allow_disorder_(allow_disorder),
      traits_(decoder_->traits()) {}

absl::StatusOr<std::unique_ptr<RowReader>> RowReader::Open(
    std::unique_ptr<ByteSource> source, std::unique_ptr<RowDecoder> decoder,
    TraceFormat format, bool allow_disorder) {
  auto reader = absl::WrapUnique(new RowReader(
      std::move(source), std::move(decoder), format, allow_disorder));
  if (absl::Status status = reader->Begin(); !status.ok()) return status;
  return reader;
}

TraceProblem RowReader::Place() const {
  return TraceProblem{lines_.path(), lines_.line_number(), "", "", ""};
}

// Reads the header, looks at the first row, and reads on when the rows have to
// be sorted.
absl::Status RowReader::Begin() {
  if (traits_.has_header) {
    const absl::StatusOr<bool> found = NextLine();
    if (!found.ok()) return found.status();
    std::vector<TraceProblem> problems;
    decoder_->ReadHeader(*found ? line_ : absl::string_view(), Place(),
                         &problems);
    if (!problems.empty()) {
      is_dead_ = true;
      bad_.push_back(std::move(problems));
      return absl::OkStatus();
    }
  }
  const absl::StatusOr<bool> found = NextLine();
  if (!found.ok()) return found.status();
  line_is_held_ = *found;
  has_sessions_ = *found && decoder_->MayHaveSessions(line_);
  // Times that count from the first row need the earliest one first.
  is_sorted_ = !traits_.in_order || (allow_disorder_ && traits_.shift_to_zero);
  return is_sorted_ ? SortAll() : absl::OkStatus();
}

absl::Status RowReader::SortAll() {
  while (true) {
    DecodedRow row;
    const absl::StatusOr<bool> found = NextDecoded(&row);
    if (!found.ok() && problems_.empty()) return found.status();
    if (!found.ok()) {
      bad_.push_back(std::move(problems_));
      continue;
    }
    if (!*found) break;
    has_sessions_ =
        has_sessions_ || !row.session.empty() || !row.parent.empty();
    rows_.push_back(std::move(row));
  }
  decoder_->Finish(&rows_);
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const DecodedRow& a, const DecodedRow& b) {
                     return a.request.arrival_ns < b.request.arrival_ns;
                   });
  return absl::OkStatus();
}

// Puts the next line that is not blank into line_.
absl::StatusOr<bool> RowReader::NextLine() {
  if (line_is_held_) {
    line_is_held_ = false;
    return true;
  }
  absl::StatusOr<bool> found = lines_.NextFilled(&line_);
  if (found.ok() && *found) line_ = absl::StripSuffix(line_, "\r");
  return found;
}

// The next line that is a request.
absl::StatusOr<bool> RowReader::NextDecoded(DecodedRow* row) {
  problems_.clear();
  while (true) {
    const absl::StatusOr<bool> found = NextLine();
    if (!found.ok() || !*found) return found;
    const RowDecoder::Outcome outcome =
        decoder_->Decode(line_, Place(), row, &problems_);
    if (!problems_.empty()) return problems_.front().ToStatus();
    if (outcome == RowDecoder::Outcome::kRow) return true;
  }
}

absl::StatusOr<bool> RowReader::Next(TraceRequest* row) {
  problems_.clear();
  can_continue_ = false;
  if (is_dead_ || is_sorted_) return NextSorted(row);
  DecodedRow decoded;
  const absl::StatusOr<bool> found = NextDecoded(&decoded);
  if (found.ok() && !*found) return false;
  if (found.ok()) CheckOrder(decoded);
  if (!problems_.empty()) {
    can_continue_ = true;
    return problems_.front().ToStatus();
  }
  if (!found.ok()) return found.status();
  Give(&decoded, row);
  return true;
}

absl::StatusOr<bool> RowReader::NextSorted(TraceRequest* row) {
  if (next_bad_ < bad_.size()) {
    problems_ = std::move(bad_[next_bad_++]);
    can_continue_ = !is_dead_;
    return problems_.front().ToStatus();
  }
  if (next_row_ == rows_.size()) return false;
  DecodedRow& decoded = rows_[next_row_++];
  Give(&decoded, row);
  return true;
}

void RowReader::CheckOrder(const DecodedRow& row) {
  if (!problems_.empty()) return;
  if (row.has_arrival && row.request.arrival_ns < last_arrival_ns_ &&
      !allow_disorder_) {
    problems_.push_back(
        OutOfOrder(Place(), row.request.arrival_ns, last_arrival_ns_));
  } else if (!row.session.empty() && !has_sessions_) {
    problems_.push_back(UnannouncedSession(Place(), row.session));
  }
}

void RowReader::Give(DecodedRow* decoded, TraceRequest* row) {
  int64_t& arrival_ns = decoded->request.arrival_ns;
  if (!decoded->has_arrival) arrival_ns = last_arrival_ns_;
  last_arrival_ns_ = arrival_ns;
  if (traits_.shift_to_zero) {
    if (!zero_ns_.has_value()) zero_ns_ = arrival_ns;
    arrival_ns -= *zero_ns_;
  }
  linker_.Link(decoded, row);
}

}  // namespace kvsim
