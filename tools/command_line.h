// A command line of `kvsim`, parsed and carried out, whichever subcommands there
// are: the command has all, another program that has kvsim inside itself those
// it offers.

#ifndef KVSIM_TOOLS_COMMAND_LINE_H_
#define KVSIM_TOOLS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "tools/command.h"

namespace kvsim {

// Declares one subcommand: AddReplayCommand and its like.
using AddCommandFn = void (*)(CLI::App& app, CommandContext& context);

struct Subcommand {
  const char* name;  // the one that `add` declares
  AddCommandFn add;
  bool reads_others = false;  // looks at the other subcommands' flags
};

// Runs the command line `arguments` (without the program's own name) with the
// streams and observers of `context`. Fills in its command_line,
// serve_arguments and exit_code, and returns the latter: 0 ok, 1 bad input, 2
// wrong usage. Arguments after the first bare `--` are not parsed here; they
// reach the command as its serve arguments.
// Costs:   declaring flags is most of a short command's time, so only the command
//          that is named declares its own.
// Threads: any number at once, each with a context of its own, as long as those
// that replay have a listener (RunWatch takes over a signal).
int RunCommandLine(std::span<const Subcommand> commands,
                   const std::vector<std::string>& arguments,
                   CommandContext& context);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_COMMAND_LINE_H_
