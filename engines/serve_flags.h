// Reading the command that starts an engine, as a person has it, by a table of
// the engine's flags.
//
// Model:   words, as a shell has split them. What starts the engine ("vllm
//          serve", "python3 -m vllm.entrypoints.openai.api_server", a path to
//          either, NAME=value and env, exec or nohup before it) may be missing.
//          A flag's value follows it or stands behind "=". The first word that
//          is no flag is the model, where the engine takes it so. A flag given
//          twice counts the second time. Words of the command line go before
//          those of the file that --config names.
// Effect:  every flag of the table says what it does to the cache's memory, so
//          that nothing that matters is passed over: kUnmodelled flags are for
//          a report to name.
// Errors:  InvalidArgument "PLACE: --flag 'value': what would be accepted",
//          PLACE being "vllm serve, word 7" or "serve.yaml, line 3". A flag
//          that the table lacks is an error with the nearest spellings.
// Ownership: a ServeCommand refers to the grammar, which must outlive it.

#ifndef KVSIM_ENGINES_SERVE_FLAGS_H_
#define KVSIM_ENGINES_SERVE_FLAGS_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

enum class FlagArity {
  kSwitch,         // --x
  kBool,           // --x and --no-x
  kValue,          // --x VALUE
  kOptionalValue,  // --x or --x VALUE
  kMany,           // --x VALUE...; up to the next flag
  kJson,           // --x JSON; also --x.key VALUE and --x.key.key VALUE
};

enum class FlagEffect {
  kModelled,    // kvsim reads it
  kNone,        // changes nothing about the cache's memory
  kMemoryLeft,  // only how much memory is left for the cache
  kUnmodelled,  // could change the cache, and kvsim does not know how
};

struct ServeFlag {
  // Every spelling, separated by blanks: "--tensor-parallel-size -tp". The
  // first is the one that Find() takes.
  absl::string_view names;
  FlagArity arity = FlagArity::kValue;
  FlagEffect effect = FlagEffect::kNone;
};

struct ServeGrammar {
  absl::string_view program;         // "vllm serve", for errors
  std::span<const ServeFlag> flags;  // order is that of suggestions
  // Words that start the engine, each "vllm serve" or "python -m sglang ...":
  // the first word is compared with its folder and version cut off, so that
  // "/usr/bin/python3.11" is "python".
  std::span<const absl::string_view> launches;
  absl::string_view model_flag;   // takes a word that is no flag; "": none does
  absl::string_view config_flag;  // names a YAML file of flags; "": none does
  bool underscores = true;        // --max_model_len is --max-model-len
  bool prefixes = true;           // --max-model is --max-model-len if no other
  bool attached = false;          // -O3 is -O 3
  bool dashed_values = false;     // a value may look like a flag
};

// One flag as given.
struct GivenFlag {
  const ServeFlag* flag = nullptr;
  std::string spelled;              // "-tp", "--no-enable-prefix-caching"
  std::vector<std::string> values;  // empty for a switch
  bool negated = false;             // --no-x
  std::string place;                // "vllm serve, word 7"

  // "--flag 'value'", for messages.
  std::string Text() const;
  // An error about this flag: place, flag, value, and then `problem`.
  absl::Status Refuse(absl::string_view problem) const;
};

struct ServeCommand {
  const ServeGrammar* grammar = nullptr;
  // NAME=value before the engine's name, in order.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<GivenFlag> given;  // each flag once, in order of appearance

  // By the flag's first name; nullptr when it is not given or the grammar has
  // no such flag.
  const GivenFlag* Find(absl::string_view name) const;
  // The one value of a flag; "" when it is not given or given without one.
  std::string Value(absl::string_view name) const;
  // True when a switch is on; `otherwise` when it is not given.
  bool IsOn(absl::string_view name, bool otherwise) const;
  // nullptr when the variable is not set.
  const std::string* Environment(absl::string_view name) const;
  // Given flags of one effect, as GivenFlag::Text().
  std::vector<std::string> OfEffect(FlagEffect effect) const;
};

// Whether some word of the command starts the grammar's engine.
bool StartsEngine(const ServeGrammar& grammar,
                  const std::vector<std::string>& words);

absl::StatusOr<ServeCommand> ReadServeCommand(
    const ServeGrammar& grammar, const std::vector<std::string>& words);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_SERVE_FLAGS_H_
