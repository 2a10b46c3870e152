#include "tools/compare_side.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/shell_words.h"
#include "tools/capacity_serve.h"
#include "tools/command.h"
#include "tools/flag_words.h"

namespace kvsim {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kSuggestions = 3;

bool IsFlag(absl::string_view word) {
  return word.size() > 1 && word[0] == '-';
}

absl::StatusOr<std::string> ReadText(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::StartsWith(text, "@")) return std::string(text);
  const std::string path(text.substr(1));
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a folder opens and cannot be read
  std::stringstream content;
  content << file.rdbuf();
  if (file.is_open() && !file.bad()) return content.str();
  return absl::NotFoundError(
      absl::StrCat("@", path,
                   ": cannot be read; expected a file that holds "
                   "flags of kvsim capacity or an engine's command"));
}

// Ours, and the engine's.
struct SplitWords {
  Words ours, serve;
};

absl::StatusOr<SplitWords> Split(Words words) {
  SplitWords split;
  if (words.size() >= 2 && words[0] == "kvsim" && words[1] == "capacity") {
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty()) return split;
  if (IsFlag(words[0])) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    split.ours.assign(words.begin(), dashes);
    if (dashes != words.end()) split.serve.assign(dashes + 1, words.end());
    return split;
  }
  if (EngineStartedBy(words).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", words[0],
        "' is neither a flag of kvsim capacity nor the start of a command such "
        "as vllm serve, python -m sglang.launch_server, llama-server, "
        "trtllm-serve"));
  }
  split.serve = std::move(words);
  return split;
}

// The first word that no flag takes, with what it could be.
absl::Status Unexpected(const CLI::App& app, const std::string& word) {
  if (!IsFlag(word)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", word,
                     "' belongs to no flag; an engine's command stands behind "
                     "--"));
  }
  const std::string flag = word.substr(0, word.find('='));
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back(absl::StrCat("--", name));
    }
  }
  const Words nearest =
      NearestNames(flag, {names.begin(), names.end()}, kSuggestions);
  return absl::InvalidArgumentError(absl::StrCat(
      "kvsim capacity has no flag ", flag,
      nearest.empty()
          ? ""
          : absl::StrCat("; the nearest are ", absl::StrJoin(nearest, ", "))));
}

// Reads `words` over what *flags holds.
absl::Status ParseFlags(const Words& words, CapacityFlags* flags,
                        bool* names_engine) {
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  const Words switches = std::exchange(flags->engine_switches, {});
  DeclareFlags(app, *flags);
  Words reversed;
  for (const std::string& word : words) {
    reversed.push_back(ExpandShorthand(word));
  }
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (const Words rest = app.remaining(); !rest.empty()) {
    return Unexpected(app, rest[0]);
  }
  // Later ones count: the side's own go behind those of both.
  flags->engine_switches.insert(flags->engine_switches.begin(),
                                switches.begin(), switches.end());
  *names_engine = app.get_option("--engine")->count() > 0;
  return absl::OkStatus();
}

// Flags that ask for something else than a plan.
absl::Status RefuseOtherQuestions(const CapacityFlags& flags) {
  const std::pair<const char*, const std::string*> kOthers[] = {
      {"--from-log", &flags.from_log},
      {"--calibration", &flags.calibration},
      {"--concurrency", &flags.concurrency},
  };
  for (const auto& [flag, text] : kOthers) {
    if (text->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", *text,
                     ": two plans are compared, not what is asked of one; "
                     "kvsim capacity takes it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ComparedSide> ReadPlain(absl::string_view text,
                                       const CapacityFlags& both) {
  const absl::StatusOr<std::string> content = ReadText(text);
  if (!content.ok()) return content.status();
  absl::StatusOr<Words> words = SplitShellWords(*content);
  if (!words.ok()) return words.status();
  absl::StatusOr<SplitWords> split = Split(*std::move(words));
  if (!split.ok()) return split.status();

  ComparedSide side;
  side.flags = both;
  side.serve_words = std::move(split->serve);
  bool names_engine = false;
  absl::Status status = ParseFlags(split->ours, &side.flags, &names_engine);
  if (status.ok()) status = RefuseOtherQuestions(side.flags);
  if (!status.ok()) return status;
  if (side.flags.json && !both.json) {
    return absl::InvalidArgumentError("--json stands outside A and B");
  }
  const std::string started = EngineStartedBy(side.serve_words);
  if (started.empty()) return side;
  if (names_engine && side.flags.engine != started) {
    return absl::InvalidArgumentError(
        absl::StrCat("--engine ", side.flags.engine,
                     " contradicts the command, which starts ", started));
  }
  side.flags.engine = started;
  return side;
}

}  // namespace

absl::StatusOr<ComparedSide> ReadSide(absl::string_view side,
                                      absl::string_view text,
                                      const CapacityFlags& both) {
  absl::StatusOr<ComparedSide> read = ReadPlain(text, both);
  if (read.ok()) return read;
  return UsageError(absl::StrCat(side, ": ", read.status().message()));
}

}  // namespace kvsim
