// Writes Mooncake JSONL.
//
// Model:      every row keeps its token identities, whatever format it came
//             from. Unless told to keep them, ids are renumbered densely over
//             the file in order of appearance, one number per (scope, id), and
//             a partial block without an id gets a number of its own: it is
//             shared with nobody, as before.
// Adds:       `block_size` when a row's ids do not cover 512 tokens, `priority`
//             when it is not 0, `session_id` and `delay` (ms) for sessions.
// Loses:      times below a microsecond (rounded), `previous` of a subagent's
//             first turn.
// Costs:      when renumbering, 32 bytes per distinct id.
#ifndef KVSIM_TRACES_MOONCAKE_WRITER_H_
#define KVSIM_TRACES_MOONCAKE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "traces/trace_writer.h"

namespace kvsim {

class MooncakeWriter final : public TraceWriter {
 public:
  MooncakeWriter(const TraceWriterOptions& options,
                 std::unique_ptr<ByteSink> sink);

  absl::Status Write(const TraceRequest& row) override;
  absl::Status Finish() override;

 private:
  void AppendIds(const TraceRequest& row);
  void AppendRenumbered(const TraceRequest& row, int64_t hash_block);
  void AppendSession(const TraceRequest& row);

  TraceWriterOptions options_;
  std::unique_ptr<ByteSink> sink_;
  std::string line_;
  uint64_t next_number_ = 0;
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, uint64_t> numbers_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_MOONCAKE_WRITER_H_
