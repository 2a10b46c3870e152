// Which rule of an engine gives a figure of its plan: for two plans of
// different engines, between which no plan lies that would show the cause.
//
// Model:   a rule is a line in the engine's terms, the plan's own numbers put
//          into it where the figure follows from others ("40.00 GiB // 8,388,608
//          B = 5,120"), and the planner that holds it.
// Source:  the headers that the rules name; they name the engine's files.

#ifndef KVSIM_ENGINES_FIGURE_RULES_H_
#define KVSIM_ENGINES_FIGURE_RULES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "engines/capacity_answer.h"

namespace kvsim {

// The rule behind the figure `key` of plan_figures.h; "" where it is one of the
// settings, or follows from other figures in the same way for every engine.
std::string FigureRule(absl::string_view key, const CapacityAnswer& answer);

// Where the engine's rules are written: "engines/sglang/pool_planner.h".
// REQUIRES: an engine that AnswerCapacity takes.
absl::string_view RuleSource(absl::string_view engine);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_FIGURE_RULES_H_
