// Lines of llama.cpp's start-up log that concern the caches.
//
// Model:   facts as engines/startup_log.h has them. Caches are "caches.0" and
//          so on in order: a line that announces one or a first buffer opens
//          it, the line of its size closes it. `kind` is "kv", "non-SWA", "SWA"
//          or "recurrent". A drafter's context prints caches of its own.

#ifndef KVSIM_ENGINES_LLAMA_CPP_LOG_LINES_H_
#define KVSIM_ENGINES_LLAMA_CPP_LOG_LINES_H_

#include <string>

#include "engines/log_lines.h"
#include "engines/startup_log.h"

namespace kvsim::llama_cpp {

class LogLineReader {
 public:
  void Read(const LogMessage& message, StartupLog* log);

 private:
  void ReadCaches(absl::string_view text, int64_t line, StartupLog* log);
  void ReadSize(absl::string_view text, int64_t line, StartupLog* log);
  // "caches.N." of the cache that is open; opens one of `kind` if none is.
  std::string Open(absl::string_view kind, int64_t line, StartupLog* log);

  int caches_ = 0;
  bool open_ = false;
};

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_LOG_LINES_H_
