// Token counts in the answers of an OpenAI-style API.
//
// Format:     JSON lines, one answer each: `usage` with `prompt_tokens` and
//             `completion_tokens` (or `input_tokens`, `output_tokens`), or
//             these fields without `usage`; the time as `created`, `created_at`
//             or `timestamp`, seconds since 1970 or a civil time in text; the
//             conversation as `session_id` or `conversation_id`. Answers
//             without `completion_tokens` gave none. No ids: nothing can be
//             shared.
// Order:      logs are written when answers end, so they are sorted; the first
//             row arrives at 0. How long an answer took is not known.
// Source:     the Chat Completions and Responses objects.
#ifndef KVSIM_TRACES_OPENAI_ROWS_H_
#define KVSIM_TRACES_OPENAI_ROWS_H_

#include <vector>

#include "traces/json_rows.h"

namespace kvsim {

class OpenAiRows final : public JsonRows {
 public:
  RowTraits traits() const override { return kLogTraits; }

 private:
  Outcome DecodeFields(JsonFields* fields, const TraceProblem& place,
                       DecodedRow* row,
                       std::vector<TraceProblem>* problems) override;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_OPENAI_ROWS_H_
