#include "tools/fit_command.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/text_table.h"
#include "tools/trace_flags.h"
#include "traces/preset_check.h"
#include "traces/preset_trace.h"
#include "traces/trace_fitter.h"
#include "traces/trace_preset.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

constexpr uint64_t kSeeds[] = {1, 2, 3, 4, 5};

struct Flags {
  TraceFlags input;
  std::string output;
  std::string source;
  bool json = false;
};

// A fit and what it is held to.
struct Fitted {
  TracePreset preset;
  TraceFigures source;
};

absl::StatusOr<Fitted> FitFile(const Flags& flags) {
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(flags.input);
  if (!options.ok()) return options.status();
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.input.trace, *options);
  if (!reader.ok()) return reader.status();
  TraceFitter fitter;
  FigureCounter counter;
  const absl::Status status =
      ForEachRow(**reader, [&](const TraceRequest& row) {
        fitter.Add(row);
        counter.Add(row);
      });
  if (!status.ok()) return status;
  const std::string& source =
      flags.source.empty() ? flags.input.trace : flags.source;
  const absl::StatusOr<TracePreset> preset = fitter.Fit(source);
  if (!preset.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.input.trace, ": ", preset.status().message()));
  }
  return Fitted{*preset, counter.Figures()};
}

absl::Status WritePreset(const Flags& flags, const TracePreset& preset) {
  std::error_code ignored;
  if (std::filesystem::equivalent(flags.input.trace, flags.output, ignored)) {
    return UsageError(absl::StrCat("--output: found the input itself, ",
                                   flags.output, "; accepted: another file"));
  }
  absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OutputFile::Open(flags.output);
  if (!file.ok()) return file.status();
  (*file)->Write(TracePresetToJson(preset));
  return (*file)->Close();
}

nlohmann::ordered_json FiguresJson(const TraceFigures& figures) {
  return {{"rows", figures.rows},
          {"input_mean", figures.input_mean},
          {"input_p50", figures.input_p50},
          {"input_p99", figures.input_p99},
          {"output_mean", figures.output_mean},
          {"ceiling", figures.ceiling}};
}

std::vector<std::string> FiguresCells(const std::string& name,
                                      const TraceFigures& figures) {
  return {name,
          absl::StrFormat("%.1f", figures.input_mean),
          FormatCount(figures.input_p50),
          FormatCount(figures.input_p99),
          absl::StrFormat("%.1f", figures.output_mean),
          absl::StrFormat("%.2f %%", 100 * figures.ceiling)};
}

void PrintText(const Fitted& fitted, const std::vector<TraceFigures>& made,
               std::ostream& out) {
  std::vector<TextTable::Align> columns(6, TextTable::Align::kRight);
  columns[0] = TextTable::Align::kLeft;
  TextTable table(columns);
  table.AddRow({"", "input mean", "p50", "p99", "output mean", "ceiling"});
  table.AddRow(FiguresCells("source", fitted.source));
  for (size_t i = 0; i < made.size(); ++i) {
    table.AddRow(FiguresCells(absl::StrCat("seed ", kSeeds[i]), made[i]));
  }
  out << table.Print("  ");
}

absl::Status Fit(const Flags& flags, CommandContext& context) {
  const absl::StatusOr<Fitted> fitted = FitFile(flags);
  if (!fitted.ok()) return fitted.status();
  const absl::Status fits =
      CheckPresetRows(fitted->preset, fitted->source.rows);
  if (!fits.ok()) return fits;
  const absl::Status written = WritePreset(flags, fitted->preset);
  if (!written.ok()) return written;
  std::vector<TraceFigures> made;
  bool are_close = true;
  for (const uint64_t seed : kSeeds) {
    made.push_back(FiguresOfPreset(fitted->preset, seed));
    are_close = are_close && made.back().IsCloseTo(fitted->source);
  }
  if (flags.json) {
    nlohmann::ordered_json seeds = nlohmann::ordered_json::array();
    for (const TraceFigures& figures : made) {
      seeds.push_back(FiguresJson(figures));
    }
    const nlohmann::ordered_json json = {
        {"preset", flags.output},
        {"source", FiguresJson(fitted->source)},
        {"seeds", seeds},
        {"close", are_close}};
    *context.out << json.dump(2, ' ', false,
                              nlohmann::json::error_handler_t::replace)
                 << "\n";
  } else {
    PrintText(*fitted, made, *context.out);
  }
  *context.err << "Wrote " << flags.output << ".\n";
  if (!are_close) {
    *context.err << "Not every seed is within 5 % of the lengths and within "
                    "one point of the ceiling.\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddFitCommand(CLI::App& trace, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = AddCommand(
      trace, context, "fit",
      "Write a preset for `synth --preset`: the trace's lengths, sharing and "
      "arrivals as numbers. Shows five seeds of it beside the source.",
      ServeArguments::kRefused,
      [flags, &context] { return Fit(*flags, context); });
  AddTraceFlags(*command, flags->input);
  command->add_option("--output,output", flags->output, "The file to write.")
      ->required();
  command->add_option("--source", flags->source,
                      "What the preset says it comes from (the trace's path).");
  command->add_flag("--json", flags->json, "One JSON object on stdout.");
}

}  // namespace kvsim
