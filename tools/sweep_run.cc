#include "tools/sweep_run.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/replay_run.h"
#include "tools/report_columns.h"

namespace kvsim {
namespace {

SweepRow RunPoint(const SweepGrid& grid, const ReplayFlags& flags,
                  int64_t point) {
  SweepRow row;
  row.values = grid.Values(point);
  ReplayFlags turned = flags;
  absl::Status status = grid.Apply(point, &turned);
  status.Update(CheckModes(turned));
  if (status.ok()) {
    const absl::StatusOr<Report> report = RunReplay(turned, nullptr);
    status = report.status();
    for (const ReportColumn& column : ReportColumns()) {
      if (status.ok()) row.figures.push_back(column.Text(*report));
    }
  }
  row.error = std::string(status.message());
  return row;
}

}  // namespace

absl::Status RunSweep(const SweepGrid& grid, const ReplayFlags& flags, int jobs,
                      const std::function<void()>& progress,
                      SweepStore* store) {
  std::vector<int64_t> missing;
  for (int64_t point = 0; point < grid.size(); ++point) {
    if (store->rows().count(point) == 0) missing.push_back(point);
  }
  std::mutex mutex;  // guards what follows, and the store
  size_t next = 0;
  absl::Status failed;
  const auto work = [&] {
    std::unique_lock<std::mutex> lock(mutex);
    while (next < missing.size() && failed.ok()) {
      const int64_t point = missing[next++];
      lock.unlock();
      SweepRow row = RunPoint(grid, flags, point);
      lock.lock();
      failed.Update(store->Put(point, std::move(row)));
      progress();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return failed;
}

}  // namespace kvsim
