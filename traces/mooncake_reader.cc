#include "traces/mooncake_reader.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "traces/row_problems.h"

namespace kvsim {

MooncakeReader::MooncakeReader(std::unique_ptr<ByteSource> source,
                               bool allow_disorder)
    : lines_(std::move(source)), allow_disorder_(allow_disorder) {}

absl::StatusOr<std::unique_ptr<MooncakeReader>> MooncakeReader::Open(
    std::unique_ptr<ByteSource> source, bool allow_disorder) {
  auto reader =
      absl::WrapUnique(new MooncakeReader(std::move(source), allow_disorder));
  const absl::StatusOr<bool> found = reader->NextLine();
  if (!found.ok()) return found.status();
  reader->line_is_held_ = *found;
  reader->has_sessions_ =
      *found && absl::StrContains(reader->line_, "\"session_id\"");
  return reader;
}

// Puts the next line that is not blank into line_.
absl::StatusOr<bool> MooncakeReader::NextLine() {
  if (line_is_held_) {
    line_is_held_ = false;
    return true;
  }
  return lines_.NextFilled(&line_);
}

absl::StatusOr<bool> MooncakeReader::Next(TraceRequest* row) {
  problems_.clear();
  can_continue_ = false;
  const absl::StatusOr<bool> found = NextLine();
  if (!found.ok() || !*found) return found;
  Decode(row);
  if (!problems_.empty()) {
    can_continue_ = true;
    return problems_.front().ToStatus();
  }
  last_arrival_ns_ = row->arrival_ns;
  row->id = next_id_++;
  FollowSession(row);
  return true;
}

void MooncakeReader::Decode(TraceRequest* row) {
  if (decoder_.DecodeFast(line_, row)) {
    row_session_.is_given = false;
  } else {
    decoder_.DecodeChecked(line_, Place(), row, &row_session_, &problems_);
  }
  if (problems_.empty()) CheckOrder(*row);
}

void MooncakeReader::CheckOrder(const TraceRequest& row) {
  if (row.arrival_ns < last_arrival_ns_ && !allow_disorder_) {
    problems_.push_back(OutOfOrder(Place(), row.arrival_ns, last_arrival_ns_));
  }
  if (row_session_.is_given && !has_sessions_) {
    problems_.push_back(UnannouncedSession(Place(), row_session_.name));
  }
}

TraceProblem MooncakeReader::Place() const {
  return TraceProblem{lines_.path(), lines_.line_number(), "", "", ""};
}

void MooncakeReader::FollowSession(TraceRequest* row) {
  row->session = -1;
  row->turn = 0;
  row->previous = -1;
  if (!row_session_.is_given) return;
  const auto [it, is_new] = sessions_.try_emplace(
      row_session_.name,
      Session{static_cast<int64_t>(sessions_.size()), /*last_id=*/-1,
              /*turns=*/0});
  Session& session = it->second;
  row->session = session.number;
  row->turn = session.turns++;
  row->previous = session.last_id;
  session.last_id = row->id;
}

}  // namespace kvsim
