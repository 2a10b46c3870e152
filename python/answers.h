// The commands' answers as Python objects.
//
// Model:      a command runs in this process as from a shell, with --json; its
//             text becomes a dict. Where protobuf's JSON writes 64-bit integers
//             as strings, the message's own definition turns them back.
// Threads:    the caller holds the GIL, which is released while a command runs.
#ifndef KVSIM_PYTHON_ANSWERS_H_
#define KVSIM_PYTHON_ANSWERS_H_

#include <pybind11/pybind11.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "sim/step_observer.h"
#include "tools/command.h"
#include "tools/run_listener.h"

namespace kvsim {

// Declares the commands that Answer knows, to be looked at. `context` must
// outlive `app`.
void DeclareCommands(CLI::App& app, CommandContext& context);

// Lets Python handle signals while kvsim runs: its own handlers stay in place
// and an exception of theirs, such as KeyboardInterrupt, ends the run.
class SignalListener final : public RunListener {
 public:
  SignalListener();
  // Looks at the clock every 256 steps, and at Python every 0.1 s.
  void OnStep(const StepRecord& record, const Engine& engine) override;
  const bool* stop() const override { return &stop_; }

  // Asks Python now; false when it has raised something. Takes the GIL.
  bool GoOn();
  // Throws what Python raised, if it did. REQUIRES: the GIL is held.
  void Rethrow() const;

 private:
  bool stop_ = false;
  std::optional<pybind11::error_already_set> raised_;
  int64_t next_ns_;  // of the steady clock
};

// Runs `kvsim ARGUMENTS --json` and returns the object it prints. `observer`
// sees the steps of a replay and may be null. Throws KvsimError with what the
// command said when it fails.
pybind11::dict Answer(std::vector<std::string> arguments,
                      StepObserver* observer = nullptr);

// Replaces the strings of `message`'s 64-bit integers, below it too.
void ReadIntegers(const google::protobuf::Descriptor& type,
                  pybind11::dict message);

}  // namespace kvsim

#endif  // KVSIM_PYTHON_ANSWERS_H_
