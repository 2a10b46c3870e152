#include "sim/preemption_report.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/text_table.h"
#include "base/units.h"

namespace kvsim {
namespace {

using Align = TextTable::Align;

double Ratio(int64_t part, int64_t whole) {
  if (whole == 0) return 0;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string Time(int64_t ns) { return FormatDuration(SimTime(ns)); }

// What a token costs in each mode, where either happened.
void FillBreakEven(const Preemption& swap, const Preemption& recompute,
                   int64_t bytes_per_second, PreemptionComparison* comparison) {
  const double swapped = Ratio(swap.transfer_ns(), swap.swapped_tokens());
  const double computed =
      Ratio(recompute.recompute_ns(), recompute.recomputed_tokens());
  comparison->set_bytes_per_swapped_token(
      Ratio(swap.bytes_out() + swap.bytes_in(), swap.swapped_tokens()));
  comparison->set_swap_ns_per_token(swapped);
  comparison->set_recompute_ns_per_token(computed);
  if (computed > 0 && swapped > 0) {
    comparison->set_break_even_bytes_per_second(
        static_cast<double>(bytes_per_second) * swapped / computed);
  }
}

std::string Verdict(const Report& report) {
  const PreemptionComparison& c = report.preemption_comparison();
  if (c.cheaper().empty()) {
    return "Both modes take the same model time here.";
  }
  const int64_t slower =
      std::max(report.preemption().duration_ns(), c.other().duration_ns());
  return absl::StrFormat("%s is cheaper here, by %s of model time (%s).",
                         c.cheaper() == "swap" ? "Swapping" : "Recomputing",
                         Time(c.saved_ns()),
                         FormatPercent(c.saved_ns(), slower, 2));
}

std::string BreakEven(const PreemptionComparison& c, ByteUnits units) {
  if (c.break_even_bytes_per_second() <= 0) return "";
  return absl::StrFormat(
      "  A swapped token moves %s and takes %.2f us, out and in; a recomputed "
      "one %.2f us,\n  its share of the steps that it was in. Per token "
      "swapping "
      "pays above %s/s in each direction.\n",
      FormatBytes(
          Bytes(static_cast<int64_t>(c.bytes_per_swapped_token() + 0.5)),
          units),
      c.swap_ns_per_token() / 1e3, c.recompute_ns_per_token() / 1e3,
      FormatBytes(
          Bytes(static_cast<int64_t>(c.break_even_bytes_per_second() + 0.5)),
          ByteUnits::kDecimal));
}

// One column, or two beside each other.
class Columns {
 public:
  explicit Columns(const Report& report)
      : table_({Align::kLeft, Align::kRight, Align::kRight}),
        this_(report.preemption()),
        other_(report.has_preemption_comparison()
                   ? &report.preemption_comparison().other()
                   : nullptr) {
    if (other_ == nullptr) return;
    table_.AddRow(
        {"", absl::StrCat(this_.mode(), " (this run)"), other_->mode()});
  }

  template <typename Value>
  void Row(const char* name, Value value) {
    if (other_ == nullptr) {
      table_.AddRow({name, value(this_)});
    } else {
      table_.AddRow({name, value(this_), value(*other_)});
    }
  }
  bool both() const { return other_ != nullptr; }
  std::string Print() const { return table_.Print("  "); }

 private:
  TextTable table_;
  const Preemption& this_;
  const Preemption* other_;
};

void AddTimes(Columns* columns) {
  using P = Preemption;
  const auto row = [&](const char* name, auto ns) {
    columns->Row(name, [ns](const P& p) { return Time(ns(p)); });
  };
  row("model time", [](const P& p) { return p.duration_ns(); });
  row("time to first token, p50", [](const P& p) { return p.ttft().p50_ns(); });
  row("time to first token, p99", [](const P& p) { return p.ttft().p99_ns(); });
  row("end to end, p50", [](const P& p) { return p.e2e().p50_ns(); });
  row("end to end, p99", [](const P& p) { return p.e2e().p99_ns(); });
}

void AddCosts(ByteUnits units, Columns* columns) {
  using P = Preemption;
  const auto count = [&](const char* name, auto of) {
    columns->Row(name, [of](const P& p) { return FormatCount(of(p)); });
  };
  const auto bytes = [&](const char* name, auto of) {
    columns->Row(name, [of, units](const P& p) {
      return FormatBytes(Bytes(of(p)), units);
    });
  };
  count("preempted by swap", [](const P& p) { return p.by_swap(); });
  count("preempted by recompute", [](const P& p) { return p.by_recompute(); });
  count("of those, host memory full", [](const P& p) { return p.host_full(); });
  count("tokens recomputed", [](const P& p) { return p.recomputed_tokens(); });
  columns->Row("their share of the steps",
               [](const P& p) { return Time(p.recompute_ns()); });
  bytes("moved to host memory", [](const P& p) { return p.bytes_out(); });
  bytes("moved back", [](const P& p) { return p.bytes_in(); });
  columns->Row("time of moving",
               [](const P& p) { return Time(p.transfer_ns()); });
  bytes("most in host memory", [](const P& p) { return p.peak_host_bytes(); });
  bytes("host memory", [](const P& p) { return p.host_bytes(); });
}

}  // namespace

void FillPreemption(const PreemptionSummary& summary, const std::string& mode,
                    int64_t host_bytes, Report* report) {
  Preemption* filled = report->mutable_preemption();
  filled->set_mode(mode);
  filled->set_by_recompute(summary.by_recompute);
  filled->set_by_swap(summary.by_swap);
  filled->set_host_full(mode == "swap" ? summary.by_recompute : 0);
  filled->set_bytes_out(summary.bytes_out);
  filled->set_bytes_in(summary.bytes_in);
  filled->set_swapped_tokens(summary.swapped_tokens);
  filled->set_transfer_ns(summary.transfer_ns);
  filled->set_host_bytes(mode == "swap" ? host_bytes : 0);
  filled->set_peak_host_bytes(summary.peak_host_bytes);
  filled->set_recomputed_tokens(report->recomputed_tokens());
  filled->set_recompute_ns(summary.recompute_ns);
  filled->set_duration_ns(report->end_ns() - report->start_ns());
  filled->set_finished(report->finished());
  *filled->mutable_ttft() = report->ttft();
  *filled->mutable_e2e() = report->e2e();
}

void FillPreemptionComparison(const Report& other, int64_t bytes_per_second,
                              Report* report) {
  KVSIM_CHECK(report->has_preemption() && other.has_preemption());
  PreemptionComparison* filled = report->mutable_preemption_comparison();
  *filled->mutable_other() = other.preemption();
  const Preemption& mine = report->preemption();
  const Preemption& its = filled->other();
  const int64_t saved = its.duration_ns() - mine.duration_ns();
  filled->set_saved_ns(std::abs(saved));
  if (saved != 0) filled->set_cheaper(saved > 0 ? mine.mode() : its.mode());
  const bool swaps = mine.mode() == "swap";
  FillBreakEven(swaps ? mine : its, swaps ? its : mine, bytes_per_second,
                filled);
}

std::string PreemptionText(const Report& report, ByteUnits units) {
  Columns columns(report);
  if (!columns.both() && report.preemption().mode() != "swap") return "";
  if (columns.both()) AddTimes(&columns);
  AddCosts(units, &columns);
  if (!columns.both()) {
    return absl::StrCat("\nPreemption by swap\n", columns.Print());
  }
  return absl::StrCat("\nPreemption by swap and by recompute\n",
                      columns.Print(), "  ", Verdict(report), "\n",
                      BreakEven(report.preemption_comparison(), units));
}

}  // namespace kvsim
