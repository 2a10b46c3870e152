// The settings of a capacity question one by one, so that one alone can be
// carried from one question to another.
//
// Model:   a setting is a flag, what it decides in a line, and three ways to
//          handle it in a question: compare, copy, print. kvsim's flags and
//          vLLM's come first; then those that only the commands of the other
//          engines set (EngineSettings). Not here: the engine and its version,
//          and notes.
// Order:   what a later setting needs comes before it (ranks before context
//          ranks).
// Ownership: the table is static.

#ifndef KVSIM_ENGINES_QUESTION_SETTINGS_H_
#define KVSIM_ENGINES_QUESTION_SETTINGS_H_

#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "engines/capacity_question.h"

namespace kvsim {

struct QuestionSetting {
  absl::string_view flag;
  absl::string_view rule;  // what it decides
  bool (*same)(const CapacityQuestion& a, const CapacityQuestion& b);
  void (*copy)(const CapacityQuestion& from, CapacityQuestion& to);
  // "default" where nothing is set.
  std::string (*text)(const CapacityQuestion& question);
};

std::span<const QuestionSetting> QuestionSettings();

}  // namespace kvsim

#endif  // KVSIM_ENGINES_QUESTION_SETTINGS_H_
