// Mooncake rows that say only what a turn adds to its session.
//
// Format:     as Mooncake's, with Dynamo's names; `input_length` and `hash_ids`
//             (512 tokens each, or `block_size`) describe the new tokens only.
//             A turn's prompt is the prompt before it, the answer to that, and
//             the new tokens. Rows without `session_id` are whole prompts.
// Ids:        the pieces do not begin on block borders, so the cumulative
//             prompt's whole blocks get new ids: a hash of what they and all
//             blocks before them cover. A piece's whole blocks mean the same in
//             every session; its partial tail and the answers belong to their
//             session.
// Costs:      the ids of every session stay in memory.
// Source:     AISimulate's and Dynamo's `mooncake-delta`.
#ifndef KVSIM_TRACES_DELTA_ROWS_H_
#define KVSIM_TRACES_DELTA_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "traces/mooncake_dialects.h"
#include "traces/row_decoder.h"

namespace kvsim {

class DeltaRows final : public RowDecoder {
 public:
  DeltaRows();

  RowTraits traits() const override { return RowTraits(); }
  Outcome Decode(absl::string_view line, const TraceProblem& place,
                 DecodedRow* row, std::vector<TraceProblem>* problems) override;
  bool MayHaveSessions(absl::string_view first) const override {
    return pieces_.MayHaveSessions(first);
  }

 private:
  // What one session has said so far.
  struct Session {
    int64_t hash_block = 0;
    int64_t length = 0;         // tokens
    uint64_t chain = 0;         // of the whole blocks
    uint64_t open = 0;          // of the last, partial block; 0 when empty
    std::vector<uint64_t> ids;  // of the whole blocks

    // Adds tokens [start, start + length) of a source.
    void Append(uint64_t source, int64_t start, int64_t length);
  };

  bool CheckSize(const Session& session, const TraceRequest& piece,
                 const TraceProblem& place,
                 std::vector<TraceProblem>* problems) const;
  void AppendPiece(const TraceRequest& piece, Session* session);

  MooncakeDialectRows pieces_;
  uint64_t rows_ = 0;
  absl::flat_hash_map<std::string, Session> sessions_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_DELTA_ROWS_H_
