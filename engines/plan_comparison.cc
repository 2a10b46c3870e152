#include "engines/plan_comparison.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "engines/capacity.h"
#include "engines/figure_rules.h"
#include "engines/question_settings.h"
#include "engines/vllm/model_planner.h"
#include "engines/vllm/switch_settings.h"

namespace kvsim {
namespace {

using Figures = std::vector<PlanFigure>;

const PlanFigure* FindFigure(const Figures& figures, const std::string& key) {
  const auto found =
      std::find_if(figures.begin(), figures.end(),
                   [&](const PlanFigure& figure) { return figure.key == key; });
  return found == figures.end() ? nullptr : &*found;
}

std::optional<PlanFigure> CopyOf(const PlanFigure* figure) {
  return figure == nullptr ? std::nullopt : std::optional(*figure);
}

// Every figure of either list, beside its like.
std::vector<FigureMove> Pairs(const Figures& before, const Figures& after) {
  std::vector<FigureMove> pairs;
  for (const PlanFigure& figure : before) {
    pairs.push_back({figure, CopyOf(FindFigure(after, figure.key))});
  }
  for (const PlanFigure& figure : after) {
    if (FindFigure(before, figure.key) == nullptr) {
      pairs.push_back({std::nullopt, figure});
    }
  }
  return pairs;
}

std::vector<FigureMove> Moves(const Figures& before, const Figures& after) {
  std::vector<FigureMove> moves = Pairs(before, after);
  std::erase_if(moves, [](const FigureMove& move) {
    return move.before.has_value() && move.after.has_value() &&
           move.before->SameValue(*move.after);
  });
  return moves;
}

absl::StatusOr<Figures> PlanFigures(const CapacityQuestion& question) {
  const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
  if (!answer.ok()) return answer.status();
  return FiguresOf(question, *answer);
}

// --- switches that differ ------------------------------------------------------

// One switch and how it is set in a question.
struct Switch {
  ComparisonStep step;  // without moves
  std::function<void(CapacityQuestion&)> set;
};

// The rules by which vLLM plans a question that it has planned before.
vllm::PlannerSwitches SwitchesOf(const CapacityQuestion& question) {
  const absl::StatusOr<vllm::Resolved> resolved = vllm::ResolveFlags(question);
  KVSIM_CHECK(resolved.ok()) << resolved.status().ToString();
  return resolved->switches;
}

// Turns what the previous engine's flag says into a named switch.
void NamePreviousEngine(CapacityQuestion& question) {
  if (!question.previous_engine.has_value()) return;
  question.engine_switches.push_back(*question.previous_engine ? "engine=v0"
                                                               : "engine=v1");
  question.previous_engine.reset();
}

void AddRules(const CapacityQuestion& a, const CapacityQuestion& b,
              std::vector<Switch>& switches) {
  for (const vllm::SwitchDifference& difference :
       vllm::DifferentSwitches(SwitchesOf(a), SwitchesOf(b))) {
    Switch next;
    next.step = {difference.name, difference.from,   difference.to,
                 difference.rule, difference.source, difference.seen};
    next.set = [setting = difference.Setting()](CapacityQuestion& question) {
      question.engine_switches.push_back(setting);
    };
    switches.push_back(std::move(next));
  }
}

void AddSettings(const CapacityQuestion& a, const CapacityQuestion& b,
                 std::vector<Switch>& switches) {
  for (const QuestionSetting& setting : QuestionSettings()) {
    if (setting.same(a, b)) continue;
    Switch next;
    next.step.setting = std::string(setting.flag);
    next.step.from = setting.text(a);
    next.step.to = setting.text(b);
    next.step.rule = std::string(setting.rule);
    next.set = [copy = setting.copy, &b](CapacityQuestion& question) {
      copy(b, question);
    };
    switches.push_back(std::move(next));
  }
}

std::string VersionText(const CapacityQuestion& question) {
  return question.engine_version.empty() ? "newest known rules"
                                         : question.engine_version;
}

// --- the chain -----------------------------------------------------------------

// Goes from A's plan to B's, switch by switch.
class Chain {
 public:
  Chain(CapacityQuestion start, Figures figures)
      : question_(std::move(start)), figures_(std::move(figures)) {}

  const Figures& figures() const { return figures_; }
  std::vector<ComparisonStep> TakeSteps() { return std::move(steps_); }

  // In order; what cannot be set yet is tried again after the others.
  void SetAll(std::vector<Switch> switches) {
    bool progress = true;
    while (!switches.empty() && progress) {
      progress = false;
      std::vector<Switch> waiting;
      for (Switch& next : switches) {
        if (Set(next)) {
          progress = true;
        } else {
          waiting.push_back(std::move(next));
        }
      }
      switches = std::move(waiting);
    }
    if (!switches.empty()) SetTogether(switches);
  }

  // False: no plan can be made with it now.
  bool Set(const Switch& next) {
    CapacityQuestion question = question_;
    next.set(question);
    absl::StatusOr<Figures> figures = PlanFigures(question);
    if (!figures.ok()) return false;
    steps_.push_back(next.step);
    steps_.back().moves = Moves(figures_, *figures);
    question_ = std::move(question);
    figures_ = *std::move(figures);
    return true;
  }

 private:
  void SetTogether(const std::vector<Switch>& switches) {
    Switch all;
    std::vector<std::string> settings, from, to, rules;
    for (const Switch& one : switches) {
      settings.push_back(one.step.setting);
      from.push_back(one.step.from);
      to.push_back(one.step.to);
      rules.push_back(one.step.rule);
    }
    all.step.setting = absl::StrJoin(settings, " with ");
    all.step.from = absl::StrJoin(from, ", ");
    all.step.to = absl::StrJoin(to, ", ");
    all.step.rule = absl::StrJoin(rules, "; ");
    all.set = [&switches](CapacityQuestion& question) {
      for (const Switch& one : switches) one.set(question);
    };
    Set(all);  // what it cannot move stays unexplained
  }

  CapacityQuestion question_;
  Figures figures_;
  std::vector<ComparisonStep> steps_;
};

void Explain(CapacityQuestion a, const CapacityQuestion& b,
             const Figures& figures_a, const Figures& figures_b,
             PlanComparison& comparison) {
  std::vector<Switch> switches;
  const bool is_vllm = a.engine == "vllm";
  if (is_vllm) {
    NamePreviousEngine(a);
    AddRules(a, b, switches);
  }
  AddSettings(a, b, switches);
  Chain chain(a, figures_a);
  chain.SetAll(std::move(switches));
  if (is_vllm && a.engine_version != b.engine_version) {
    Switch version;
    version.step = {"--engine-version", VersionText(a), VersionText(b),
                    "the name alone: its rules are the switches above"};
    version.set = [&b](CapacityQuestion& question) {
      question.engine_version = b.engine_version;
      question.engine_switches = b.engine_switches;
      question.previous_engine = b.previous_engine;
    };
    chain.Set(version);
  }
  comparison.unexplained = Moves(chain.figures(), figures_b);
  comparison.steps = chain.TakeSteps();
}

// Invariant (1).
void CheckChain(const Figures& a, const Figures& b,
                const PlanComparison& comparison) {
  std::map<std::string, PlanFigure> now;
  for (const PlanFigure& figure : a) now[figure.key] = figure;
  const auto apply = [&now](const std::vector<FigureMove>& moves) {
    for (const FigureMove& move : moves) {
      const auto found = now.find(move.Either().key);
      KVSIM_CHECK((found != now.end()) == move.before.has_value());
      if (move.before.has_value()) {
        KVSIM_CHECK(found->second.SameValue(*move.before)) << found->first;
      }
      now.erase(move.Either().key);
      if (move.after.has_value()) now[move.after->key] = *move.after;
    }
  };
  for (const ComparisonStep& step : comparison.steps) apply(step.moves);
  apply(comparison.unexplained);
  KVSIM_CHECK(now.size() == b.size());
  for (const PlanFigure& figure : b) {
    const auto found = now.find(figure.key);
    KVSIM_CHECK(found != now.end() && found->second.SameValue(figure))
        << figure.key;
  }
}

void NoteSteps(PlanComparison& comparison) {
  for (ComparedFigure& figure : comparison.figures) {
    for (size_t i = 0; i < comparison.steps.size(); ++i) {
      for (const FigureMove& move : comparison.steps[i].moves) {
        if (move.Either().key == figure.Either().key) {
          figure.steps.push_back(i);
        }
      }
    }
  }
}

void NoteRules(const CapacityAnswer& a, const CapacityAnswer& b,
               PlanComparison& comparison) {
  for (ComparedFigure& figure : comparison.figures) {
    if (figure.Equal()) continue;
    const std::string& key = figure.Either().key;
    if (figure.a.has_value()) figure.rule_a = FigureRule(key, a);
    if (figure.b.has_value()) figure.rule_b = FigureRule(key, b);
  }
}

std::vector<std::string> OnlyIn(const std::vector<std::string>& own,
                                const std::vector<std::string>& others) {
  std::vector<std::string> notes;
  for (const std::string& note : own) {
    if (std::find(others.begin(), others.end(), note) == others.end()) {
      notes.push_back(note);
    }
  }
  return notes;
}

absl::Status Of(const char* side, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(side, ": ", status.message()));
}

}  // namespace

absl::StatusOr<PlanComparison> ComparePlans(const CapacityQuestion& a,
                                            const CapacityQuestion& b) {
  const absl::StatusOr<CapacityAnswer> answer_a = AnswerCapacity(a);
  if (!answer_a.ok()) return Of("A", answer_a.status());
  const absl::StatusOr<CapacityAnswer> answer_b = AnswerCapacity(b);
  if (!answer_b.ok()) return Of("B", answer_b.status());
  const Figures figures_a = FiguresOf(a, *answer_a);
  const Figures figures_b = FiguresOf(b, *answer_b);

  PlanComparison comparison;
  comparison.same_engine = a.engine == b.engine;
  for (FigureMove& pair : Pairs(figures_a, figures_b)) {
    comparison.figures.push_back(
        {std::move(pair.before), std::move(pair.after)});
  }
  comparison.notes_a = OnlyIn(answer_a->warnings, answer_b->warnings);
  comparison.notes_b = OnlyIn(answer_b->warnings, answer_a->warnings);
  if (comparison.same_engine) {
    Explain(a, b, figures_a, figures_b, comparison);
    CheckChain(figures_a, figures_b, comparison);
    NoteSteps(comparison);
  } else {
    NoteRules(*answer_a, *answer_b, comparison);
  }
  return comparison;
}

}  // namespace kvsim
