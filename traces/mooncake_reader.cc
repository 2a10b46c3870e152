#include "traces/mooncake_reader.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

bool IsBlank(absl::string_view line) {
  return line.find_first_not_of(" \t\r") == absl::string_view::npos;
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
  std::swap(row_.request.hash_ids, row->hash_ids);  // reuse its memory
  Decode();
  if (!problems_.empty()) {
    can_continue_ = true;
    return problems_.front().ToStatus();
  }
  last_arrival_ns_ = row_.request.arrival_ns;
  row_.request.id = next_id_++;
  if (row_.has_session) FollowSession();
  std::swap(*row, row_.request);
  return true;
}

void MooncakeReader::Decode() {
  if (!decoder_.DecodeFast(line_, &row_)) {
    const TraceProblem place{lines_.path(), lines_.line_number(), "", "", ""};
    decoder_.DecodeChecked(line_, place, &row_, &problems_);
  }
  if (problems_.empty()) CheckOrder();
}

void MooncakeReader::CheckOrder() {
  TraceProblem problem{lines_.path(), lines_.line_number(), "", "", ""};
  if (row_.request.arrival_ns < last_arrival_ns_ && !allow_disorder_) {
    problem.field = "timestamp";
    problem.found = absl::StrCat(row_.request.arrival_ns / 1e6, " ms");
    problem.accepted =
        absl::StrCat("at least the row before it, ", last_arrival_ns_ / 1e6,
                     " ms (`kvsim trace convert --sort` sorts a trace once)");
    problems_.push_back(problem);
  }
  if (row_.has_session && !has_sessions_) {
    problem.field = "session_id";
    problem.found = Excerpt(row_.session);
    problem.accepted = "no session, because the first row has none";
    problems_.push_back(problem);
  }
}

void MooncakeReader::FollowSession() {
  TraceRequest& request = row_.request;
  const auto [it, is_new] = sessions_.try_emplace(
      row_.session,
      Session{static_cast<int64_t>(sessions_.size()), /*last_id=*/-1,
              /*turns=*/0});
  Session& session = it->second;
  request.session = session.number;
  request.turn = session.turns++;
  request.previous = session.last_id;
  session.last_id = request.id;
}

}  // namespace kvsim
