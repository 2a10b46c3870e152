#include "tools/limit_command.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "engines/vllm/settings.h"
#include "sim/slo.h"
#include "tools/find_edge.h"
#include "tools/flag_reader.h"
#include "tools/replay_flags.h"
#include "tools/replay_run.h"
#include "tools/replay_setup.h"
#include "tools/run_watch.h"

namespace kvsim {
namespace {

constexpr int64_t kMillion = 1'000'000;

struct LimitFlags {
  ReplayFlags replay;
  std::string find, attain, max_preempted, precision;
};

// What must hold.
struct Demand {
  bool slo = false;
  int64_t attain_ppm = 990'000;  // of the requests, within the SLO
  std::optional<int64_t> preempted_ppm;
  int64_t precision_ppm = 10'000;
};

// One setting that can be turned: what the search calls it and where it stands.
struct Dial {
  const char* name;  // of --find
  const char* flag;
  const char* superlative;
  bool holds_below;  // more of it makes service worse
  int64_t least, most;
  int64_t unit;  // values of the search per 1 of the flag
  std::string ReplayFlags::*text;
  // Where the engine keeps it; null: it is the trace's and starts at 1.
  int64_t vllm::Settings::*setting;
};
constexpr Dial kDials[] = {
    {"rate", "--rate-scale", "largest rate scale", true, 1, 1'000'000, 1000,
     &ReplayFlags::rate_scale, nullptr},
    {"concurrency", "--max-num-seqs", "largest number of running requests",
     true, 1, 1 << 16, 1, &ReplayFlags::max_num_seqs,
     &vllm::Settings::max_num_seqs},
    {"memory", "--num-gpu-blocks", "smallest number of blocks", false, 2,
     (int64_t{1} << 31) - 1, 1, &ReplayFlags::num_gpu_blocks,
     &vllm::Settings::num_gpu_blocks},
};

bool IsMemory(const Dial& dial) {
  return dial.setting == &vllm::Settings::num_gpu_blocks;
}

std::string ValueText(const Dial& dial, int64_t value) {
  return dial.unit == 1 ? FormatCount(value) : FormatRatio(value, dial.unit, 3);
}

void Turn(const Dial& dial, int64_t value, ReplayFlags* flags) {
  flags->*dial.text =
      dial.unit == 1 ? absl::StrCat(value) : FormatRatio(value, dial.unit, 3);
  if (IsMemory(dial)) flags->kv_memory.clear();  // said the same
}

struct Probe {
  int64_t value;
  Report report;
  std::vector<std::string> broken;  // what does not hold, with its figures
};

std::string Share(int64_t part, int64_t whole) {
  return FormatPercent(part, whole, 2);
}

std::vector<std::string> Broken(const Demand& demand, const Report& report) {
  std::vector<std::string> broken;
  if (report.never_fit() > 0) {
    broken.push_back(absl::StrCat(FormatCount(report.never_fit()),
                                  " requests can never fit"));
  }
  const int64_t requests = report.requests();
  if (demand.slo &&
      report.goodput().requests() * kMillion < demand.attain_ppm * requests) {
    broken.push_back(absl::StrCat(Share(report.goodput().requests(), requests),
                                  " of the requests within the SLO, asked for ",
                                  Share(demand.attain_ppm, kMillion)));
  }
  if (demand.preempted_ppm.has_value() &&
      report.requests_preempted() * kMillion >
          *demand.preempted_ppm * requests) {
    broken.push_back(absl::StrCat(Share(report.requests_preempted(), requests),
                                  " of the requests preempted, allowed ",
                                  Share(*demand.preempted_ppm, kMillion)));
  }
  return broken;
}

// --- flags -----------------------------------------------------------------------

absl::StatusOr<int64_t> ParsePpm(absl::string_view text) {
  const absl::StatusOr<double> share = ParseFraction(text);
  if (!share.ok()) return share.status();
  return static_cast<int64_t>(*share * kMillion + 0.5);
}

absl::StatusOr<const Dial*> DialOf(const std::string& name) {
  std::vector<std::string> names;
  for (const Dial& dial : kDials) {
    if (name == dial.name) return &dial;
    names.push_back(dial.name);
  }
  return UsageError(absl::StrCat("--find '", name,
                                 "': accepted: ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<Demand> ReadDemand(const LimitFlags& flags) {
  Demand demand;
  FlagReader reader;
  Slo slo;
  reader.Read("--slo", flags.replay.slo, ParseSlo, &slo);
  reader.Read("--attain", flags.attain, ParsePpm, &demand.attain_ppm);
  reader.Read("--max-preempted", flags.max_preempted, ParsePpm,
              &demand.preempted_ppm);
  reader.Read("--precision", flags.precision, ParsePpm, &demand.precision_ppm);
  if (!reader.status().ok()) return reader.status();
  demand.slo = slo.Any();
  if (!flags.attain.empty() && !demand.slo) {
    return UsageError("--attain has a meaning with --slo only");
  }
  return demand;
}

// The setting that the flags describe is the first one tried.
absl::StatusOr<int64_t> StartOf(const Dial& dial, const ReplayFlags& flags) {
  if (dial.setting == nullptr) return dial.unit;
  const absl::StatusOr<ReplaySetup> setup = SetUpReplay(flags);
  if (!setup.ok()) return setup.status();
  return std::clamp(setup->settings.*dial.setting, dial.least, dial.most);
}

// --- what comes out --------------------------------------------------------------

std::string Explained(const Dial& dial, const Edge& edge,
                      const std::vector<Probe>& probes, ByteUnits units) {
  const auto probe = [&](int64_t value) -> const Probe& {
    return *std::find_if(probes.begin(), probes.end(),
                         [&](const Probe& p) { return p.value == value; });
  };
  if (!edge.holds.has_value()) {
    return absl::StrCat("Nothing holds: at ", ValueText(dial, *edge.fails),
                        " still ",
                        absl::StrJoin(probe(*edge.fails).broken, "; "), ".\n");
  }
  std::string text = absl::StrCat(
      "The ", dial.superlative, " that holds: ", ValueText(dial, *edge.holds));
  const Report& report = probe(*edge.holds).report;
  if (IsMemory(dial) && report.ledger_unit() == "bytes") {
    absl::StrAppend(
        &text, " (",
        FormatBytes(Bytes(*edge.holds * report.bytes_per_block()), units),
        " on each rank)");
  }
  if (!edge.fails.has_value()) {
    return absl::StrCat(text, ", the end of the range searched.\n");
  }
  return absl::StrCat(text, ".\n", ValueText(dial, *edge.fails), " does not: ",
                      absl::StrJoin(probe(*edge.fails).broken, "; "), ".\n");
}

// How far off the step times are, where they are a fit.
std::string StepTimesNote(const std::vector<Probe>& probes) {
  return probes.empty() ? "" : probes.front().report.step_times().note();
}

std::string Text(const Dial& dial, const Edge& edge,
                 const std::vector<Probe>& probes, ByteUnits units) {
  using Align = TextTable::Align;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({dial.flag + 2, "ttft p99", "tpot p99", "within SLO",
                "preempted", "never fit", "verdict"});
  std::vector<const Probe*> sorted;
  for (const Probe& probe : probes) sorted.push_back(&probe);
  std::sort(sorted.begin(), sorted.end(),
            [](const Probe* a, const Probe* b) { return a->value < b->value; });
  for (const Probe* probe : sorted) {
    const Report& r = probe->report;
    table.AddRow(
        {ValueText(dial, probe->value),
         FormatDuration(SimTime(r.ttft().p99_ns())),
         FormatDuration(SimTime(r.tpot().p99_ns())),
         r.has_goodput() ? Share(r.goodput().requests(), r.requests()) : "-",
         Share(r.requests_preempted(), r.requests()),
         FormatCount(r.never_fit()),
         probe->broken.empty() ? "holds" : "fails"});
  }
  const std::string note = StepTimesNote(probes);
  return absl::StrCat(
      Explained(dial, edge, probes, units), "\n", table.Print("  "),
      note.empty() ? "" : absl::StrCat("\n  ", note, ".\n"),
      "\n  Found by bisection over ", probes.size(),
      " replays: it takes for granted that what holds at\n  one value also "
      "holds at every easier one.\n");
}

nlohmann::ordered_json Number(const Dial& dial, std::optional<int64_t> value) {
  if (!value.has_value()) return nullptr;
  if (dial.unit == 1) return *value;
  return static_cast<double>(*value) / static_cast<double>(dial.unit);
}

std::string JsonText(const Dial& dial, const Edge& edge,
                     const std::vector<Probe>& probes) {
  nlohmann::ordered_json json = {{"find", dial.name},
                                 {"flag", dial.flag},
                                 {"holds", Number(dial, edge.holds)},
                                 {"fails", Number(dial, edge.fails)},
                                 {"step_times", StepTimesNote(probes)},
                                 {"probes", nlohmann::ordered_json::array()}};
  for (const Probe& probe : probes) {
    const Report& r = probe.report;
    json["probes"].push_back({{"value", Number(dial, probe.value)},
                              {"holds", probe.broken.empty()},
                              {"broken", probe.broken},
                              {"requests", r.requests()},
                              {"within_slo", r.goodput().requests()},
                              {"requests_preempted", r.requests_preempted()},
                              {"never_fit", r.never_fit()},
                              {"ttft_p99_ns", r.ttft().p99_ns()},
                              {"tpot_p99_ns", r.tpot().p99_ns()},
                              {"num_blocks", r.num_blocks()},
                              {"bytes_per_block", r.bytes_per_block()}});
  }
  return json.dump(2) + "\n";
}

absl::Status Limit(const LimitFlags& flags, const CommandContext& context) {
  absl::Status status = CheckModes(flags.replay);
  if (!status.ok()) return status;
  const absl::StatusOr<const Dial*> found = DialOf(flags.find);
  if (!found.ok()) return found.status();
  const Dial& dial = **found;
  const absl::StatusOr<Demand> demand = ReadDemand(flags);
  if (!demand.ok()) return demand.status();
  const absl::StatusOr<int64_t> start = StartOf(dial, flags.replay);
  if (!start.ok()) return start.status();
  if (dial.setting == nullptr && !flags.replay.rate_scale.empty()) {
    return UsageError("--find rate searches --rate-scale: leave it out");
  }

  std::vector<Probe> probes;
  ReplayFlags turned = flags.replay;
  const absl::StatusOr<Edge> edge =
      FindEdge({.start = *start,
                .least = dial.least,
                .most = dial.most,
                .holds_below = dial.holds_below,
                .precision_ppm = demand->precision_ppm},
               [&](int64_t value) -> absl::StatusOr<bool> {
                 Turn(dial, value, &turned);
                 RunWatch watch(context.err);
                 absl::StatusOr<Report> report = RunReplay(turned, &watch);
                 if (!report.ok()) return report.status();
                 if (report->interrupted())
                   return absl::CancelledError("interrupted");
                 probes.push_back({value, *std::move(report), {}});
                 probes.back().broken = Broken(*demand, probes.back().report);
                 return probes.back().broken.empty();
               });
  if (!edge.ok()) return edge.status();
  *context.out << (flags.replay.json
                       ? JsonText(dial, *edge, probes)
                       : Text(dial, *edge, probes, context.units));
  return absl::OkStatus();
}

}  // namespace

void AddLimitCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<LimitFlags>();
  CLI::App* command = AddCommand(
      app, context, "limit",
      "The largest load or the smallest memory at which an SLO still holds",
      ServeArguments::kRefused,
      [flags, &context] { return Limit(*flags, context); });
  command
      ->add_option("--find", flags->find,
                   "rate (largest --rate-scale), concurrency (largest "
                   "--max-num-seqs) or memory (fewest blocks)")
      ->required();
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help)->group("What must hold");
  };
  add("--slo", flags->replay.slo, "ttft=2s,tpot=50ms,e2e=1min");
  add("--attain", flags->attain,
      "Share of the requests that must meet the SLO (99%)");
  add("--max-preempted", flags->max_preempted,
      "Share of the requests that may be preempted (any)");
  command->add_option("--precision", flags->precision,
                      "How close the two values must come (1%; 0: exactly)");
  command->add_flag("--json", flags->replay.json, "JSON instead of text");
  DeclareRunFlags(*command, flags->replay);
}

}  // namespace kvsim
