#include "sim/paging_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text_table.h"
#include "base/units.h"

namespace kvsim {
namespace {

using Align = TextTable::Align;

double Share(int64_t part, int64_t whole) {
  if (whole == 0) return 0;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// What an item of a part is.
const char* ItemOf(const std::string& operation) {
  if (operation == "block_tables") return "table entries";
  if (operation == "slot_mapping" || operation == "write_tokens" ||
      operation == "gather_sequence") {
    return "rows";
  }
  if (operation == "hash_prefix") return "keys";
  if (operation == "copy_states" || operation == "update_state" ||
      operation == "save_state" || operation == "restore_state") {
    return "states";
  }
  if (operation == "copy_block") return "rows";
  return "blocks";
}

std::string CostText(const PagingCost& cost, ByteUnits units) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight});
  table.AddRow({"", "calls", "bytes", "time", "of the steps"});
  for (const PagingLine& line : cost.lines()) {
    table.AddRow({line.operation(), FormatCount(line.launches()),
                  FormatBytes(Bytes(line.bytes()), units),
                  FormatDuration(SimTime(line.time_ns())),
                  FormatPercent(line.time_ns(), cost.step_ns(), 3),
                  absl::StrCat(FormatCount(line.items()), " ",
                               ItemOf(line.operation()))});
  }
  table.AddRow({"together", "", "", FormatDuration(SimTime(cost.time_ns())),
                FormatPercent(cost.time_ns(), cost.step_ns(), 3),
                absl::StrCat("of ", FormatDuration(SimTime(cost.step_ns())),
                             " of steps")});
  return absl::StrCat(
      "\nPaging, of one rank\n", table.Print("  "), "  priced by ",
      cost.table(), ", measured on ", cost.measured_on(), "\n",
      cost.backend() == "cuda"
          ? ""
          : "  which is not a GPU: times are those of that machine's memory\n");
}

std::string RunText(const PagingRun& run, ByteUnits units) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"", "operations", "items", "bytes"});
  for (const PagingLine& line : run.lines()) {
    table.AddRow({line.operation(), FormatCount(line.launches()),
                  FormatCount(line.items()),
                  FormatBytes(Bytes(line.bytes()), units),
                  ItemOf(line.operation())});
  }
  const bool holds = run.backend() != "null";
  std::string text = absl::StrCat("\nPage operations on backend ",
                                  run.backend(), "\n", table.Print("  "));
  if (!holds) {
    return absl::StrCat(text,
                        "  counted, not performed: --backend host does\n");
  }
  absl::StrAppend(
      &text, "  performed in ", FormatBytes(Bytes(run.memory_bytes()), units),
      " of memory; ", FormatCount(run.rows_verified()), " rows and ",
      FormatCount(run.states_verified()),
      " states read back, every byte the right one;\n  no block had two "
      "owners who did not share it\n");
  if (run.block_bytes() != run.modelled_block_bytes()) {
    absl::StrAppend(&text, "  blocks of ",
                    FormatBytes(Bytes(run.modelled_block_bytes()), units),
                    " were scaled down to ",
                    FormatBytes(Bytes(run.block_bytes()), units),
                    ": the modelled pool of ",
                    FormatBytes(Bytes(run.modelled_bytes()), units),
                    " is larger than --backend-pool\n");
  }
  return text;
}

}  // namespace

void FillPagingCost(const PagedCost& cost, const std::string& table,
                    Report* report) {
  PagingCost& out = *report->mutable_paging_cost();
  out.set_table(table);
  out.set_backend(cost.table().backend());
  out.set_measured_on(cost.table().measured_on());
  const PagingTotals& totals = cost.totals();
  const int64_t swap_ns = report->preemption().transfer_ns();
  out.set_step_ns(totals.step_ns + swap_ns);
  const int64_t swapped =
      totals.amounts[static_cast<size_t>(PagingPart::kSwapOut)].bytes +
      totals.amounts[static_cast<size_t>(PagingPart::kSwapIn)].bytes;
  int64_t sum = 0;
  for (int i = 0; i < kNumPagingParts; ++i) {
    const auto part = static_cast<PagingPart>(i);
    const PagingAmount& amount = totals.amounts[static_cast<size_t>(i)];
    if (amount.items == 0) continue;
    PagingLine& line = *out.add_lines();
    line.set_operation(PagingPartName(part));
    line.set_launches(amount.launches);
    line.set_items(amount.items);
    line.set_bytes(amount.bytes);
    int64_t ns = totals.time_ns[static_cast<size_t>(i)];
    if (part == PagingPart::kSwapOut || part == PagingPart::kSwapIn) {
      ns = static_cast<int64_t>(Share(amount.bytes, swapped) *
                                static_cast<double>(swap_ns));
    }
    line.set_time_ns(ns);
    line.set_share(Share(ns, out.step_ns()));
    sum += ns;
  }
  out.set_time_ns(sum);
  out.set_share(Share(sum, out.step_ns()));
}

void FillPagingRun(const PagingBackend& backend,
                   std::span<const PoolShape> modelled,
                   const PageOpStream& stream, Report* report) {
  PagingRun& out = *report->mutable_paging_run();
  const bool holds = backend.name() != std::string("null");
  out.set_backend(backend.name());
  out.set_modelled_bytes(MemoryOf(modelled).value());
  out.set_memory_bytes(holds ? MemoryOf(backend.pools()).value() : 0);
  out.set_modelled_block_bytes(modelled[0].block_bytes);
  out.set_block_bytes(backend.pools()[0].block_bytes);
  const TrafficByKind& totals = backend.Totals();
  for (int kind = 0; kind < kNumPageOpKinds; ++kind) {
    const Traffic& traffic = totals[static_cast<size_t>(kind)];
    if (traffic.ops == 0) continue;
    out.set_operations(out.operations() + traffic.ops);
    PagingLine& line = *out.add_lines();
    line.set_operation(PageOpKindName(static_cast<PageOpKind>(kind)));
    line.set_launches(traffic.ops);
    line.set_items(traffic.items);
    line.set_bytes(std::max(traffic.read, traffic.written).value());
  }
  if (!holds) return;
  out.set_rows_verified(stream.rows_verified());
  out.set_states_verified(stream.states_verified());
}

std::string PagingText(const Report& report, ByteUnits units) {
  std::string text;
  if (report.has_paging_cost()) {
    text = CostText(report.paging_cost(), units);
  }
  if (report.has_paging_run()) {
    absl::StrAppend(&text, RunText(report.paging_run(), units));
  }
  return text;
}

}  // namespace kvsim
