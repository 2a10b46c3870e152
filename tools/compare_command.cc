#include "tools/compare_command.h"

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engines/plan_comparison.h"
#include "tools/capacity_flags.h"
#include "tools/capacity_serve.h"
#include "tools/compare_report.h"
#include "tools/compare_side.h"
#include "tools/flag_words.h"

namespace kvsim {
namespace {

struct CompareFlags {
  std::string a, b;
  CapacityFlags both;
  bool all = false;
};

absl::Status LoadSide(absl::string_view name, const std::string& text,
                      const CapacityFlags& both, LoadedQuestion* loaded) {
  const absl::StatusOr<ComparedSide> side = ReadSide(name, text, both);
  if (!side.ok()) return side.status();
  const absl::Status status =
      LoadQuestion(side->flags, side->serve_words, loaded);
  if (status.ok()) return status;
  const std::string message = absl::StrCat(name, ": ", status.message());
  return IsUsageError(status) ? UsageError(message)
                              : absl::Status(status.code(), message);
}

// Equal models are one model, so that they are no difference.
void ShareModels(const LoadedQuestion& a, LoadedQuestion* b) {
  if (a.model_source == b->model_source) b->question.model = &a.model;
  if (a.draft_model.has_value() && b->draft_model.has_value() &&
      a.draft_source == b->draft_source) {
    b->question.draft_model = &*a.draft_model;
  }
}

absl::Status Compare(const CompareFlags& flags, const CommandContext& context) {
  LoadedQuestion a, b;
  absl::Status status = LoadSide("A", flags.a, flags.both, &a);
  if (status.ok()) status = LoadSide("B", flags.b, flags.both, &b);
  if (!status.ok()) return status;
  ShareModels(a, &b);
  absl::StatusOr<PlanComparison> comparison =
      ComparePlans(a.question, b.question);
  if (!comparison.ok()) return comparison.status();
  CompareReport report;
  report.text_a = std::string(absl::StripAsciiWhitespace(flags.a));
  report.text_b = std::string(absl::StripAsciiWhitespace(flags.b));
  report.engine_a = a.question.engine;
  report.engine_b = b.question.engine;
  report.comparison = *std::move(comparison);
  report.all = flags.all;
  report.units = context.units;
  if (flags.both.json) {
    *context.out << CompareReportJson(report).dump(2) << "\n";
  } else {
    PrintCompareReport(report, *context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddCompareCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command = AddCommand(
      app, context, "compare",
      "Two plans side by side, every difference with the rule that causes it",
      ServeArguments::kRefused,
      [flags, &context] { return Compare(*flags, context); });
  command
      ->add_option(
          "A", flags->a,
          "Flags of kvsim capacity, an engine's command, or @FILE with "
          "either; in quotes, with a blank in front where it is one "
          "flag alone")
      ->required()
      ->type_name(kFlagLine);
  command->add_option("B", flags->b, "The same for the other plan")
      ->required()
      ->type_name(kFlagLine);
  command->add_flag("--all", flags->all, "Equal figures too");
  DeclareFlags(*command, flags->both);
}

}  // namespace kvsim
