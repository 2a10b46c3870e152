#include "traces/row_linker.h"

#include <algorithm>
#include <utility>

namespace kvsim {

RowLinker::Turn RowLinker::Previous(const DecodedRow& decoded) const {
  if (!decoded.parent.empty()) {
    const auto it = by_name_.find(decoded.parent);
    return it == by_name_.end() ? Turn() : it->second;
  }
  const auto it = by_session_.find(decoded.session);
  if (it != by_session_.end()) return it->second;
  const auto starter = by_session_.find(decoded.starter);
  Turn turn;
  if (starter == by_session_.end()) return turn;
  turn.row = starter->second.row;
  turn.end_ns = starter->second.end_ns;
  return turn;
}

void RowLinker::Link(DecodedRow* decoded, TraceRequest* row) {
  *row = std::move(decoded->request);
  row->id = next_id_++;
  row->scope = 0;
  row->session = -1;
  row->turn = 0;
  row->previous = -1;
  if (decoded->session.empty() && decoded->name.empty() &&
      decoded->parent.empty()) {
    return;
  }
  const Turn previous = Previous(*decoded);
  Turn turn;
  turn.session = previous.session >= 0 ? previous.session : sessions_++;
  turn.row = row->id;
  turn.turn = previous.turn + 1;
  turn.end_ns = row->arrival_ns + decoded->service_ns;
  row->session = turn.session;
  row->turn = turn.turn;
  row->previous = previous.row;
  if (!decoded->has_think_time) {
    row->think_time_ns =
        previous.row < 0
            ? 0
            : std::max<int64_t>(0, row->arrival_ns - previous.end_ns);
  }
  if (!decoded->session.empty()) by_session_[decoded->session] = turn;
  if (!decoded->name.empty()) by_name_[decoded->name] = turn;
}

}  // namespace kvsim
