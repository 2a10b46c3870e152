// One conversation in WEKA's (kv-cache-tester's) JSON form.
//
// Format:     {"block_size": 64, "requests": [{"t": s, "type": "s"|"n", "in",
//             "out", "hash_ids", "api_time": s, "think_time": s}, …]}. One id
//             per full block: floor(in / block_size) ids, comparable inside the
//             conversation. An entry of type "subagent" nests requests of its
//             own, whose `t` counts from the subagent's `t`.
// Model:      the conversation is a session of turns; each subagent is a
//             further session in the same id scope. A turn follows the turn
//             before it in its session; a subagent's first turn follows the
//             last turn that its parent made before it. Without think_time a
//             turn has waited from the end of the one before (its t + api_time,
//             api_time 0 if missing).
// Costs:      a turn stores only the ids that its session's previous turn did
//             not have: about a twentieth of the file's.
#ifndef KVSIM_TRACES_WEKA_CONVERSATION_H_
#define KVSIM_TRACES_WEKA_CONVERSATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "traces/trace_problem.h"

namespace kvsim {

struct WekaTurn {
  int64_t arrival_ns = 0;  // from the conversation's start
  int64_t input_length = 0;
  int64_t output_length = 0;
  int64_t think_time_ns = 0;
  int64_t session = 0;    // 0: the conversation; from 1: its subagents
  int64_t turn = 0;       // within the session
  int64_t previous = -1;  // index into turns
  // The ids are those of the session's turn before, cut to shared_ids, and then
  // new_ids.
  int64_t shared_ids = 0;
  std::vector<uint64_t> new_ids;
};

struct WekaConversation {
  int64_t hash_block = 0;
  int64_t sessions = 0;
  std::vector<WekaTurn>
      turns;  // in file order; times of a session never decrease
};

// Problems of one entry stay together: one group per bad entry.
using ProblemGroups = std::vector<std::vector<TraceProblem>>;

// Reads `text`, which must be a whole conversation. Good turns are kept beside
// bad ones. `place` names the file.
WekaConversation ParseWekaConversation(const std::string& text,
                                       const TraceProblem& place,
                                       ProblemGroups* problems);

}  // namespace kvsim

#endif  // KVSIM_TRACES_WEKA_CONVERSATION_H_
