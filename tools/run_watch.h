// Watches a long run: progress for a terminal, and Ctrl-C.
//
// Model:      an observer that, every 256 steps, looks at the clock and prints
//             one line over the last one when half a second has passed. While
//             one is alive, SIGINT does not end the program but turns
//             *stop() true at the next step; a second SIGINT ends it.
// Threads:    at most one is alive in a process.
#ifndef KVSIM_TOOLS_RUN_WATCH_H_
#define KVSIM_TOOLS_RUN_WATCH_H_

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iosfwd>

#include "tools/run_listener.h"

namespace kvsim {

class RunWatch final : public RunListener {
 public:
  // Prints to `err` when it is the process's standard error on a terminal.
  explicit RunWatch(std::ostream* err);
  // Clears the line and gives SIGINT back.
  ~RunWatch() override;
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  void OnStep(const StepRecord& record, const Engine& engine) override;

  const bool* stop() const override { return &stop_; }

 private:
  void Print(const StepRecord& record);

  std::ostream* err_;  // null: quiet
  bool stop_ = false;
  bool printed_ = false;
  int64_t finished_ = 0;
  std::chrono::steady_clock::time_point next_;
  struct sigaction before_;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_RUN_WATCH_H_
