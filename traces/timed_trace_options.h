// What a timed trace calls its fields: vLLM's benchmark lets the user rename
// them, so a reader must too.
#ifndef KVSIM_TRACES_TIMED_TRACE_OPTIONS_H_
#define KVSIM_TRACES_TIMED_TRACE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace kvsim {

struct TimedTraceOptions {
  std::string timestamp = "timestamp";
  std::string input_length = "input_length";
  std::string output_length = "output_length";
  std::string hash_ids = "hash_ids";
  int64_t hash_block = 16;          // tokens per id
  int64_t unit_ns = 1'000'000'000;  // nanoseconds per unit of the timestamp
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_TIMED_TRACE_OPTIONS_H_
