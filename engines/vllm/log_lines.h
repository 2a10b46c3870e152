// Lines of vLLM's start-up log that concern the cache, V0 and v1.
//
// Model:   facts as engines/startup_log.h has them. Of several ranks each has
//          its own under "ranks."; the key is the tensor rank, "PP1_TP0" with
//          pipeline stages and "DP1_..." beyond the first replica. A pair of
//          size and concurrency for every worker gives "pairs.N." each; the
//          smallest pool is the engine's and goes without.

#ifndef KVSIM_ENGINES_VLLM_LOG_LINES_H_
#define KVSIM_ENGINES_VLLM_LOG_LINES_H_

#include <cstdint>

#include "engines/log_lines.h"
#include "engines/startup_log.h"

namespace kvsim::vllm {

class LogLineReader {
 public:
  void Read(const LogMessage& message, StartupLog* log);

 private:
  void ReadSizes(const LogMessage& message, StartupLog* log);

  int64_t pairs_ = 0;
  bool open_ = false;  // a size was read, its concurrency not yet
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_LOG_LINES_H_
