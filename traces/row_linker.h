// Numbers the rows of a trace and follows its sessions.
//
// Model:      rows come in the order of their arrival; each gets the next id. A
//             row with a parent follows that row in that row's session; a row
//             with a session follows the session's latest row, or, if it is the
//             first, that of the session that started it; a row with only a
//             name begins a session. A parent that was never seen counts as
//             none: the trace begins in the middle of a conversation.
// Costs:      one entry per session or named row.
#ifndef KVSIM_TRACES_ROW_LINKER_H_
#define KVSIM_TRACES_ROW_LINKER_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "traces/row_decoder.h"
#include "traces/trace_request.h"

namespace kvsim {

class RowLinker {
 public:
  // Moves decoded.request to *row and fills in what is missing.
  void Link(DecodedRow* decoded, TraceRequest* row);

 private:
  struct Turn {
    int64_t session = -1;
    int64_t row = -1;
    int64_t turn = -1;
    int64_t end_ns = 0;
  };

  Turn Previous(const DecodedRow& decoded) const;

  int64_t next_id_ = 0;
  int64_t sessions_ = 0;
  absl::flat_hash_map<std::string, Turn> by_session_;
  absl::flat_hash_map<std::string, Turn> by_name_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_ROW_LINKER_H_
