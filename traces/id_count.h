// How many ids a row must have for its prompt: what each format promises.
#ifndef KVSIM_TRACES_ID_COUNT_H_
#define KVSIM_TRACES_ID_COUNT_H_

#include <cstdint>

#include "traces/json_fields.h"
#include "traces/trace_request.h"

namespace kvsim {

enum class IdCount : uint8_t {
  kWholeBlocks,  // floor(input_length / hash_block)
  kAllBlocks,    // ceil: the last id may name a block that the prompt begins
  kEither,
};

// Adds a problem about the field `name` when the row's ids are too few or too
// many. REQUIRES: the row's lengths are sound.
void CheckIdCount(const TraceRequest& row, IdCount rule, absl::string_view name,
                  JsonFields* fields);

}  // namespace kvsim

#endif  // KVSIM_TRACES_ID_COUNT_H_
