#include "tools/completion_command.h"

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kvsim {
namespace {

std::vector<const CLI::App*> Subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// The words that may follow a command: its subcommands and its long flags.
std::string WordsOf(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : Subcommands(app)) {
    words.push_back(command->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back(absl::StrCat("--", name));
    }
  }
  return absl::StrJoin(words, " ");
}

// One line of the script's table per command: "trace stats" are the words typed
// so far that are no flags.
void AddCases(const CLI::App& app, const std::string& path, std::string* out) {
  absl::StrAppend(out, "    '", path, "') words='", WordsOf(app), "' ;;\n");
  for (const CLI::App* command : Subcommands(app)) {
    AddCases(*command,
             absl::StrCat(path, path.empty() ? "" : " ", command->get_name()),
             out);
  }
}

// bash: words that are no flags and directly follow the program name are the
// command; -o default completes file names where no word fits.
std::string Script(const CLI::App& app, bool zsh) {
  std::string script =
      zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  absl::StrAppend(&script,
                  "_kvsim() {\n"
                  "  local current=\"${COMP_WORDS[COMP_CWORD]}\" words='' "
                  "command='' i\n"
                  "  for ((i = 1; i < COMP_CWORD && i < 3; ++i)); do\n"
                  "    [[ \"${COMP_WORDS[i]}\" =~ ^[a-z][a-z-]*$ ]] || break\n"
                  "    command=\"${command:+$command }${COMP_WORDS[i]}\"\n"
                  "  done\n"
                  "  case \"$command\" in\n");
  AddCases(app, "", &script);
  absl::StrAppend(&script,
                  "  esac\n"
                  "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                  "}\n"
                  "complete -o default -F _kvsim kvsim\n");
  return script;
}

}  // namespace

void AddCompletionCommand(CLI::App& app, CommandContext& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      AddCommand(app, context, "completion",
                 "Tab completion: source <(kvsim completion bash)",
                 ServeArguments::kRefused, [shell, &app, &context] {
                   if (*shell != "bash" && *shell != "zsh") {
                     return UsageError(absl::StrCat("found '", *shell,
                                                    "'; accepted: bash, zsh"));
                   }
                   *context.out << Script(app, *shell == "zsh");
                   return absl::OkStatus();
                 });
  command->add_option("shell", *shell, "bash or zsh")->required();
}

}  // namespace kvsim
