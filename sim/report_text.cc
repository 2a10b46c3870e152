#include "sim/report_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "sim/paging_report.h"
#include "sim/preemption_report.h"

namespace kvsim {
namespace {

using Align = TextTable::Align;

constexpr char kIndent[] = "  ";

std::string Percent(double share) {
  return absl::StrFormat("%.1f %%", 100.0 * share);
}

std::string Time(int64_t ns) { return FormatDuration(SimTime(ns)); }

std::string Section(absl::string_view title, const TextTable& table) {
  return absl::StrCat("\n", title, "\n", table.Print(kIndent));
}

std::string Header(const Report& report, ByteUnits units) {
  const Manifest& manifest = report.manifest();
  std::string text = absl::StrCat(
      "kvsim ", manifest.version(), " replay of ", manifest.trace(), " (",
      manifest.trace_format(), ", ", manifest.trace_hash(), ")\n");
  absl::StrAppend(&text, "engine ", manifest.engine(), ", ",
                  FormatCount(report.num_blocks()), " blocks of ",
                  report.block_tokens(), " tokens");
  if (report.ledger_unit() == "bytes") {
    absl::StrAppend(
        &text, ", ", FormatBytes(Bytes(report.bytes_per_block()), units),
        " a block, pool ", FormatBytes(Bytes(report.pool_bytes()), units));
  }
  absl::StrAppend(&text, "\n");
  if (report.has_step_times()) {
    absl::StrAppend(&text, report.step_times().note(), "\n");
  }
  if (report.interrupted()) {
    absl::StrAppend(&text, "INTERRUPTED: below is what was known by then.\n");
  }
  for (const std::string& warning : report.warnings()) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  return text;
}

// --- requests -----------------------------------------------------------------

std::string RequestsSection(const Report& report) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  const auto row = [&](const std::string& name, int64_t count,
                       const std::string& note = "") {
    table.AddRow({name, FormatCount(count),
                  FormatPercent(count, report.requests()), note});
  };
  table.AddRow({"reached the engine", FormatCount(report.requests())});
  row("finished", report.finished());
  if (report.unfinished() > 0) row("unfinished", report.unfinished());
  row("can never fit", report.never_fit(),
      report.never_fit() == 0
          ? ""
          : absl::StrCat(FormatCount(report.too_long()),
                         " longer than the engine allows, ",
                         FormatCount(report.larger_than_pool()),
                         " larger than the pool"));
  const int64_t duration_ns = report.end_ns() - report.start_ns();
  table.AddRow({"model time", Time(duration_ns), "",
                absl::StrCat("in ", FormatCount(report.steps()),
                             " steps, idle for ", Time(report.idle_ns()))});
  if (duration_ns > 0) {
    const auto rate = [&](int64_t tokens) {
      const double per_s =
          1e9 * static_cast<double>(tokens) / static_cast<double>(duration_ns);
      return FormatCount(static_cast<int64_t>(per_s + 0.5));
    };
    table.AddRow({"prompt tokens", FormatCount(report.prompt_tokens()), "",
                  rate(report.prompt_tokens()) + " tokens/s"});
    table.AddRow({"output tokens", FormatCount(report.output_tokens()), "",
                  rate(report.output_tokens()) + " tokens/s"});
  }
  return Section("Requests", table);
}

std::string ConcurrencySection(const Report& report) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.AddRow({"", "peak", "mean"});
  table.AddRow({"running", FormatCount(report.peak_running()),
                absl::StrFormat("%.2f", report.mean_running()),
                absl::StrCat("peak first reached at ",
                             Time(report.peak_running_at_ns()))});
  table.AddRow({"waiting", FormatCount(report.peak_waiting()),
                absl::StrFormat("%.2f", report.mean_waiting())});
  return Section("Concurrency (requests; means over time)", table);
}

// --- limits -------------------------------------------------------------------

std::string LimitInWords(const std::string& limit) {
  static const auto* kWords = new std::map<std::string, std::string>{
      {"none_waiting", "nothing waited"},
      {"max_sequences", "--max-num-seqs requests were running"},
      {"token_budget", "--max-num-batched-tokens were used up"},
      {"preemption", "a request was preempted in that step"},
      {"gate", "its whole prompt did not fit the free blocks"},
      {"blocks", "this step's blocks did not fit"},
      {"state_deferral", "it hit a state cached in that very step"},
      {"async_drain", "its outputs from before a preemption were in flight"},
      {"idle", "nothing to do"},
  };
  const auto it = kWords->find(limit);
  return it == kWords->end() ? limit : it->second;
}

std::string LimitsSection(const Report& report) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.AddRow({"", "of time", "time", ""});
  std::vector<const LimitLine*> lines;
  for (const LimitLine& line : report.limits()) {
    if (line.time_ns() > 0) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LimitLine* a, const LimitLine* b) {
                     return a->time_ns() > b->time_ns();
                   });
  for (const LimitLine* line : lines) {
    table.AddRow({line->limit(), Percent(line->share()), Time(line->time_ns()),
                  LimitInWords(line->limit())});
  }
  return Section("Why the next request in line was not admitted", table);
}

// --- times --------------------------------------------------------------------

std::string TimesSection(const Report& report) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.AddRow({"", "mean", "p50", "p90", "p99", "max"});
  const auto row = [&](const std::string& name, const Times& times) {
    table.AddRow({name, Time(times.mean_ns()), Time(times.p50_ns()),
                  Time(times.p90_ns()), Time(times.p99_ns()),
                  Time(times.max_ns())});
  };
  row("waiting", report.waiting());
  row("time to first token", report.ttft());
  row("time per output token", report.tpot());
  row("end to end", report.e2e());
  std::string text = Section("Times of finished requests", table);
  if (report.has_goodput()) {
    const Goodput& goodput = report.goodput();
    absl::StrAppend(
        &text,
        absl::StrFormat("  goodput at %s: %s requests (%s), %.2f requests/s, "
                        "%.1f output tokens/s\n",
                        goodput.slo(), FormatCount(goodput.requests()),
                        Percent(goodput.share()), goodput.requests_per_s(),
                        goodput.output_tokens_per_s()));
  }
  return text;
}

// --- cache --------------------------------------------------------------------

std::string CacheSection(const Report& report) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.AddRow({"prompt tokens hit", FormatCount(report.hit_tokens()),
                FormatPercent(report.hit_tokens(), report.prompt_tokens()),
                "of all prompt tokens, at first admission"});
  table.AddRow({"hit at resumes", FormatCount(report.resume_hit_tokens()), "",
                "tokens found again after a preemption"});
  table.AddRow({"blocks allocated", FormatCount(report.allocations())});
  table.AddRow({"evictions", FormatCount(report.evictions()),
                FormatPercent(report.evictions(), report.allocations()),
                "of allocations took a cached block"});
  table.AddRow({"preemptions", FormatCount(report.preemptions()), "",
                absl::StrCat("of ", FormatCount(report.requests_preempted()),
                             " different requests")});
  table.AddRow(
      {"tokens recomputed", FormatCount(report.recomputed_tokens()),
       FormatPercent(report.recomputed_tokens(), report.scheduled_tokens()),
       "of all scheduled tokens"});
  table.AddRow({"least free blocks", FormatCount(report.min_free_blocks()),
                FormatPercent(report.min_free_blocks(), report.num_blocks()),
                "free or reclaimable, right after scheduling"});
  return Section("Prefix cache and preemption", table);
}

std::string CheckpointSection(const Report& report, ByteUnits units) {
  if (!report.has_checkpoints()) return "";
  const Checkpoints& states = report.checkpoints();
  const auto amount = [&](int64_t bytes) {
    return report.ledger_unit() == "bytes"
               ? FormatBytes(Bytes(bytes), units)
               : absl::StrCat(FormatCount(bytes), " slots");
  };
  const auto share = [&](int64_t bytes) {
    return FormatPercent(bytes, report.pool_bytes());
  };
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.AddRow({"policy", states.policy().empty() ? "engine" : states.policy(),
                "", "--checkpoint-policy"});
  table.AddRow({"stored", FormatCount(states.stored()), "",
                absl::StrCat("of ", amount(states.bytes_each()),
                             " each, all recurrent layers")});
  table.AddRow({"kept, mean", amount(states.mean_bytes()),
                share(states.mean_bytes()), "of the pool, held or idle"});
  table.AddRow({"kept, most at once", amount(states.peak_bytes()),
                share(states.peak_bytes())});
  table.AddRow({"live states, mean", amount(states.live_mean_bytes()),
                share(states.live_mean_bytes()),
                "one a running request, whatever its length"});
  return Section("Checkpoints of recurrent states", table);
}

// --- ledger -------------------------------------------------------------------

std::string AccountInWords(const std::string& account) {
  static const auto* kWords = new std::map<std::string, std::string>{
      {"remainder", "does not make a whole block"},
      {"null", "block 0 and blocks reserved for good"},
      {"free", "never used or given back without a key"},
      {"idle", "cached, held by nobody: reclaimable"},
      {"slot_padding", "held: block bytes no layer uses"},
      {"page_padding", "held: page bytes beyond rows"},
      {"live", "held: computed and visible"},
      {"window_slack", "held: computed, outside every window"},
      {"in_flight", "held: scheduled or lookahead, not computed"},
      {"tail_slack", "held: rest of the last blocks"},
      {"state_current", "held: states the next step reads"},
      {"state_previous", "held: states kept one step"},
      {"state_speculative", "held: states of drafts"},
      {"state_checkpoint", "held: states kept for hits"},
      {"duplicates", "blocks whose key an earlier block carries"},
      {"shared_rows", "rows with two owners or more"},
      {"sharing_saved", "what sharing saves, beside the pool"},
      {"idle_checkpoints", "states among the idle"},
      {"idle_padding", "padding inside the idle"},
  };
  const auto it = kWords->find(account);
  return it == kWords->end() ? "" : it->second;
}

using LedgerLines = google::protobuf::RepeatedPtrField<LedgerLine>;

class LedgerTable {
 public:
  LedgerTable(bool bytes, ByteUnits units)
      : bytes_(bytes),
        units_(units),
        table_({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                Align::kRight}) {
    table_.AddRow({"", "at the peak", "", "mean", "", ""});
  }

  // Accounts that are zero at the peak and on average say nothing.
  void AddLines(const LedgerLines& peak, const LedgerLines& mean,
                const std::string& section = "") {
    bool first = !section.empty();
    for (int i = 0; i < peak.size() && i < mean.size(); ++i) {
      if (peak[i].bytes() == 0 && mean[i].bytes() == 0) continue;
      if (first) table_.AddSection(section);
      first = false;
      table_.AddRow({peak[i].account(), Amount(peak[i].bytes()),
                     Percent(peak[i].share()), Amount(mean[i].bytes()),
                     Percent(mean[i].share()),
                     AccountInWords(peak[i].account())});
    }
  }
  void AddPool(int64_t pool) {
    table_.AddRow({"pool", Amount(pool), Percent(1), Amount(pool), Percent(1)});
  }
  const TextTable& table() const { return table_; }

 private:
  std::string Amount(int64_t bytes) const {
    return bytes_ ? FormatGiga(Bytes(bytes), units_, 3) : FormatCount(bytes);
  }
  bool bytes_;
  ByteUnits units_;
  TextTable table_;
};

std::string LedgerSection(const Report& report, ByteUnits units) {
  const bool bytes = report.ledger_unit() == "bytes";
  LedgerTable lines(bytes, units);
  lines.AddLines(report.ledger_peak(), report.ledger_mean());
  lines.AddPool(report.pool_bytes());
  lines.AddLines(report.of_which_peak(), report.of_which_mean(),
                 "of which (counted above, not added)");
  return Section(
      absl::StrCat("Where the ", bytes ? "bytes" : "pool's token slots",
                   " are (peak at ", Time(report.ledger_peak_at_ns()), " with ",
                   FormatCount(report.ledger_peak_running()),
                   " running; means over time)"),
      lines.table());
}

// Groups that are alike in everything but their layers stand together.
std::string GroupInWords(const GroupLedger& group, int64_t alike,
                         int64_t layers) {
  std::string words = alike > 1 ? absl::StrCat(alike, " x ") : "";
  absl::StrAppend(&words, group.kind());
  if (!group.state_mode().empty()) {
    absl::StrAppend(&words, " (", group.state_mode(), ")");
  }
  if (group.tokens() > 0) {
    absl::StrAppend(&words, " of ", FormatCount(group.tokens()));
  }
  absl::StrAppend(&words, ", blocks of ", FormatCount(group.block_tokens()),
                  " tokens");
  if (layers > 0) absl::StrAppend(&words, ", ", layers, " layers");
  return words;
}

bool Alike(const GroupLedger& a, const GroupLedger& b) {
  return a.kind() == b.kind() && a.block_tokens() == b.block_tokens() &&
         a.tokens() == b.tokens() && a.state_mode() == b.state_mode();
}

void AddLines(const LedgerLines& from, LedgerLines* to) {
  for (int i = 0; i < from.size(); ++i) {
    LedgerLine* line = i < to->size() ? to->Mutable(i) : to->Add();
    line->set_account(from[i].account());
    line->set_bytes(line->bytes() + from[i].bytes());
    line->set_share(line->share() + from[i].share());
  }
}

std::string GroupsSection(const Report& report, ByteUnits units) {
  if (report.groups().empty()) return "";
  LedgerTable table(report.ledger_unit() == "bytes", units);
  std::vector<bool> told(static_cast<size_t>(report.groups_size()), false);
  for (int first = 0; first < report.groups_size(); ++first) {
    if (told[static_cast<size_t>(first)]) continue;
    LedgerLines peak, mean;
    int64_t alike = 0, layers = 0;
    for (int g = first; g < report.groups_size(); ++g) {
      const GroupLedger& group = report.groups(g);
      if (!Alike(group, report.groups(first))) continue;
      told[static_cast<size_t>(g)] = true;
      ++alike;
      layers += group.layers();
      AddLines(group.peak(), &peak);
      AddLines(group.mean(), &mean);
    }
    table.AddLines(peak, mean,
                   GroupInWords(report.groups(first), alike, layers));
  }
  return Section("The same by cache group", table.table());
}

std::string WasteLine(const Report& report, ByteUnits units) {
  const Waste& waste = report.largest_waste();
  if (waste.bytes() == 0) return "";
  const std::string amount =
      report.ledger_unit() == "bytes"
          ? FormatBytes(Bytes(waste.bytes()), units)
          : absl::StrCat(FormatCount(waste.bytes()), " token slots");
  return absl::StrCat("\nLargest waste: ", amount, " of ", waste.account(),
                      waste.kind().empty() ? "" : " of ", waste.kind(),
                      waste.kind().empty() ? "" : " groups", ", ",
                      Percent(waste.share()), " of the pool on average.\n  ",
                      waste.setting(), " changes it: ", waste.reason(), ".\n");
}

// --- sequences ----------------------------------------------------------------

std::string SequencesSection(const Report& report, ByteUnits units) {
  if (!report.has_sequences()) return "";
  const SequencesOfRows& s = report.sequences();
  const bool bytes = report.ledger_unit() == "bytes";
  const auto amount = [&](int64_t n) {
    return bytes ? FormatBytes(Bytes(n), units) : FormatCount(n);
  };
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  if (s.sharing() == "fork") {
    table.AddRow({"forks", FormatCount(s.forks()), "",
                  absl::StrCat("took part in ", FormatCount(s.forked_blocks()),
                               " blocks")});
    table.AddRow({"forks that waited", FormatCount(s.forks_waited()), "",
                  "no room to run at once: prompt and outputs again"});
    if (s.kind() == "beams") {
      table.AddRow({"beams dropped", FormatCount(s.dropped())});
    }
    table.AddRow(
        {"blocks copied", FormatCount(s.fork_copies()), "",
         absl::StrCat(amount(s.fork_copy_bytes()), bytes ? "" : " token slots",
                      ": before a write that others must not see")});
  }
  table.AddRow({"", "peak", "mean"});
  table.AddRow({"shared", amount(s.shared_peak()), amount(s.shared_mean()),
                "rows with two owners or more, counted once"});
  table.AddRow({"saved by sharing", amount(s.saved_peak()),
                amount(s.saved_mean()), "beside the pool"});
  return Section(absl::StrCat(s.width(), " ", s.kind(), " a request, sharing ",
                              s.sharing() == "fork" ? "blocks by forks"
                                                    : "full blocks by prefix",
                              bytes ? "" : " (token slots)"),
                 table);
}

// --- baseline -----------------------------------------------------------------

std::string BaselineSection(const Report& report) {
  if (report.contiguous().empty()) return "";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight});
  table.AddRow({"reserved", "finished", "peak", "mean", "model time", "used",
                "later", "internal", "external"});
  table.AddRow({"pages (this run)", FormatCount(report.finished()),
                FormatCount(report.peak_running()),
                absl::StrFormat("%.2f", report.mean_running()),
                Time(report.end_ns() - report.start_ns())});
  for (const ContiguousBaseline& b : report.contiguous()) {
    table.AddRow({b.reservation(), FormatCount(b.finished()),
                  FormatCount(b.peak_running()),
                  absl::StrFormat("%.2f", b.mean_running()),
                  Time(b.duration_ns()), Percent(b.used()),
                  Percent(b.reserved_for_later()),
                  Percent(b.internal_fragmentation()),
                  Percent(b.external_fragmentation())});
  }
  return Section("Without paging: one contiguous range per request, no cache",
                 table) +
         "  used: rows computed or in the batch; later: reserved and written "
         "before the end;\n  internal: reserved, never written; external: free "
         "while the next request had no hole.\n";
}

// --- money ------------------------------------------------------------------------

std::string CostSection(const Report& report) {
  if (!report.has_cost()) return "";
  const Cost& cost = report.cost();
  TextTable table({Align::kLeft, Align::kRight});
  table.AddRow({"GPU-hours", absl::StrFormat("%.4f", cost.gpu_hours()),
                absl::StrCat(cost.gpus(), " GPUs, idle time included")});
  table.AddRow(
      {"money", absl::StrFormat("%.4f", cost.money()),
       absl::StrFormat("at %g per GPU-hour", cost.price_per_gpu_hour())});
  table.AddRow({"per million tokens",
                absl::StrFormat("%.4f", cost.money_per_million_tokens()),
                "prompt and output together"});
  table.AddRow({"per million output tokens",
                absl::StrFormat("%.4f", cost.money_per_million_output_tokens()),
                "all of it on the outputs"});
  return Section("What it cost", table);
}

std::string PrefixCachingSection(const Report& report) {
  if (!report.has_without_prefix_caching()) return "";
  const WithoutPrefixCaching& off = report.without_prefix_caching();
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"", "this run", "without", "saved"});
  const auto times = [&](const char* name, int64_t on, int64_t without) {
    table.AddRow({name, Time(on), Time(without),
                  without >= on ? Time(without - on)
                                : absl::StrCat("-", Time(on - without))});
  };
  times("model time", report.end_ns() - report.start_ns(), off.duration_ns());
  times("time to first token, p99", report.ttft().p99_ns(),
        off.ttft().p99_ns());
  const auto counts = [&](const char* name, int64_t on, int64_t without) {
    table.AddRow({name, FormatCount(on), FormatCount(without),
                  FormatCount(without - on)});
  };
  counts("tokens computed", report.scheduled_tokens(), off.scheduled_tokens());
  counts("preemptions", report.preemptions(), off.preemptions());
  if (off.has_cost()) {
    const auto number = [](double value) {
      return absl::StrFormat("%.4f", value);
    };
    table.AddRow({"GPU-hours", number(report.cost().gpu_hours()),
                  number(off.cost().gpu_hours()),
                  number(off.cost().gpu_hours() - report.cost().gpu_hours())});
    table.AddRow({"money", number(report.cost().money()),
                  number(off.cost().money()),
                  number(off.cost().money() - report.cost().money())});
  }
  return Section("What prefix caching saved", table);
}

}  // namespace

std::string ReportText(const Report& report, ByteUnits units) {
  return absl::StrCat(Header(report, units), RequestsSection(report),
                      ConcurrencySection(report), LimitsSection(report),
                      TimesSection(report)) +
         absl::StrCat(
             CacheSection(report), CheckpointSection(report, units),
             LedgerSection(report, units), GroupsSection(report, units),
             SequencesSection(report, units), WasteLine(report, units),
             BaselineSection(report), CostSection(report),
             PrefixCachingSection(report), PreemptionText(report, units)) +
         PagingText(report, units) +
         absl::StrCat("\nreal time ", Time(report.wall_ns()), "\n");
}

std::string HitReportText(const HitReport& report) {
  const Manifest& manifest = report.manifest();
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.AddRow({"prompt tokens", FormatCount(report.measured_tokens()), "",
                absl::StrCat("of ", FormatCount(report.measured_requests()),
                             " measured requests")});
  table.AddRow({"hit tokens", FormatCount(report.hit_tokens()),
                FormatPercent(report.hit_tokens(), report.measured_tokens(), 3),
                "of the prompt tokens"});
  table.AddRow(
      {"hit blocks", FormatCount(report.hit_blocks()),
       FormatPercent(report.hit_blocks(), report.measured_references(), 3),
       absl::StrCat("of ", FormatCount(report.measured_references()),
                    " references")});
  table.AddRow(
      {"requests with a hit", FormatCount(report.hit_requests()),
       FormatPercent(report.hit_requests(), report.measured_requests(), 3)});
  table.AddRow({"evictions", FormatCount(report.evictions()), "",
                absl::StrCat("in ", FormatCount(report.references()),
                             " references of all ",
                             FormatCount(report.requests()), " requests")});
  return absl::StrCat("kvsim ", manifest.version(), " prefix hits of ",
                      manifest.trace(), " (", manifest.trace_format(), ", ",
                      manifest.trace_hash(), ")\n", report.policy(), ", ",
                      FormatCount(report.blocks()), " blocks of ",
                      report.block_tokens(), " tokens, partial tail ",
                      report.partial_tail(), "\n") +
         Section("Hits", table) +
         absl::StrCat("\nreal time ", Time(report.wall_ns()), "\n");
}

}  // namespace kvsim
