// The look-ups that LMCache and UCM log.
//
// Format:     JSON lines with times in seconds since 1970 and one hash, in
//             hexadecimal digits or as an integer, per whole chunk.
//             LMCache: `timestamp`, `chunk_hashes`, and where the server writes
//             them `chunk_size` (else 256) and `seq_len`.
//             UCM: `timestamp`, `op_type`, `block_size`, `block_hashes` (or
//             `hashes`), `tokens_num`. Operations of a type other than "load"
//             and "lookup" (what was stored: "dump") are passed over.
// Lengths:    a look-up without its length counts its whole chunks, at least
//             one token. Answers are not logged: outputs are 0.
// Order:      several processes write a log, so it is sorted; the first row
//             arrives at 0.
// Source:     LMCache's lookup-hash log and its chunk statistics. UCM's log was
//             never seen by the authors: its names are those of its source.
#ifndef KVSIM_TRACES_LOOKUP_ROWS_H_
#define KVSIM_TRACES_LOOKUP_ROWS_H_

#include <string>
#include <vector>

#include "traces/json_rows.h"

namespace kvsim {

// What a look-up log calls its fields.
struct LookupLog {
  std::vector<std::string> hashes;
  std::vector<std::string> length;
  std::string chunk_size;
  int64_t default_chunk_size = 0;
  bool has_operations = false;
};

LookupLog LmcacheLog();
LookupLog UcmLog();

class LookupRows final : public JsonRows {
 public:
  explicit LookupRows(LookupLog log);

  RowTraits traits() const override { return kLogTraits; }

 private:
  Outcome DecodeFields(JsonFields* fields, const TraceProblem& place,
                       DecodedRow* row,
                       std::vector<TraceProblem>* problems) override;
  void ReadLength(JsonFields* fields, TraceRequest* row);

  LookupLog log_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_LOOKUP_ROWS_H_
