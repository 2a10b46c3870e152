// Two plans side by side, and what makes them differ.
//
// Model:   every figure of both plans. Causes are found by planning: from A's
//          settings one switch after the other is set to B's and everything is
//          planned again; what a switch moved is what it causes there. First
//          come the rules that the engine's version selects, then the flags,
//          then the version's name. A switch that cannot be set alone (context
//          ranks without tensor ranks) waits for the others; those that stay
//          impossible are set together, in one step.
// Order:   where two switches act on one figure, the first gets what it moves
//          alone and the second the rest.
// Invariants: (1) A's figures, moved by every step and by what is left
//          unexplained, are B's: checked whenever a comparison is made.
// Engines: between two engines no plan lies. Then no step is made, and each
//          figure that differs has the rule of either engine.
// Costs:   a plan for every switch that differs; no I/O.
// Ownership: questions refer to their models, which must outlive the call.

#ifndef KVSIM_ENGINES_PLAN_COMPARISON_H_
#define KVSIM_ENGINES_PLAN_COMPARISON_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engines/capacity_question.h"
#include "engines/plan_figures.h"

namespace kvsim {

// A figure before and after; one of them may be missing.
struct FigureMove {
  std::optional<PlanFigure> before, after;

  const PlanFigure& Either() const {
    return before.has_value() ? *before : *after;
  }
};

// One switch that was set to B's value.
struct ComparisonStep {
  std::string setting;   // "--kv-cache-dtype", "token-line"
  std::string from, to;  // its values
  std::string rule;      // what the engine does by it, in a line
  std::string source;    // the engine's file; "" for a flag
  std::string seen;      // the versions between which the rule changed, or ""
  std::vector<FigureMove> moves;  // empty: no effect here
};

struct ComparedFigure {
  std::optional<PlanFigure> a, b;
  std::vector<size_t> steps;   // that moved it, as indices
  std::string rule_a, rule_b;  // where the engines differ

  const PlanFigure& Either() const { return a.has_value() ? *a : *b; }
  bool Equal() const {
    return a.has_value() && b.has_value() && a->SameValue(*b);
  }
};

struct PlanComparison {
  bool same_engine = true;
  std::vector<ComparedFigure> figures;  // in A's order, then what only B has
  std::vector<ComparisonStep> steps;    // in the order they were set
  std::vector<FigureMove> unexplained;  // by any switch that has a name
  // Notes of each plan that the other lacks.
  std::vector<std::string> notes_a, notes_b;
};

// Errors: InvalidArgument "A: --flag 'value': ..." of the plan that cannot be
// made. A start that the engine refuses is a plan.
absl::StatusOr<PlanComparison> ComparePlans(const CapacityQuestion& a,
                                            const CapacityQuestion& b);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_PLAN_COMPARISON_H_
