// Requests, as far as vLLM's KV-cache events show them.
//
// Format:     JSON lines, one batch each: `[time, [event, ...], rank]` or an
//             object with `ts` (or `timestamp`) and `events`; times in seconds
//             since 1970. An event is an object with a `type` or, as engines
//             wrote it until 2026, a list that begins with it. Events of type
//             BlockStored count: `block_hashes`, `parent_block_hash`,
//             `block_size`, `medium`, `group_idx`; others are passed over, as
//             are media other than GPU and groups other than the first.
// Model:      an event that stores blocks behind the last block of a request
//             that stored its last one at most ten seconds before continues
//             that request; any other begins one, whose prompt starts with all
//             ancestors of its parent. A row arrives with its first event.
// Limits:     a request whose blocks were all cached leaves no event; an answer
//             cannot be told from its prompt and counts as prompt; tokens
//             behind the last whole block are not seen.
// Source:     vllm/distributed/kv_events.py.
#ifndef KVSIM_TRACES_KV_EVENT_ROWS_H_
#define KVSIM_TRACES_KV_EVENT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "traces/json_line.h"
#include "traces/row_decoder.h"

namespace kvsim {

class KvEventRows final : public RowDecoder {
 public:
  RowTraits traits() const override { return kLogTraits; }
  // Always kNoRequest: the rows come with Finish.
  Outcome Decode(absl::string_view line, const TraceProblem& place,
                 DecodedRow* row, std::vector<TraceProblem>* problems) override;
  void Finish(std::vector<DecodedRow>* rows) override;

 private:
  // One request while it is put together.
  struct Chain {
    std::vector<uint64_t> ids;
    int64_t block_size = 0;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
  };
  // Where a block was stored last.
  struct Place {
    size_t chain;
    size_t index;
  };
  struct Event;

  void ReadEvents(simdjson::dom::array events, int64_t time_ns,
                  const TraceProblem& place,
                  std::vector<TraceProblem>* problems);
  void Store(const Event& event, int64_t time_ns, const TraceProblem& place,
             std::vector<TraceProblem>* problems);
  std::optional<size_t> ChainFor(const Event& event, int64_t time_ns);

  JsonLineParser parser_;
  std::vector<Chain> chains_;
  absl::flat_hash_map<uint64_t, Place> blocks_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_KV_EVENT_ROWS_H_
