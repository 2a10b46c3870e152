#include "tools/compare_report.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text_table.h"
#include "engines/figure_rules.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

// Texts beyond this stand below the table.
constexpr size_t kWidestCell = 36;

bool IsLong(const std::optional<PlanFigure>& figure) {
  if (!figure.has_value()) return false;
  const auto* text = std::get_if<std::string>(&figure->value);
  return text != nullptr && text->size() > kWidestCell;
}

// A kind of group that one plan lacks is one row, not one for each number.
bool IsDetailOfMissing(const std::optional<PlanFigure>& a,
                       const std::optional<PlanFigure>& b) {
  if (a.has_value() && b.has_value()) return false;
  const PlanFigure& figure = a.has_value() ? *a : *b;
  return absl::StartsWith(figure.key, "groups.") &&
         figure.unit != FigureUnit::kText;
}

std::string CellText(const std::optional<PlanFigure>& figure, ByteUnits units) {
  return figure.has_value() ? ValueText(*figure, units) : "-";
}

// "resident (131,072 tokens)", with both lengths where they differ.
std::string NameText(const std::optional<PlanFigure>& a,
                     const std::optional<PlanFigure>& b) {
  const PlanFigure& figure = a.has_value() ? *a : *b;
  if (figure.of.empty()) return figure.name;
  if (a.has_value() && b.has_value() && a->of != b->of) {
    return absl::StrCat(figure.name, " (", a->of, " | ", b->of, ")");
  }
  return absl::StrCat(figure.name, " (", figure.of, ")");
}

std::string DifferenceCell(const ComparedFigure& figure, ByteUnits units) {
  if (!figure.b.has_value()) return "only in A";
  if (!figure.a.has_value()) return "only in B";
  return DifferenceText(*figure.a, *figure.b, units);
}

std::string StepsText(const ComparedFigure& figure) {
  std::vector<size_t> numbers = figure.steps;
  for (size_t& number : numbers) ++number;
  return absl::StrJoin(numbers, ", ");
}

class TextReport {
 public:
  TextReport(const CompareReport& report, std::ostream& out)
      : report_(report), comparison_(report.comparison), out_(out) {}

  void Print() {
    PrintSides();
    PrintFigures();
    PrintLongTexts();
    if (comparison_.same_engine) {
      PrintSteps();
    } else {
      PrintRules();
    }
    PrintNotes("A", comparison_.notes_a);
    PrintNotes("B", comparison_.notes_b);
  }

 private:
  void PrintSides() {
    const auto text = [](const std::string& side) {
      return side.empty() ? "(the flags of both)" : side;
    };
    out_ << "A  " << text(report_.text_a) << "\nB  " << text(report_.text_b)
         << "\n\n";
  }

  void PrintFigures() {
    TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft,
                     Align::kLeft});
    table.AddRow({"", "A", "B", "difference",
                  comparison_.same_engine ? "moved by" : ""});
    size_t equal = 0;
    for (const ComparedFigure& figure : comparison_.figures) {
      if (figure.Equal()) ++equal;
      const bool shown = !figure.Equal() || report_.all;
      if (!shown || IsLong(figure.a) || IsLong(figure.b) ||
          IsDetailOfMissing(figure.a, figure.b)) {
        continue;
      }
      table.AddRow({NameText(figure.a, figure.b),
                    CellText(figure.a, report_.units),
                    CellText(figure.b, report_.units),
                    DifferenceCell(figure, report_.units), StepsText(figure)});
    }
    const bool none = equal == comparison_.figures.size();
    if (!none || report_.all) out_ << table.Print("  ");
    if (none) {
      out_ << "  all " << equal << " figures are equal\n";
    } else {
      out_ << "  " << equal << " of " << comparison_.figures.size()
           << " figures are equal"
           << (report_.all || equal == 0 ? "" : ": --all shows them") << "\n";
    }
  }

  void PrintLongTexts() {
    bool first = true;
    for (const ComparedFigure& figure : comparison_.figures) {
      if (!IsLong(figure.a) && !IsLong(figure.b)) continue;
      if (figure.Equal() && !report_.all) continue;
      if (first) out_ << "\nLines\n";
      first = false;
      const std::string steps = StepsText(figure);
      out_ << "  " << NameText(figure.a, figure.b)
           << (steps.empty() ? "" : absl::StrCat("  (moved by ", steps, ")"))
           << "\n    A  " << CellText(figure.a, report_.units) << "\n    B  "
           << CellText(figure.b, report_.units) << "\n";
    }
  }

  void PrintSteps() {
    if (comparison_.steps.empty()) return;
    out_ << "\nWhy: from A to B, one setting after the other\n";
    const auto moving = std::count_if(
        comparison_.steps.begin(), comparison_.steps.end(),
        [](const ComparisonStep& step) { return !step.moves.empty(); });
    const bool alone = moving == 1 && comparison_.unexplained.empty();
    for (size_t i = 0; i < comparison_.steps.size(); ++i) {
      const ComparisonStep& step = comparison_.steps[i];
      if (!step.moves.empty()) PrintStep(i + 1, step, alone);
    }
    PrintIdleSteps();
    if (comparison_.unexplained.empty()) {
      out_ << "  nothing is left unexplained: A and these steps give B\n";
      return;
    }
    out_ << "  UNEXPLAINED: no setting with a name moves these\n";
    PrintMoves(comparison_.unexplained);
  }

  static std::string Heading(const ComparisonStep& step) {
    return absl::StrCat(step.setting, ": ", step.from, " -> ", step.to);
  }

  static std::string RuleText(const ComparisonStep& step) {
    std::string text = step.rule;
    if (!step.source.empty()) absl::StrAppend(&text, "; ", step.source);
    if (!step.seen.empty()) absl::StrAppend(&text, "; ", step.seen);
    return text;
  }

  // Where one step does it all, the table above has said what it moves.
  void PrintStep(size_t number, const ComparisonStep& step, bool alone) {
    out_ << "  " << number << ". " << Heading(step) << "\n     "
         << RuleText(step) << "\n";
    if (alone) {
      out_ << "       moves every figure above\n";
    } else {
      PrintMoves(step.moves);
    }
  }

  void PrintMoves(const std::vector<FigureMove>& moves) {
    TextTable table({Align::kLeft, Align::kRight, Align::kLeft, Align::kRight,
                     Align::kLeft});
    for (const FigureMove& move : moves) {
      if (IsDetailOfMissing(move.before, move.after)) continue;
      const std::string name = NameText(move.before, move.after);
      if (IsLong(move.before) || IsLong(move.after)) {
        table.AddRow({name, "", "", "", "another text"});
        continue;
      }
      const bool both = move.before.has_value() && move.after.has_value();
      table.AddRow(
          {name, CellText(move.before, report_.units), "->",
           CellText(move.after, report_.units),
           both ? DifferenceText(*move.before, *move.after, report_.units)
                : ""});
    }
    out_ << table.Print("       ");
  }

  void PrintIdleSteps() {
    bool first = true;
    for (size_t i = 0; i < comparison_.steps.size(); ++i) {
      const ComparisonStep& step = comparison_.steps[i];
      if (!step.moves.empty()) continue;
      if (first) out_ << "  no effect here\n";
      first = false;
      out_ << "  " << i + 1 << ". " << Heading(step) << " (" << step.rule
           << ")\n";
    }
  }

  bool HasRuleToShow(const ComparedFigure& figure) const {
    const std::string& key = figure.Either().key;
    return !(figure.rule_a.empty() && figure.rule_b.empty()) &&
           !IsDetailOfMissing(figure.a, figure.b) &&
           (!absl::StartsWith(key, "log_lines.") || key == "log_lines.1");
  }

  // Neighbours with the same rules share a heading.
  void PrintRules() {
    out_ << "\nWhy: between two engines no plan lies; each goes by its own "
            "rules\n";
    std::vector<std::string> names;
    const ComparedFigure* last = nullptr;
    const auto print = [&] {
      if (last == nullptr) return;
      out_ << "  " << absl::StrJoin(names, ", ") << "\n";
      PrintRule(report_.engine_a, last->rule_a);
      PrintRule(report_.engine_b, last->rule_b);
      names.clear();
    };
    for (const ComparedFigure& figure : comparison_.figures) {
      if (!HasRuleToShow(figure)) continue;
      if (last != nullptr &&
          (last->rule_a != figure.rule_a || last->rule_b != figure.rule_b)) {
        print();
      }
      names.push_back(NameText(figure.a, figure.b));
      last = &figure;
    }
    print();
    out_ << "  Source: " << RuleSource(report_.engine_a) << ", "
         << RuleSource(report_.engine_b) << "\n";
  }

  void PrintRule(const std::string& engine, const std::string& rule) {
    if (!rule.empty()) out_ << "    " << engine << ": " << rule << "\n";
  }

  void PrintNotes(const char* side, const std::vector<std::string>& notes) {
    if (notes.empty()) return;
    out_ << "\nNotes of " << side << " alone\n";
    for (const std::string& note : notes) out_ << "  - " << note << "\n";
  }

  const CompareReport& report_;
  const PlanComparison& comparison_;
  std::ostream& out_;
};

// --- JSON --------------------------------------------------------------------

const char* UnitName(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kText:
      return "text";
    case FigureUnit::kBytes:
      return "bytes";
    case FigureUnit::kTokens:
      return "tokens";
    case FigureUnit::kBlocks:
      return "blocks";
    case FigureUnit::kRequests:
      return "requests";
    case FigureUnit::kCount:
      return "count";
  }
  return "";
}

Json ValueJson(const std::optional<PlanFigure>& figure) {
  if (!figure.has_value()) return nullptr;
  return std::visit([](const auto& value) { return Json(value); },
                    figure->value);
}

Json DifferenceJson(const ComparedFigure& figure) {
  if (!figure.a.has_value() || !figure.b.has_value()) return nullptr;
  const auto& a = figure.a->value;
  const auto& b = figure.b->value;
  if (a.index() != b.index()) return nullptr;
  if (const auto* count = std::get_if<int64_t>(&a)) {
    return std::get<int64_t>(b) - *count;
  }
  if (const auto* value = std::get_if<double>(&a)) {
    return std::get<double>(b) - *value;
  }
  return nullptr;
}

Json FigureJson(const ComparedFigure& figure) {
  const PlanFigure& either = figure.Either();
  Json json = {{"key", either.key},
               {"name", either.name},
               {"of", either.of},
               {"unit", UnitName(either.unit)},
               {"a", ValueJson(figure.a)},
               {"b", ValueJson(figure.b)},
               {"difference", DifferenceJson(figure)},
               {"equal", figure.Equal()},
               {"steps", Json::array()}};
  for (const size_t step : figure.steps) json["steps"].push_back(step + 1);
  if (!figure.rule_a.empty()) json["rule_a"] = figure.rule_a;
  if (!figure.rule_b.empty()) json["rule_b"] = figure.rule_b;
  return json;
}

Json MovesJson(const std::vector<FigureMove>& moves) {
  Json json = Json::array();
  for (const FigureMove& move : moves) {
    json.push_back({{"key", move.Either().key},
                    {"before", ValueJson(move.before)},
                    {"after", ValueJson(move.after)}});
  }
  return json;
}

Json StepJson(const ComparisonStep& step) {
  return {{"setting", step.setting},
          {"from", step.from},
          {"to", step.to},
          {"rule", step.rule},
          {"source", step.source},
          {"seen", step.seen},
          {"moves", MovesJson(step.moves)}};
}

}  // namespace

void PrintCompareReport(const CompareReport& report, std::ostream& out) {
  TextReport(report, out).Print();
}

Json CompareReportJson(const CompareReport& report) {
  const PlanComparison& comparison = report.comparison;
  Json json = {{"a", report.text_a},
               {"b", report.text_b},
               {"same_engine", comparison.same_engine},
               {"figures", Json::array()},
               {"steps", Json::array()}};
  for (const ComparedFigure& figure : comparison.figures) {
    json["figures"].push_back(FigureJson(figure));
  }
  for (const ComparisonStep& step : comparison.steps) {
    json["steps"].push_back(StepJson(step));
  }
  json["unexplained"] = MovesJson(comparison.unexplained);
  json["notes_a"] = comparison.notes_a;
  json["notes_b"] = comparison.notes_b;
  return json;
}

}  // namespace kvsim
