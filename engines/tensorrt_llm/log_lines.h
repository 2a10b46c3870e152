// Lines of TensorRT-LLM's start-up log that concern the cache.
//
// Model:   facts as engines/startup_log.h has them, of each rank under
//          "ranks." (rank 0 where the prefix names none). Lines that are
//          printed twice, for an estimate and for good, count the last time.

#ifndef KVSIM_ENGINES_TENSORRT_LLM_LOG_LINES_H_
#define KVSIM_ENGINES_TENSORRT_LLM_LOG_LINES_H_

#include "engines/log_lines.h"
#include "engines/startup_log.h"

namespace kvsim::tensorrt_llm {

class LogLineReader {
 public:
  void Read(const LogMessage& message, StartupLog* log);
};

}  // namespace kvsim::tensorrt_llm

#endif  // KVSIM_ENGINES_TENSORRT_LLM_LOG_LINES_H_
