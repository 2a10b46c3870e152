#include "tools/sweep_command.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "tools/jobs_flag.h"
#include "tools/pareto.h"
#include "tools/replay_cost.h"
#include "tools/replay_flags.h"
#include "tools/report_columns.h"
#include "tools/sweep_grid.h"
#include "tools/sweep_run.h"
#include "tools/sweep_store.h"
#include "tools/terminal.h"
#include "tools/version.h"
#include "traces/trace_hash.h"

namespace kvsim {
namespace {

// Flags of this group choose where results go, not what they are.
constexpr char kOutput[] = "Sweep output";
constexpr char kDefaultPareto[] = "output_tokens_per_s,ttft_p99_s";

struct SweepFlags {
  ReplayFlags replay;
  std::vector<std::string> vary;
  std::string db, csv, jobs, pareto = kDefaultPareto;
};

// What makes two sweeps the same: everything but where results go.
absl::StatusOr<SweepSchema> SchemaOf(const SweepGrid& grid,
                                     const SweepFlags& flags,
                                     const CLI::App& command) {
  const absl::StatusOr<std::string> hash = TraceHash(flags.replay.trace);
  if (!hash.ok()) return hash.status();
  SweepSchema schema;
  schema.varied = grid.names();
  for (const ReportColumn& column : ReportColumns()) {
    schema.figures.emplace_back(column.name, column.whole);
  }
  schema.signature = {{"kvsim", kVersion}, {"trace_hash", *hash}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_group() == kOutput) continue;
    schema.signature.emplace_back(option->get_single_name(),
                                  absl::StrJoin(option->results(), " "));
  }
  return schema;
}

absl::StatusOr<std::vector<const ReportColumn*>> ParetoColumns(
    const std::string& names) {
  std::vector<const ReportColumn*> columns;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    const ReportColumn* column = FindReportColumn(name);
    if (column == nullptr || column->better == Better::kNeither) {
      std::vector<std::string> accepted;
      for (const ReportColumn& c : ReportColumns()) {
        if (c.better != Better::kNeither) accepted.push_back(c.name);
      }
      return UsageError(absl::StrCat(
          "--pareto '", name, "': accepted: ", absl::StrJoin(accepted, ", ")));
    }
    columns.push_back(column);
  }
  return columns;
}

// --- progress ----------------------------------------------------------------------

// One line over the last one, on a terminal.
class Progress {
 public:
  Progress(const std::ostream* err, int64_t done, int64_t all)
      : shown_(IsTerminal(err)),
        before_(done),
        done_(done),
        all_(all),
        start_(std::chrono::steady_clock::now()) {}
  ~Progress() {
    if (shown_) std::cerr << kOverLastLine << std::flush;
  }

  void OnPoint() {
    ++done_;
    if (!shown_) return;
    const std::chrono::nanoseconds spent =
        std::chrono::steady_clock::now() - start_;
    const int64_t left = spent.count() / (done_ - before_) * (all_ - done_);
    std::cerr << kOverLastLine
              << absl::StrCat(FormatCount(done_), " of ", FormatCount(all_),
                              " points, about ", FormatDuration(SimTime(left)),
                              " left")
              << std::flush;
  }

 private:
  const bool shown_;
  const int64_t before_;
  int64_t done_;
  const int64_t all_;
  const std::chrono::steady_clock::time_point start_;
};

// --- what comes out -----------------------------------------------------------------

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

absl::Status WriteCsv(const std::string& path, const SweepGrid& grid,
                      const SweepStore& store) {
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OutputFile::Open(path);
  if (!file.ok()) return file.status();
  std::vector<std::string> cells = {"point"};
  for (const std::string& name : grid.names()) cells.push_back(name);
  cells.push_back("error");
  for (const ReportColumn& column : ReportColumns()) {
    cells.push_back(column.name);
  }
  (*file)->Write(absl::StrCat(absl::StrJoin(cells, ","), "\n"));
  for (const auto& [point, row] : store.rows()) {
    cells = {absl::StrCat(point)};
    for (const std::string& value : row.values) cells.push_back(CsvCell(value));
    cells.push_back(CsvCell(row.error));
    for (size_t i = 0; i < ReportColumns().size(); ++i) {
      cells.push_back(row.figures.empty() ? "" : row.figures[i]);
    }
    (*file)->Write(absl::StrCat(absl::StrJoin(cells, ","), "\n"));
  }
  return (*file)->Close();
}

// The Pareto table: nobody serves more of one figure without losing another.
std::string Text(const SweepGrid& grid, const SweepStore& store,
                 const std::vector<const ReportColumn*>& columns) {
  std::vector<const SweepRow*> rows;
  std::vector<int64_t> points;
  std::vector<std::vector<double>> scores;
  std::vector<size_t> indices;
  for (const ReportColumn* column : columns) {
    indices.push_back(static_cast<size_t>(column - ReportColumns().data()));
  }
  int64_t failed = 0;
  std::string first_error;
  for (const auto& [point, row] : store.rows()) {
    if (!row.error.empty()) {
      if (failed++ == 0) first_error = row.error;
      continue;
    }
    points.push_back(point);
    rows.push_back(&row);
    std::vector<double>& score = scores.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      const double value =
          std::strtod(row.figures[indices[i]].c_str(), nullptr);
      score.push_back(columns[i]->better == Better::kMore ? value : -value);
    }
  }
  std::string text = absl::StrCat(FormatCount(grid.size()), " points");
  if (failed > 0) {
    absl::StrAppend(&text, ", of which ", FormatCount(failed),
                    " could not run; the first: ", first_error);
  }
  using Align = TextTable::Align;
  TextTable table(std::vector<Align>(1 + grid.names().size() + columns.size(),
                                     Align::kRight));
  std::vector<std::string> cells = {"point"};
  for (const std::string& name : grid.names()) cells.push_back(name);
  for (const ReportColumn* column : columns) cells.push_back(column->name);
  table.AddRow(cells);
  const std::vector<size_t> front = ParetoFront(scores);
  for (const size_t i : front) {
    cells = {absl::StrCat(points[i])};
    for (const std::string& value : rows[i]->values) cells.push_back(value);
    for (const size_t column : indices) {
      cells.push_back(rows[i]->figures[column]);
    }
    table.AddRow(cells);
  }
  absl::StrAppend(
      &text,
      "\n\nPareto front: ", FormatCount(static_cast<int64_t>(front.size())),
      " points that no other beats in everything\n", table.Print("  "));
  return text;
}

// How far off the step times are, where they are a fit.
absl::StatusOr<std::string> StepTimesNote(const SweepGrid& grid,
                                          const ReplayFlags& flags) {
  for (const std::string& name : grid.names()) {
    if (name != "timing" && name != "roofline-engine") continue;
    return std::string(
        "Step times of a roofline are a fit: the columns step_time_*_error "
        "have its error.\n");
  }
  const absl::StatusOr<const RooflineFit*> fit = RooflineFitOf(flags);
  if (!fit.ok()) return fit.status();
  return *fit == nullptr ? "" : absl::StrCat(DescribeError(**fit), "\n");
}

absl::Status Sweep(const SweepFlags& flags, const CLI::App& command,
                   const CommandContext& context) {
  const absl::StatusOr<SweepGrid> grid = SweepGrid::Parse(flags.vary);
  if (!grid.ok()) return grid.status();
  const auto columns = ParetoColumns(flags.pareto);
  if (!columns.ok()) return columns.status();
  const absl::StatusOr<int> jobs = ReadJobs(flags.jobs);
  if (!jobs.ok()) return jobs.status();
  const absl::StatusOr<SweepSchema> schema = SchemaOf(*grid, flags, command);
  if (!schema.ok()) return schema.status();
  const absl::StatusOr<std::string> note = StepTimesNote(*grid, flags.replay);
  if (!note.ok()) return note.status();
  const auto store = SweepStore::Open(flags.db, *schema);
  if (!store.ok()) return store.status();
  const auto done = static_cast<int64_t>((*store)->rows().size());
  if (done > 0) {
    *context.err << "kvsim sweep: goes on after " << FormatCount(done)
                 << " points of an earlier run\n";
  }
  {
    Progress progress(context.err, done, grid->size());
    const absl::Status status = RunSweep(
        *grid, flags.replay, *jobs, [&progress] { progress.OnPoint(); },
        store->get());
    if (!status.ok()) return status;
  }
  if (!flags.csv.empty()) {
    const absl::Status status = WriteCsv(flags.csv, *grid, **store);
    if (!status.ok()) return status;
  }
  const std::string text = Text(*grid, **store, *columns);
  const absl::Status status = (*store)->Finish();
  if (!status.ok()) return status;
  *context.out << text << "\n"
               << *note << "All figures of all points: table `points` of "
               << flags.db << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddSweepCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<SweepFlags>();
  auto self = std::make_shared<CLI::App*>();
  CLI::App* command = AddCommand(
      app, context, "sweep",
      "Replay a trace under every combination of settings, on all cores",
      ServeArguments::kRefused,
      [flags, self, &context] { return Sweep(*flags, **self, context); });
  *self = command;
  command
      ->add_option("--vary", flags->vary,
                   "A flag below and its values: block-size=16,32; repeat it "
                   "for a grid")
      ->required()
      ->take_all();
  command->add_option("--slo", flags->replay.slo,
                      "Goodput: ttft=2s,tpot=50ms,e2e=1min");
  const auto add = [&](const char* name, std::string& value, const char* help) {
    return command->add_option(name, value, help)->group(kOutput);
  };
  add("--db", flags->db,
      "SQLite file to write; a run that was cut short goes on from "
      "FILE.partial")
      ->required();
  add("--csv", flags->csv, "Also write all points to this file");
  add("--jobs", flags->jobs, "Replays at once (all cores)");
  add("--pareto", flags->pareto,
      "Figures to weigh against each other in the table at the end")
      ->capture_default_str();
  DeclareRunFlags(*command, flags->replay);
}

}  // namespace kvsim
