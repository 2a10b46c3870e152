// A plan as a list of figures, so that two plans can be laid side by side.
//
// Model:   a figure has a key that stays ("num_blocks",
//          "groups.mamba.1.page_padding"), a name for people, a unit and a
//          value. Cache groups that are alike are one kind of group; the n-th
//          kind of "mamba" in one plan stands beside the n-th in another.
// Units:   of one rank, as in CapacityAnswer.
// Ownership: plain values.

#ifndef KVSIM_ENGINES_PLAN_FIGURES_H_
#define KVSIM_ENGINES_PLAN_FIGURES_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "engines/capacity_answer.h"
#include "engines/capacity_question.h"

namespace kvsim {

enum class FigureUnit { kText, kBytes, kTokens, kBlocks, kRequests, kCount };

struct PlanFigure {
  std::string key;
  std::string name;
  std::string of;  // "131,072 tokens"; "": of the plan
  FigureUnit unit = FigureUnit::kCount;
  std::variant<int64_t, double, std::string> value;

  bool SameValue(const PlanFigure& other) const { return value == other.value; }
};

std::vector<PlanFigure> FiguresOf(const CapacityQuestion& question,
                                  const CapacityAnswer& answer);

// The value with its unit: "14.77 MiB", "2,774", "5.02x".
std::string ValueText(const PlanFigure& figure, ByteUnits units);
// What b has more than a, and the ratio: "+2,774 (2.00x)"; "differs" for texts,
// "" for equal ones.
std::string DifferenceText(const PlanFigure& a, const PlanFigure& b,
                           ByteUnits units);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_PLAN_FIGURES_H_
