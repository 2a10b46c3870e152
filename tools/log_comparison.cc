#include "tools/log_comparison.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kvsim {

absl::string_view VerdictName(FigureVerdict verdict) {
  switch (verdict) {
    case FigureVerdict::kAgrees:
      return "agrees";
    case FigureVerdict::kDiffers:
      return "differs";
    case FigureVerdict::kInput:
      return "input";
    case FigureVerdict::kModelled:
      return "modelled";
    case FigureVerdict::kNotChecked:
      return "not checked";
  }
  return "unknown";
}

int64_t LogComparison::Count(FigureVerdict verdict) const {
  return std::count_if(
      figures.begin(), figures.end(),
      [verdict](const LogFigure& figure) { return figure.verdict == verdict; });
}

void PrintComparison(const LogComparison& comparison, std::ostream& out) {
  const int64_t agrees = comparison.Count(FigureVerdict::kAgrees);
  const int64_t differs = comparison.Count(FigureVerdict::kDiffers);
  out << comparison.file << ": " << comparison.model << " on "
      << comparison.engine << " (" << comparison.rules << ")"
      << (comparison.refused ? ", refused to start" : "") << "\n"
      << agrees << " of " << agrees + differs
      << " figures agree to half a printed unit\n";
  if (!comparison.settings.given.empty()) out << "\nSettings from the log\n";
  for (const LogSetting& setting : comparison.settings.given) {
    out << "  " << setting.flag << (setting.value.empty() ? "" : " ")
        << setting.value;
    if (setting.line > 0) out << "  (line " << setting.line << ")";
    out << "\n";
  }
  out << "\nFigures\n"
      << absl::StrFormat("  %5s  %-32s %14s %14s  %s\n", "line", "name",
                         "printed", "kvsim", "verdict");
  const auto or_dash = [](const std::string& text) {
    return text.empty() ? std::string("-") : text;
  };
  for (const LogFigure& figure : comparison.figures) {
    const std::string line =
        figure.line > 0 ? absl::StrCat(figure.line) : std::string("-");
    out << absl::StrFormat(
        "  %5s  %-32s %14s %14s  %s\n", line, figure.name,
        or_dash(figure.printed), or_dash(figure.predicted),
        absl::StrCat(VerdictName(figure.verdict),
                     figure.cause.empty() ? "" : ": ", figure.cause));
  }
  if (comparison.notes.empty()) return;
  out << "\nNotes\n";
  for (const std::string& note : comparison.notes)
    out << "  - " << note << "\n";
}

nlohmann::ordered_json ComparisonJson(const LogComparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["file"] = comparison.file;
  json["engine"] = comparison.engine;
  json["rules"] = comparison.rules;
  json["model"] = comparison.model;
  json["status"] = comparison.refused ? "refused" : "started";
  json["predicted_status"] =
      comparison.predicted_refusal ? "refused" : "started";
  json["agree"] = comparison.Count(FigureVerdict::kAgrees);
  json["differ"] = comparison.Count(FigureVerdict::kDiffers);
  json["settings"] = Json::array();
  for (const LogSetting& setting : comparison.settings.given) {
    json["settings"].push_back({{"flag", setting.flag},
                                {"value", setting.value},
                                {"line", setting.line}});
  }
  json["figures"] = Json::array();
  for (const LogFigure& figure : comparison.figures) {
    json["figures"].push_back(
        {{"name", figure.name},
         {"printed", figure.printed},
         {"predicted", figure.predicted},
         {"verdict", std::string(VerdictName(figure.verdict))},
         {"cause", figure.cause},
         {"line", figure.line}});
  }
  json["notes"] = comparison.notes;
  return json;
}

}  // namespace kvsim
