#include "tools/replay_batch.h"

#include <atomic>
#include <cstddef>
#include <thread>

#include "absl/status/status.h"
#include "tools/replay_run.h"

namespace kvsim {

std::vector<absl::StatusOr<Report>> RunReplays(
    const std::vector<ReplayFlags>& runs, int jobs) {
  std::vector<absl::StatusOr<Report>> reports(runs.size(),
                                              absl::UnknownError("not run"));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < runs.size(); i = next++) {
      reports[i] = RunReplay(runs[i], nullptr);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return reports;
}

}  // namespace kvsim
