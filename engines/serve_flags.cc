#include "engines/serve_flags.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/nearest_name.h"
#include "engines/serve_config_file.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSuggestions = 3;

std::vector<absl::string_view> NamesOf(const ServeFlag& flag) {
  return absl::StrSplit(flag.names, ' ', absl::SkipEmpty());
}

absl::string_view FirstName(const ServeFlag& flag) { return NamesOf(flag)[0]; }

// "-1" and "-0.5" are values, "-" is a word.
bool LooksLikeFlag(absl::string_view word) {
  double number = 0;
  return word.size() > 1 && word[0] == '-' && !absl::SimpleAtod(word, &number);
}

// "/usr/bin/python3.11" -> "python".
absl::string_view ProgramName(absl::string_view word) {
  const size_t slash = word.rfind('/');
  if (slash != absl::string_view::npos) word.remove_prefix(slash + 1);
  const auto is_version = [](char c) {
    return c == '.' || absl::ascii_isdigit(static_cast<unsigned char>(c));
  };
  while (!word.empty() && is_version(word.back())) word.remove_suffix(1);
  return word;
}

// NAME=value with a name that a shell would take.
std::optional<std::pair<std::string, std::string>> Assignment(
    absl::string_view word) {
  const size_t equals = word.find('=');
  if (equals == absl::string_view::npos || equals == 0) return std::nullopt;
  const absl::string_view name = word.substr(0, equals);
  const bool starts_well =
      name[0] == '_' ||
      absl::ascii_isalpha(static_cast<unsigned char>(name[0]));
  const bool is_name =
      starts_well && std::all_of(name.begin(), name.end(), [](char c) {
        return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
      });
  if (!is_name) return std::nullopt;
  return std::pair(std::string(name), std::string(word.substr(equals + 1)));
}

// Words that start the engine at words[at]; 0: none do.
size_t LaunchAt(const ServeGrammar& grammar,
                const std::vector<std::string>& words, size_t at) {
  size_t longest = 0;
  for (absl::string_view launch : grammar.launches) {
    const std::vector<absl::string_view> parts = absl::StrSplit(launch, ' ');
    if (at + parts.size() > words.size()) continue;
    bool same = ProgramName(words[at]) == parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      same = same && absl::string_view(words[at + i]) == parts[i];
    }
    if (same) longest = std::max(longest, parts.size());
  }
  return longest;
}

// A flag by one of its spellings.
struct Match {
  const ServeFlag* flag = nullptr;
  bool negated = false;
  std::vector<std::string> keys;  // of a JSON flag: --x.key.key
};

class FlagTable {
 public:
  explicit FlagTable(const ServeGrammar& grammar) : grammar_(grammar) {}

  // `name` as written, without its value.
  // Errors: the problem alone, with the nearest spellings.
  absl::StatusOr<Match> Find(absl::string_view name) const {
    const size_t dot = name.find('.');
    if (dot != absl::string_view::npos) {
      absl::StatusOr<Match> match = Find(name.substr(0, dot));
      if (match.ok() && match->flag->arity == FlagArity::kJson) {
        match->keys = absl::StrSplit(name.substr(dot + 1), '.');
        return match;
      }
    }
    const std::string wanted = Normal(name);
    for (const ServeFlag& flag : grammar_.flags) {
      for (absl::string_view spelling : NamesOf(flag)) {
        if (Normal(spelling) == wanted) return Match{&flag};
        if (IsNegation(flag, spelling, wanted)) return Match{&flag, true};
      }
    }
    return ByPrefix(name, wanted);
  }

 private:
  std::string Normal(absl::string_view name) const {
    if (!grammar_.underscores || !absl::StartsWith(name, "--")) {
      return std::string(name);
    }
    return absl::StrReplaceAll(name, {{"_", "-"}});
  }

  static bool IsNegation(const ServeFlag& flag, absl::string_view spelling,
                         absl::string_view wanted) {
    return flag.arity == FlagArity::kBool &&
           absl::ConsumePrefix(&spelling, "--") &&
           absl::ConsumePrefix(&wanted, "--no-") && spelling == wanted;
  }

  absl::StatusOr<Match> ByPrefix(absl::string_view name,
                                 absl::string_view wanted) const {
    std::vector<Match> matches;
    std::vector<absl::string_view> spelled;
    for (const ServeFlag& flag : grammar_.flags) {
      for (absl::string_view spelling : NamesOf(flag)) {
        if (!grammar_.prefixes || !absl::StartsWith(wanted, "--") ||
            !absl::StartsWith(spelling, wanted)) {
          continue;
        }
        if (matches.empty() || matches.back().flag != &flag) {
          matches.push_back(Match{&flag});
          spelled.push_back(spelling);
        }
      }
    }
    if (matches.size() == 1) return matches[0];
    if (matches.size() > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " could be ", absl::StrJoin(spelled, " or "),
                       ": write it out"));
    }
    return Unknown(name, wanted);
  }

  absl::Status Unknown(absl::string_view name, absl::string_view wanted) const {
    std::vector<absl::string_view> known;
    for (const ServeFlag& flag : grammar_.flags) {
      for (absl::string_view spelling : NamesOf(flag))
        known.push_back(spelling);
    }
    const std::vector<std::string> nearest =
        NearestNames(wanted, known, kSuggestions);
    return absl::InvalidArgumentError(absl::StrCat(
        grammar_.program, " has no flag ", name,
        nearest.empty() ? ""
                        : absl::StrCat("; the nearest are ",
                                       absl::StrJoin(nearest, ", "))));
  }

  const ServeGrammar& grammar_;
};

// A JSON flag's parts, --x.a.b VALUE, gathered into one object.
void SetKey(const std::vector<std::string>& keys, const std::string& text,
            Json& object) {
  Json* place = &object;
  for (const std::string& key : keys) {
    if (!place->is_object()) *place = Json::object();
    place = &(*place)[key];
  }
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  *place = value.is_discarded() ? Json(text) : std::move(value);
}

class CommandReader {
 public:
  CommandReader(const ServeGrammar& grammar,
                const std::vector<std::string>& words)
      : grammar_(grammar), table_(grammar), words_(words) {
    command_.grammar = &grammar;
  }

  absl::StatusOr<ServeCommand> Read() {
    SkipLaunch();
    while (next_ < words_.size()) {
      absl::Status status =
          LooksLikeFlag(words_[next_]) ? ReadFlag() : ReadPositional();
      if (!status.ok()) return status;
    }
    if (absl::Status status = ReadConfig(); !status.ok()) return status;
    return std::move(command_);
  }

 private:
  // Up to and with the words that start the engine; assignments alone where
  // nothing does.
  void SkipLaunch() {
    for (size_t i = 0; i < words_.size(); ++i) {
      const size_t length = LaunchAt(grammar_, words_, i);
      if (length == 0) continue;
      for (size_t before = 0; before < i; ++before) AddAssignment(before);
      next_ = i + length;
      return;
    }
    while (next_ < words_.size() && AddAssignment(next_)) ++next_;
  }

  bool AddAssignment(size_t word) {
    auto assignment = Assignment(words_[word]);
    if (!assignment.has_value()) return false;
    command_.environment.push_back(*std::move(assignment));
    return true;
  }

  std::string Place(size_t word) const {
    return absl::StrCat(grammar_.program, ", word ", word + 1);
  }

  absl::Status ReadPositional() {
    const std::string& word = words_[next_];
    const std::string place = Place(next_);
    ++next_;
    if (grammar_.model_flag.empty() || positional_.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": '", word, "' belongs to no flag",
                       positional_.has_value()
                           ? absl::StrCat("; the model is '", *positional_, "'")
                           : ""));
    }
    positional_ = word;
    GivenFlag given;
    given.flag = table_.Find(grammar_.model_flag)->flag;
    given.spelled = std::string(grammar_.model_flag);
    given.values = {word};
    given.place = place;
    Add(std::move(given));
    return absl::OkStatus();
  }

  // "--x=value" and "-O3" split into flag and value.
  struct Split {
    std::string name;
    std::optional<std::string> value;
  };

  Split SplitWord(const std::string& word) const {
    const size_t equals = word.find('=');
    Split split{word.substr(0, equals), std::nullopt};
    if (equals != std::string::npos) split.value = word.substr(equals + 1);
    const bool glued = grammar_.attached && word[1] != '-' && word.size() > 2 &&
                       word[2] != '.' && !table_.Find(split.name).ok() &&
                       table_.Find(word.substr(0, 2)).ok();
    if (glued) return {word.substr(0, 2), word.substr(2)};
    return split;
  }

  absl::Status ReadFlag() {
    const size_t at = next_++;
    Split split = SplitWord(words_[at]);
    const absl::StatusOr<Match> match = table_.Find(split.name);
    if (!match.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Place(at), ": ", match.status().message()));
    }
    GivenFlag given;
    given.flag = match->flag;
    given.spelled = split.name;
    given.negated = match->negated;
    given.place = Place(at);
    if (absl::Status status = ReadValues(*match, split.value, given);
        !status.ok()) {
      return status;
    }
    if (!match->keys.empty()) {
      SetKey(match->keys, given.values[0], objects_[match->flag]);
      given.values = {objects_[match->flag].dump()};
      given.spelled = std::string(FirstName(*match->flag));
    }
    Add(std::move(given));
    return absl::OkStatus();
  }

  absl::Status ReadValues(const Match& match,
                          const std::optional<std::string>& attached,
                          GivenFlag& given) {
    const FlagArity arity = match.flag->arity;
    const bool is_switch =
        arity == FlagArity::kSwitch || arity == FlagArity::kBool;
    if (attached.has_value()) {
      given.values = {*attached};
      return is_switch ? given.Refuse("takes no value") : absl::OkStatus();
    }
    if (is_switch) return absl::OkStatus();
    const size_t most = arity == FlagArity::kMany ? words_.size() : 1;
    while (given.values.size() < most && next_ < words_.size() &&
           (!LooksLikeFlag(words_[next_]) ||
            (grammar_.dashed_values && arity == FlagArity::kValue))) {
      given.values.push_back(words_[next_++]);
    }
    if (given.values.empty() && arity != FlagArity::kOptionalValue) {
      return given.Refuse(
          next_ < words_.size()
              ? absl::StrCat("needs a value, found the flag ", words_[next_])
              : "needs a value");
    }
    return absl::OkStatus();
  }

  // The last one counts.
  void Add(GivenFlag given) {
    const auto same = std::find_if(
        command_.given.begin(), command_.given.end(),
        [&](const GivenFlag& other) { return other.flag == given.flag; });
    if (same != command_.given.end()) {
      *same = std::move(given);
    } else {
      command_.given.push_back(std::move(given));
    }
  }

  absl::Status ReadConfig() {
    if (grammar_.config_flag.empty()) return absl::OkStatus();
    const std::string path = command_.Value(grammar_.config_flag);
    if (path.empty()) return absl::OkStatus();
    const absl::StatusOr<std::vector<ConfigFlag>> flags = ReadServeConfig(path);
    if (!flags.ok()) return flags.status();
    const size_t typed = command_.given.size();
    for (const ConfigFlag& flag : *flags) {
      if (absl::Status status = AddConfigFlag(path, flag, typed);
          !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  // The first `typed` flags given stood on the command line.
  absl::Status AddConfigFlag(const std::string& path, const ConfigFlag& flag,
                             size_t typed) {
    GivenFlag given;
    given.spelled = absl::StrCat("--", flag.name);
    given.place = absl::StrCat(path, ", line ", flag.line);
    const absl::StatusOr<Match> match = table_.Find(given.spelled);
    if (!match.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(given.place, ": ", match.status().message()));
    }
    given.flag = match->flag;
    given.negated = match->negated;
    given.values = flag.values;
    if (flag.kind == ConfigFlag::Kind::kAbsent) return absl::OkStatus();
    const FlagArity arity = given.flag->arity;
    const bool is_switch =
        arity == FlagArity::kSwitch || arity == FlagArity::kBool;
    if (is_switch && !given.values.empty()) {
      return given.Refuse("takes true or false");
    }
    if (!is_switch && given.values.empty() &&
        arity != FlagArity::kOptionalValue) {
      return given.Refuse("needs a value");
    }
    if (given.values.size() > 1 && arity != FlagArity::kMany) {
      return given.Refuse("takes one value");
    }
    for (size_t i = 0; i < typed; ++i) {
      if (command_.given[i].flag == given.flag) return absl::OkStatus();
    }
    Add(std::move(given));
    return absl::OkStatus();
  }

  const ServeGrammar& grammar_;
  const FlagTable table_;
  const std::vector<std::string>& words_;
  size_t next_ = 0;
  std::optional<std::string> positional_;
  std::map<const ServeFlag*, Json> objects_;
  ServeCommand command_;
};

}  // namespace

std::string GivenFlag::Text() const {
  if (values.empty()) return spelled;
  return absl::StrCat(spelled, " '", absl::StrJoin(values, " "), "'");
}

absl::Status GivenFlag::Refuse(absl::string_view problem) const {
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": ", Text(), ": ", problem));
}

const GivenFlag* ServeCommand::Find(absl::string_view name) const {
  for (const GivenFlag& flag : given) {
    if (FirstName(*flag.flag) == name) return &flag;
  }
  return nullptr;
}

std::string ServeCommand::Value(absl::string_view name) const {
  const GivenFlag* flag = Find(name);
  return flag == nullptr || flag->values.empty() ? "" : flag->values[0];
}

bool ServeCommand::IsOn(absl::string_view name, bool otherwise) const {
  const GivenFlag* flag = Find(name);
  return flag == nullptr ? otherwise : !flag->negated;
}

const std::string* ServeCommand::Environment(absl::string_view name) const {
  for (const auto& [variable, value] : environment) {
    if (variable == name) return &value;
  }
  return nullptr;
}

std::vector<std::string> ServeCommand::OfEffect(FlagEffect effect) const {
  std::vector<std::string> texts;
  for (const GivenFlag& flag : given) {
    if (flag.flag->effect == effect) texts.push_back(flag.Text());
  }
  return texts;
}

bool StartsEngine(const ServeGrammar& grammar,
                  const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (LaunchAt(grammar, words, i) > 0) return true;
  }
  return false;
}

absl::StatusOr<ServeCommand> ReadServeCommand(
    const ServeGrammar& grammar, const std::vector<std::string>& words) {
  return CommandReader(grammar, words).Read();
}

}  // namespace kvsim
