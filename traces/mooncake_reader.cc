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
  if (row_.request.arrival_ns < last_arrival_ns_ && !allow_disorder_) {
    AddProblem(
        "timestamp", Ms(row_.request.arrival_ns),
        absl::StrCat("at least the row before it, ", Ms(last_arrival_ns_),
                     " (`kvsim trace convert --sort` sorts a trace "
                     "once)"));
  }
  if (row_.has_session && !has_sessions_) {
    AddProblem("session_id", Excerpt(row_.session),
               "no session, because the first row has none");
  }
}

void MooncakeReader::AddProblem(const std::string& field,
                                const std::string& found,
                                const std::string& accepted) {
  problems_.push_back(
      {lines_.path(), lines_.line_number(), field, found, accepted});
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
