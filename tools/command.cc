#include "tools/command.h"

#include <cerrno>
#include <cstring>
#include <ostream>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kvsim {
namespace {

constexpr char kUsagePayload[] = "kvsim/usage";

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  return IsUsageError(status) ? kExitWrongUsage : kExitBadInput;
}

// A result that did not arrive is no result: a full disk, a closed pipe.
absl::Status FlushResults(std::ostream& out) {
  errno = 0;
  out.flush();
  if (!out.fail()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "standard output: ", errno != 0 ? std::strerror(errno) : "write failed"));
}

absl::Status RunWithArguments(const CommandContext& context,
                              ServeArguments serve_arguments,
                              const std::function<absl::Status()>& run) {
  if (serve_arguments == ServeArguments::kRefused &&
      !context.serve_arguments.empty()) {
    return UsageError("takes no arguments after `--`, found \"" +
                      absl::StrJoin(context.serve_arguments, " ") + "\"");
  }
  const absl::Status status = run();
  return status.ok() ? FlushResults(*context.out) : status;
}

// "kvsim trace info": the command with its parents.
std::string FullName(const CLI::App* command) {
  std::string name = command->get_name();
  while ((command = command->get_parent()) != nullptr) {
    name = command->get_name() + " " + name;
  }
  return name;
}

}  // namespace

CLI::App* AddCommand(CLI::App& app, CommandContext& context,
                     const std::string& name, const std::string& description,
                     ServeArguments serve_arguments,
                     std::function<absl::Status()> run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->callback([&context, command, serve_arguments, run = std::move(run)] {
    const absl::Status status = RunWithArguments(context, serve_arguments, run);
    context.exit_code = ExitCode(status);
    if (!status.ok()) {
      *context.err << FullName(command) << ": " << std::string(status.message())
                   << "\n";
    }
  });
  return command;
}

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

}  // namespace kvsim
