// What every subcommand of kvsim shares: where it writes, how it fails, how it
// registers itself.
//
// A subcommand is one file pair, `tools/replay_command.{h,cc}`, with one
// function:
//
//   // Adds `kvsim replay`.
//   void AddReplayCommand(CLI::App& app, CommandContext& context) {
//     auto flags = std::make_shared<ReplayFlags>();
//     CLI::App* command = AddCommand(
//         app, context, "replay", "Replay a trace ...",
//         ServeArguments::kAccepted,
//         [flags, &context] { return Replay(*flags, context); });
//     command->add_option("--trace", flags->trace, "...")->required();
//   }
//
// and one line in the table of tools/kvsim.cc. The function given to
// AddCommand runs after all flags are parsed; its status decides the exit
// code:
//
//   OK               0  also when the answer is "it does not fit"
//   any other error  1  bad input: the message names file, line or field, the
//                       value found and what would be accepted
//   UsageError       2  the command line itself makes no sense
//
// The message of an error goes to `context.err`, prefixed with the command's
// name. Results, and nothing else, go to `context.out`; progress and warnings
// go to `context.err`. Commands never exit and never touch std::cout.

#ifndef KVSIM_TOOLS_COMMAND_H_
#define KVSIM_TOOLS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/text.h"

namespace kvsim {

inline constexpr int kExitOk = 0;
inline constexpr int kExitBadInput = 1;
inline constexpr int kExitWrongUsage = 2;

class RunListener;
class StepObserver;

struct CommandContext {
  // Neither is null; both outlive the command.
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;

  // The whole command line from "kvsim" on, for a report's manifest.
  std::vector<std::string> command_line;

  // What stood after a bare `--`: an engine's serve command, as pasted.
  std::vector<std::string> serve_arguments;

  // For a program that has kvsim inside itself; null in the command. `listener`
  // follows runs of `kvsim replay` in the place of a terminal's progress line
  // and Ctrl-C; `observer` sees every step of the replay itself.
  RunListener* listener = nullptr;
  StepObserver* observer = nullptr;

  // The commit the program was built from, for --version.
  std::string commit = "unknown";

  // Of bytes in text; JSON has bytes.
  ByteUnits units = ByteUnits::kBinary;

  int exit_code = kExitOk;
};

// Whether a command makes sense of arguments after `--`. One that does not
// reports them as wrong usage instead of ignoring them.
enum class ServeArguments { kAccepted, kRefused };

// Registers `kvsim NAME` and returns it, for the caller to add flags to.
// `app` and `context` must outlive parsing.
CLI::App* AddCommand(CLI::App& app, CommandContext& context,
                     const std::string& name, const std::string& description,
                     ServeArguments serve_arguments,
                     std::function<absl::Status()> run);

// An error that exits with 2: flags that contradict each other, a flag missing
// that another one needs.
absl::Status UsageError(absl::string_view message);
bool IsUsageError(const absl::Status& status);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMMAND_H_
