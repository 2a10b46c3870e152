// --jobs: how many replays run at once.
#ifndef KVSIM_TOOLS_JOBS_FLAG_H_
#define KVSIM_TOOLS_JOBS_FLAG_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "tools/flag_reader.h"

namespace kvsim {

// `text` as typed; empty: all cores.
inline absl::StatusOr<int> ReadJobs(const std::string& text) {
  int64_t jobs = std::max(1u, std::thread::hardware_concurrency());
  FlagReader reader;
  reader.Read("--jobs", text, ParseCount, &jobs);
  if (jobs < 1 || jobs > 1024) {
    reader.Refuse("--jobs", text, "accepted: 1 to 1024");
  }
  if (!reader.status().ok()) return reader.status();
  return static_cast<int>(jobs);
}

}  // namespace kvsim

#endif  // KVSIM_TOOLS_JOBS_FLAG_H_
