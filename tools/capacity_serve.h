// `kvsim capacity ... -- vllm serve ...`: an engine's own command beside
// kvsim's flags.
//
// Model:   what the command says fills the question; kvsim's flags add what no
//          command says (memory, version, contexts) and may repeat it, but not
//          contradict it. --model and --draft-model go before the names in the
//          command, which are often names on a hub: kvsim loads nothing from
//          the network.
// Errors:  wrong usage naming both flags and both values, or the command's
//          word, flag and value.

#ifndef KVSIM_TOOLS_CAPACITY_SERVE_H_
#define KVSIM_TOOLS_CAPACITY_SERVE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/serve_flags.h"
#include "models/model_spec.h"
#include "tools/capacity_flags.h"

namespace kvsim {

// A question with the models it is about; the models do not move while it
// lives.
struct LoadedQuestion {
  ModelSpec model;
  std::optional<ModelSpec> draft_model;
  CapacityQuestion question;
  // What the models were read from, and how: equal texts, equal models.
  std::string model_source, draft_source;

  LoadedQuestion() = default;
  LoadedQuestion(const LoadedQuestion&) = delete;
  LoadedQuestion& operator=(const LoadedQuestion&) = delete;
};

// The engine that these words start, as --engine names it; "": none.
std::string EngineStartedBy(const std::vector<std::string>& words);

// Words of a command of `engine`, which may be none.
// Errors: an engine whose commands are not read; the command's own.
absl::StatusOr<ServeCommand> ReadCommandOf(
    const std::string& engine, const std::vector<std::string>& words);

// Fills *loaded from kvsim's flags and the words after `--`, which may be none.
absl::Status LoadQuestion(const CapacityFlags& flags,
                          const std::vector<std::string>& serve_words,
                          LoadedQuestion* loaded);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_CAPACITY_SERVE_H_
