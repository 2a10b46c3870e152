// What a line-by-line trace format has to say: how one line becomes a row.
//
// Model:      a RowDecoder knows one format's fields and units. Everything that
//             needs more than a line — order, numbering, sessions, the trace's
//             time zero — is RowReader's and the same for all formats.
// Threads:    one per decoder.
#ifndef KVSIM_TRACES_ROW_DECODER_H_
#define KVSIM_TRACES_ROW_DECODER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/trace_problem.h"
#include "traces/trace_request.h"

namespace kvsim {

// A row before it is numbered.
struct DecodedRow {
  TraceRequest request;        // all but id, scope, session, turn and previous
  bool has_arrival = true;     // false: it arrives with the row before it
  bool has_think_time = true;  // false: the time since the end of `previous`
  int64_t service_ns = 0;      // how long the answer took, 0 if not known

  // Which row it follows: the latest one of the same session, or the one whose
  // name is `parent`. Empty: none. A session's first row follows the latest row
  // of `starter`, the session that started this one, if there is one.
  std::string session;
  std::string starter;
  std::string name;
  std::string parent;
};

// What is true of all files of a format.
struct RowTraits {
  bool has_header = false;  // the first line names the columns
  // Rows stand in the order of their arrival. False for logs written when an
  // answer ends: they are read as a whole and sorted, stably.
  bool in_order = true;
  // Times count from something else than the trace's start: the first row
  // arrives at 0.
  bool shift_to_zero = false;
};

// Of logs, which are written when something ends and count from some other time.
inline constexpr RowTraits kLogTraits = {
    .has_header = false, .in_order = false, .shift_to_zero = true};

class RowDecoder {
 public:
  enum class Outcome { kRow, kNoRequest };

  virtual ~RowDecoder() = default;

  virtual RowTraits traits() const = 0;

  // The line with the names of the columns. Appends what is wrong with it.
  virtual void ReadHeader(absl::string_view line, const TraceProblem& place,
                          std::vector<TraceProblem>* problems);

  // Overwrites *row. Appends what is wrong; the row is good when nothing was
  // appended. kNoRequest: a record that is sound and no request.
  // REQUIRES: 64 bytes behind the line are readable.
  virtual Outcome Decode(absl::string_view line, const TraceProblem& place,
                         DecodedRow* row,
                         std::vector<TraceProblem>* problems) = 0;

  // Appends the rows that only the end of the file completes. Called once, for
  // formats that are not in order.
  virtual void Finish(std::vector<DecodedRow>* rows);

  // True when rows of an ordered format may have sessions or parents; `first` is
  // the first line of a row. Sorted ones are known when all rows are.
  virtual bool MayHaveSessions(absl::string_view first) const;
};

inline void RowDecoder::ReadHeader(absl::string_view, const TraceProblem&,
                                   std::vector<TraceProblem>*) {}

inline void RowDecoder::Finish(std::vector<DecodedRow>*) {}

inline bool RowDecoder::MayHaveSessions(absl::string_view) const {
  return false;
}

}  // namespace kvsim

#endif  // KVSIM_TRACES_ROW_DECODER_H_
