// What can be wrong with a row only because of the rows before it, in the words
// that every reader of lines uses.
#ifndef KVSIM_TRACES_ROW_PROBLEMS_H_
#define KVSIM_TRACES_ROW_PROBLEMS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "traces/trace_problem.h"

namespace kvsim {

// The row at `place` arrives before the row before it.
TraceProblem OutOfOrder(TraceProblem place, int64_t arrival_ns,
                        int64_t last_arrival_ns);

// It has a session, and the first row had none.
TraceProblem UnannouncedSession(TraceProblem place, absl::string_view session);

}  // namespace kvsim

#endif  // KVSIM_TRACES_ROW_PROBLEMS_H_
