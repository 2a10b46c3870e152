#include "tools/kvsim.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "tools/command.h"

namespace kvsim {
namespace {

using AddCommandFn = void (*)(CLI::App& app, CommandContext& context);

// In the order `kvsim --help` lists them: one line per subcommand.
constexpr AddCommandFn kCommands[] = {
    nullptr,
};

// Splits at the first bare `--`: ours before it, the engine's after it.
void SplitAtDashes(const std::vector<std::string>& arguments,
                   std::vector<std::string>& ours,
                   std::vector<std::string>& serve) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  ours.assign(arguments.begin(), dashes);
  if (dashes != arguments.end()) serve.assign(dashes + 1, arguments.end());
}

// Help and version are results; every other outcome of parsing is wrong usage.
int FinishParse(const CLI::App& app, const CLI::ParseError& error,
                std::ostream& out, std::ostream& err) {
  const int code = app.exit(error, out, err);
  return code == 0 ? kExitOk : kExitWrongUsage;
}

}  // namespace

int RunKvsim(const std::vector<std::string>& arguments, std::ostream& out,
             std::ostream& err) {
  CommandContext context;
  context.out = &out;
  context.err = &err;
  context.command_line = {"kvsim"};
  context.command_line.insert(context.command_line.end(), arguments.begin(),
                              arguments.end());
  std::vector<std::string> ours;
  SplitAtDashes(arguments, ours, context.serve_arguments);

  CLI::App app(
      "Replays request traces through an exact model of an LLM "
      "inference engine's KV-cache allocator.",
      "kvsim");
  app.set_version_flag("--version", std::string("kvsim ") + kVersion);
  app.require_subcommand(1);
  for (AddCommandFn add : kCommands) {
    if (add != nullptr) add(app, context);
  }
  // CLI11 takes arguments last first.
  std::reverse(ours.begin(), ours.end());
  try {
    app.parse(ours);
  } catch (const CLI::ParseError& error) {
    return FinishParse(app, error, out, err);
  }
  return context.exit_code;
}

}  // namespace kvsim
