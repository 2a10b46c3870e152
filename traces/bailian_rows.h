// The rows of the Qwen-Bailian usage traces.
//
// Format:     JSON lines: `chat_id`, `parent_chat_id` (-1: a conversation's
//             first turn), `timestamp` (seconds from the trace's start, a
//             decimal), `input_length`, `output_length`, `hash_ids` (16 tokens
//             per id); `turn` and `type` are not used. Ids are salted per file.
// Sessions:   a turn follows its parent; a parent that the file does not have
//             counts as none. How long an answer took is not recorded, so a
//             turn's wait includes the answer before it.
// Source:     github.com/alibaba-edu/qwen-bailian-usagetraces-anon.
#ifndef KVSIM_TRACES_BAILIAN_ROWS_H_
#define KVSIM_TRACES_BAILIAN_ROWS_H_

#include <vector>

#include "traces/json_rows.h"

namespace kvsim {

class BailianRows final : public JsonRows {
 public:
  RowTraits traits() const override { return RowTraits(); }
  bool MayHaveSessions(absl::string_view) const override { return true; }

 private:
  Outcome DecodeFields(JsonFields* fields, const TraceProblem& place,
                       DecodedRow* row,
                       std::vector<TraceProblem>* problems) override;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_BAILIAN_ROWS_H_
