// Lines of SGLang's start-up log that concern the caches.
//
// Model:   facts as engines/startup_log.h has them, of each tensor rank under
//          "ranks.". A draft model prints the lines of its rows again: they are
//          "draft_kv_tokens" and so on, as is the second of the two lines that
//          windows have beside full rows (the windows' is first); a third is
//          "more_kv_tokens". "GB" is GiB.

#ifndef KVSIM_ENGINES_SGLANG_LOG_LINES_H_
#define KVSIM_ENGINES_SGLANG_LOG_LINES_H_

#include "engines/log_lines.h"
#include "engines/startup_log.h"

namespace kvsim::sglang {

class LogLineReader {
 public:
  void Read(const LogMessage& message, StartupLog* log);
};

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_LOG_LINES_H_
