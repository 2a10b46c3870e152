#include "traces/mooncake_reader.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace kvsim {
namespace {

bool IsBlank(absl::string_view line) {
  return line.find_first_not_of(" \t\r") == absl::string_view::npos;
}

std::string Ms(int64_t time_ns) {
  return absl::StrCat(FormatRatio(time_ns, 1'000'000, 3), " ms");
}

}  // namespace

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
  while (true) {
    absl::StatusOr<bool> found = lines_.Next(&line_);
    if (!found.ok() || !*found || !IsBlank(line_)) return found;
  }
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
    const TraceProblem place{lines_.path(), lines_.line_number(), "", "", ""};
    decoder_.DecodeChecked(line_, place, row, &row_session_, &problems_);
  }
  if (problems_.empty()) CheckOrder(*row);
}

void MooncakeReader::CheckOrder(const TraceRequest& row) {
  if (row.arrival_ns < last_arrival_ns_ && !allow_disorder_) {
    AddProblem(
        "timestamp", Ms(row.arrival_ns),
        absl::StrCat("at least the row before it, ", Ms(last_arrival_ns_),
                     " (`kvsim trace convert --sort` sorts a trace "
                     "once)"));
  }
  if (row_session_.is_given && !has_sessions_) {
    AddProblem("session_id", Excerpt(row_session_.name),
               "no session, because the first row has none");
  }
}

void MooncakeReader::AddProblem(const std::string& field,
                                const std::string& found,
                                const std::string& accepted) {
  problems_.push_back(
      {lines_.path(), lines_.line_number(), field, found, accepted});
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
