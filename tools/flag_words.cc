#include "tools/flag_words.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"

namespace kvsim {
namespace {

constexpr std::pair<const char*, const char*> kShorthands[] = {
    {"-tp", "--tensor-parallel-size"},
    {"-pp", "--pipeline-parallel-size"},
    {"-dcp", "--decode-context-parallel-size"},
};

bool TakesFlagLines(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() != name) continue;
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_type_name() == kFlagLine) return true;
    }
  }
  return false;
}

// "--model x", "--model=x --tp 2"; not "--hf-overrides={"a": 1}".
bool IsFlagLine(const std::string& word) {
  const size_t blank = word.find(' ');
  return !word.empty() && word[0] == '-' && blank != std::string::npos &&
         (blank < word.find('=') || absl::StrContains(word, " -"));
}

// What no flag of the command's own can be.
bool IsPositional(const std::string& word) {
  return word.empty() || word[0] != '-' || IsFlagLine(word);
}

void Protect(std::string& word) {
  if (!word.empty() && word[0] == '-') word.insert(0, " ");
}

}  // namespace

std::string ExpandShorthand(const std::string& argument) {
  const size_t end = std::min(argument.find('='), argument.size());
  for (const auto& [shorthand, name] : kShorthands) {
    if (argument.compare(0, end, shorthand) == 0) {
      return name + argument.substr(end);
    }
  }
  return argument;
}

void ProtectFlagLines(const CLI::App& app,
                      std::vector<std::string>& arguments) {
  if (arguments.empty() || !TakesFlagLines(app, arguments[0])) return;
  if (arguments.size() > 2 && IsPositional(arguments[1])) Protect(arguments[2]);
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (IsFlagLine(arguments[i])) Protect(arguments[i]);
  }
}

}  // namespace kvsim
