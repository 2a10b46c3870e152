#include "tools/compare_metrics_command.h"

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text_table.h"
#include "tools/replay_flags.h"
#include "tools/replay_run.h"
#include "tools/run_watch.h"
#include "tools/server_metrics.h"

namespace kvsim {
namespace {

struct CompareFlags {
  ReplayFlags replay;
  std::string metrics;
};

// One line of the answer. Missing: one side does not say.
struct Compared {
  const char* name;
  bool share;
  std::optional<double> server;
  std::optional<double> replay;
  const char* meaning;
};

absl::StatusOr<ServerMetrics> ReadMetrics(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    return absl::InvalidArgumentError(
        absl::StrCat("--metrics '", path, "': cannot be read"));
  }
  absl::StatusOr<ServerMetrics> metrics = ReadServerMetrics(text.str());
  if (metrics.ok()) return metrics;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", metrics.status().message()));
}

int64_t BytesOf(const google::protobuf::RepeatedPtrField<LedgerLine>& ledger,
                absl::string_view account) {
  for (const LedgerLine& line : ledger) {
    if (line.account() == account) return line.bytes();
  }
  return 0;
}

// As engines compute it: blocks that requests hold, of those that could be.
// Cached blocks that nobody holds count as free.
double Usage(const Report& report,
             const google::protobuf::RepeatedPtrField<LedgerLine>& ledger) {
  const int64_t usable = (report.num_blocks() - 1) * report.bytes_per_block();
  const int64_t free = BytesOf(ledger, "free") + BytesOf(ledger, "idle");
  if (usable <= 0) return 0;
  const int64_t remainder = BytesOf(ledger, "remainder");
  const int64_t held =
      report.pool_bytes() - BytesOf(ledger, "null") - remainder - free;
  return static_cast<double>(held) / static_cast<double>(usable);
}

std::vector<Compared> Compare(const ServerMetrics& s, const Report& r) {
  return {
      {"cache usage", true, s.usage, Usage(r, r.ledger_mean()),
       s.averaged ? "means" : "server: at that moment; replay: mean"},
      {"cache usage, most", true, s.usage_max, Usage(r, r.ledger_peak()),
       "held blocks; cached but idle ones count as free"},
      {"prefix hit rate", true, s.hit_rate, r.hit_rate(),
       "tokens hit of prompt tokens, first admissions"},
      {"running requests", false, s.running, r.mean_running(),
       s.averaged ? "means" : "server: at that moment; replay: mean"},
      {"running, most", false, s.running_max,
       static_cast<double>(r.peak_running()), ""},
      {"waiting requests", false, s.waiting, r.mean_waiting(),
       s.averaged ? "means" : "server: at that moment; replay: mean"},
      {"preemptions", false,
       s.preemptions.has_value()
           ? std::optional<double>(static_cast<double>(*s.preemptions))
           : std::nullopt,
       static_cast<double>(r.preemptions()),
       s.averaged ? "server: in the lines read" : "server: since it started"},
  };
}

std::string Number(const Compared& line, std::optional<double> value) {
  if (!value.has_value()) return "-";
  return line.share ? absl::StrFormat("%.1f %%", *value * 100)
                    : absl::StrFormat("%.2f", *value);
}

std::string Difference(const Compared& line) {
  if (!line.server.has_value() || !line.replay.has_value()) return "";
  const double difference = *line.replay - *line.server;
  return line.share ? absl::StrFormat("%+.1f points", difference * 100)
                    : absl::StrFormat("%+.2f", difference);
}

std::string Text(const ServerMetrics& server,
                 const std::vector<Compared>& lines) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kLeft});
  table.AddRow({"", "server", "replay", "difference", ""});
  for (const Compared& line : lines) {
    table.AddRow({line.name, Number(line, line.server),
                  Number(line, line.replay), Difference(line), line.meaning});
  }
  std::string text = absl::StrCat("Server: ", server.source);
  if (server.averaged) absl::StrAppend(&text, ", ", server.lines, " lines");
  return absl::StrCat(
      text, "\n\n", table.Print("  "),
      "\n  The two are of the same traffic only if the trace is; a difference "
      "in hit rate\n  that usage does not explain is usually the trace's "
      "prefixes, not the cache.\n");
}

std::string JsonText(const ServerMetrics& server,
                     const std::vector<Compared>& lines) {
  nlohmann::ordered_json json = {{"server", server.source},
                                 {"lines", server.lines},
                                 {"figures", nlohmann::ordered_json::array()}};
  const auto value = [](std::optional<double> v) {
    return v.has_value() ? nlohmann::ordered_json(*v) : nullptr;
  };
  for (const Compared& line : lines) {
    json["figures"].push_back({{"name", line.name},
                               {"server", value(line.server)},
                               {"replay", value(line.replay)}});
  }
  return json.dump(2) + "\n";
}

absl::Status CompareMetrics(const CompareFlags& flags,
                            const CommandContext& context) {
  const absl::Status status = CheckModes(flags.replay);
  if (!status.ok()) return status;
  const absl::StatusOr<ServerMetrics> server = ReadMetrics(flags.metrics);
  if (!server.ok()) return server.status();
  absl::StatusOr<Report> report = absl::InternalError("");
  {
    RunWatch watch(context.err);
    report = RunReplay(flags.replay, &watch);
  }
  if (!report.ok()) return report.status();
  const std::vector<Compared> lines = Compare(*server, *report);
  *context.out << (flags.replay.json ? JsonText(*server, lines)
                                     : Text(*server, lines));
  return absl::OkStatus();
}

}  // namespace

void AddCompareMetricsCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command = AddCommand(
      app, context, "compare-metrics",
      "A live server's usage, hit rate and preemptions beside the replay's",
      ServeArguments::kRefused,
      [flags, &context] { return CompareMetrics(*flags, context); });
  command
      ->add_option("--metrics", flags->metrics,
                   "Prometheus text or log of vLLM or SGLang")
      ->required();
  command->add_flag("--json", flags->replay.json, "JSON instead of text");
  DeclareRunFlags(*command, flags->replay);
}

}  // namespace kvsim
