#include "traces/delta_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mix.h"

namespace kvsim {
namespace {

// More blocks in one session are damage, and would fill the memory.
constexpr int64_t kMaxBlocks = int64_t{1} << 24;

// Kinds of source: tokens of an id, a piece's tail, an answer.
constexpr uint64_t kIdKind = 0x243f6a8885a308d3;
constexpr uint64_t kTailKind = 0x13198a2e03707344;
constexpr uint64_t kAnswerKind = 0xa4093822299f31d0;

uint64_t Absorb(uint64_t state, uint64_t word) {
  return Mix(Mix(state + 0x9e3779b97f4a7c15) ^ word);
}

}  // namespace

DeltaRows::DeltaRows() : pieces_(DynamoMooncakeDialect()) {}

void DeltaRows::Session::Append(uint64_t source, int64_t start, int64_t added) {
  while (added > 0) {
    const int64_t room = hash_block - length % hash_block;
    const int64_t taken = std::min(room, added);
    open = Absorb(open, source);
    open = Absorb(open, static_cast<uint64_t>(start));
    open = Absorb(open, static_cast<uint64_t>(taken));
    start += taken;
    added -= taken;
    length += taken;
    if (taken < room) continue;
    chain = Absorb(chain, std::exchange(open, 0));
    ids.push_back(chain);
  }
}

RowDecoder::Outcome DeltaRows::Decode(absl::string_view line,
                                      const TraceProblem& place,
                                      DecodedRow* row,
                                      std::vector<TraceProblem>* problems) {
  const Outcome outcome = pieces_.Decode(line, place, row, problems);
  if (!problems->empty()) return outcome;
  ++rows_;
  TraceRequest& request = row->request;
  if (row->session.empty() && request.hash_block == 0) return outcome;
  Session alone;
  Session& session = row->session.empty() ? alone : sessions_[row->session];
  if (session.hash_block == 0) {
    session.hash_block = request.hash_block > 0 ? request.hash_block : 512;
  }
  if (!CheckSize(session, request, place, problems)) return outcome;
  AppendPiece(request, &session);
  request.input_length = session.length;
  request.hash_block = session.hash_block;
  request.hash_ids = session.ids;
  session.Append(Mix(kAnswerKind ^ rows_), 0, request.output_length);
  return outcome;
}

bool DeltaRows::CheckSize(const Session& session, const TraceRequest& piece,
                          const TraceProblem& place,
                          std::vector<TraceProblem>* problems) const {
  TraceProblem problem = place;
  const int64_t length =
      session.length + piece.input_length + piece.output_length;
  if (piece.hash_block > 0 && piece.hash_block != session.hash_block) {
    problem.field = "block_size";
    problem.found = absl::StrCat(piece.hash_block);
    problem.accepted =
        absl::StrCat("the session's ", session.hash_block, " in every turn");
  } else if (length / session.hash_block > kMaxBlocks) {
    problem.field = "input_length";
    problem.found = absl::StrCat("a session of ", length, " tokens");
    problem.accepted = absl::StrCat("at most ", kMaxBlocks, " blocks of ",
                                    session.hash_block, " tokens");
  } else {
    return true;
  }
  problems->push_back(std::move(problem));
  return false;
}

void DeltaRows::AppendPiece(const TraceRequest& piece, Session* session) {
  const int64_t whole = piece.full_hash_blocks();
  for (int64_t i = 0; i < whole; ++i) {
    session->Append(Mix(kIdKind ^ piece.hash_ids[static_cast<size_t>(i)]), 0,
                    piece.hash_block);
  }
  const int64_t covered = whole * piece.hash_block;
  session->Append(Mix(kTailKind ^ rows_), covered,
                  piece.input_length - covered);
}

}  // namespace kvsim
