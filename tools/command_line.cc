#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "engines/vllm/engine_version.h"
#include "kernels/kernel_set.h"
#include "tools/flag_words.h"
#include "tools/version.h"

namespace kvsim {
namespace {

// Splits at the first bare `--`: ours before it, the engine's after it.
void SplitAtDashes(const std::vector<std::string>& arguments,
                   std::vector<std::string>& ours,
                   std::vector<std::string>& serve) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::transform(arguments.begin(), dashes, std::back_inserter(ours),
                 ExpandShorthand);
  if (dashes != arguments.end()) serve.assign(dashes + 1, arguments.end());
}

// A sentence about a first word that is no command, which CLI11 would report as
// a missing subcommand; empty when the first word is fine or a flag.
std::string UnknownCommand(std::span<const Subcommand> commands,
                           const std::string& word) {
  if (word.empty() || word.rfind('-', 0) == 0) return "";
  std::vector<std::string> names;
  for (const Subcommand& command : commands) {
    if (word == command.name) return "";
    names.push_back(command.name);
  }
  return absl::StrCat("kvsim: no command \"", word, "\"; commands are ",
                      absl::StrJoin(names, ", "));
}

// The program, the commit, how new the rules are that it plays by, and which machines
// its page operations run on.
std::string VersionText(const std::string& commit) {
  return absl::StrCat("kvsim ", kVersion, "\ncommit ", commit, "\nrules  vLLM ",
                      vllm::NewestRules(), "\nkernels host",
                      CudaKernels() == nullptr
                          ? "; built without CUDA: nvcc was not found"
                          : ", CUDA (sm_80, sm_90, sm_100, PTX)");
}

// `--units` belongs to the program and may stand anywhere: in front of a command
// CLI11 knows it as the program's.
void MoveUnitsToFront(std::vector<std::string>& arguments) {
  const auto is_units = [](const std::string& argument) {
    return argument == "--units" || argument.rfind("--units=", 0) == 0;
  };
  const auto first = std::find_if(arguments.begin(), arguments.end(), is_units);
  if (first == arguments.end()) return;
  const bool has_value = *first == "--units" && first + 1 != arguments.end();
  std::rotate(arguments.begin(), first, first + (has_value ? 2 : 1));
}

void AddUnits(CLI::App& app, CommandContext& context) {
  const auto read = [&context](const std::string& text) {
    const std::string units = absl::AsciiStrToLower(text);
    if (units != "gib" && units != "gb") {
      throw CLI::ValidationError(
          "--units", absl::StrCat("found '", text, "'; accepted: gib, gb"));
    }
    context.units = units == "gb" ? ByteUnits::kDecimal : ByteUnits::kBinary;
  };
  app.add_option_function<std::string>(
         "--units", read,
         "Bytes in text: gib (KiB, MiB, GiB; the default) or gb (kB, MB, GB); "
         "may stand behind the command")
      ->option_text("gib|gb");
}

// The first word behind `--units gb` or `--units=gb`; empty when there is none.
std::string FirstWord(const std::vector<std::string>& arguments) {
  size_t word = 0;
  if (!arguments.empty() && arguments[0] == "--units") word = 2;
  if (!arguments.empty() && arguments[0].rfind("--units=", 0) == 0) word = 1;
  return word < arguments.size() ? arguments[word] : "";
}

// The command that is named, or all of them when none is.
void AddSubcommands(std::span<const Subcommand> commands,
                    const std::string& word, CLI::App& app,
                    CommandContext& context) {
  for (const Subcommand& command : commands) {
    if (word == command.name && !command.reads_others) {
      return command.add(app, context);
    }
  }
  for (const Subcommand& command : commands) command.add(app, context);
}

// Help and version are results; every other outcome of parsing is wrong usage.
int FinishParse(const CLI::App& app, const CLI::ParseError& error,
                std::ostream& out, std::ostream& err) {
  const int code = app.exit(error, out, err);
  return code == 0 ? kExitOk : kExitWrongUsage;
}

}  // namespace

int RunCommandLine(std::span<const Subcommand> commands,
                   const std::vector<std::string>& arguments,
                   CommandContext& context) {
  context.exit_code = kExitOk;
  context.command_line = {"kvsim"};
  context.command_line.insert(context.command_line.end(), arguments.begin(),
                              arguments.end());
  std::vector<std::string> ours;
  context.serve_arguments.clear();
  SplitAtDashes(arguments, ours, context.serve_arguments);

  CLI::App app(
      "Replays request traces through an exact model of an LLM "
      "inference engine's KV-cache allocator.",
      "kvsim");
  app.set_version_flag("--version", VersionText(context.commit));
  AddUnits(app, context);
  app.require_subcommand(1);
  MoveUnitsToFront(ours);
  const std::string word = FirstWord(ours);
  AddSubcommands(commands, word, app, context);
  const std::string unknown = UnknownCommand(commands, word);
  if (!unknown.empty()) {
    *context.err << unknown << "\n";
    return context.exit_code = kExitWrongUsage;
  }
  ProtectFlagLines(app, ours);
  // CLI11 takes arguments last first.
  std::reverse(ours.begin(), ours.end());
  try {
    app.parse(ours);
  } catch (const CLI::ParseError& error) {
    return context.exit_code =
               FinishParse(app, error, *context.out, *context.err);
  }
  return context.exit_code;
}

}  // namespace kvsim
