#include "tools/paging_calibrate_command.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/text_table.h"
#include "kernels/paging_bench.h"
#include "sim/cost_table.h"
#include "tools/backend_flag.h"
#include "tools/flag_reader.h"

namespace kvsim {
namespace {

struct Flags {
  std::string backend = "host";
  std::string out, memory;
};

// A part of paging, the operation that performs it and the units it is measured in.
struct Calibration {
  PagingPart part;
  const char* operation;
  std::vector<const char*> dtypes;  // of rows
  std::vector<int64_t> pages;
};

std::vector<Calibration> Calibrations() {
  const std::vector<int64_t> pages = {4 << 10, 16 << 10, 64 << 10, 256 << 10,
                                      1 << 20};
  return {{PagingPart::kBlockTables, "block_tables", {}, {0}},
          {PagingPart::kSlotMapping, "slot_mapping", {}, {0}},
          {PagingPart::kWriteTokens, "write_tokens", {"mla", "bf16"}, {}},
          {PagingPart::kCopyBlocks, "copy_blocks", {}, pages},
          {PagingPart::kSwapOut, "swap_out", {}, pages},
          {PagingPart::kSwapIn, "swap_in", {}, pages},
          // vLLM copies states as bytes of their pages.
          {PagingPart::kCopyStates, "copy_blocks", {}, {64 << 10, 1 << 20}}};
}

// The slope between a call that moves much and one that moves one unit, and what is
// left of the latter.
absl::StatusOr<CostPoint> Measure(PagingBench& bench, BenchCase one) {
  one.batch = 0;
  const absl::StatusOr<BenchResult> many = bench.Run(one);
  if (!many.ok()) return many.status();
  one.batch = 1;
  const absl::StatusOr<BenchResult> few = bench.Run(one);
  if (!few.ok()) return few.status();
  CostPoint point;
  point.unit_bytes = many->bench.unit_bytes;
  point.bytes_per_second = many->BytesPerSecond();
  const double moving =
      static_cast<double>(few->bytes) * 1e9 / point.bytes_per_second;
  point.launch_ns = std::llround(std::max(0.0, few->call_ns - moving));
  return point;
}

absl::StatusOr<std::vector<CostPoint>> MeasurePart(PagingBench& bench,
                                                   const Calibration& what) {
  std::vector<BenchCase> cases;
  for (const char* dtype : what.dtypes)
    cases.push_back({what.operation, dtype});
  for (const int64_t page : what.pages) {
    cases.push_back({what.operation, "", page});
  }
  std::vector<CostPoint> points;
  for (const BenchCase& one : cases) {
    const absl::StatusOr<CostPoint> point = Measure(bench, one);
    if (!point.ok()) return point.status();
    points.push_back(*point);
  }
  return points;
}

std::string Text(const nlohmann::ordered_json& costs, const std::string& out) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"", "unit", "a call", "GB/s"});
  for (const auto& [part, points] : costs["operations"].items()) {
    for (const auto& point : points) {
      table.AddRow(
          {part, FormatBytes(Bytes(point["unit_bytes"].get<int64_t>())),
           absl::StrFormat("%.3f us", point["launch_ns"].get<double>() / 1e3),
           absl::StrFormat("%.2f",
                           point["bytes_per_second"].get<double>() / 1e9)});
    }
  }
  return absl::StrCat(
      "What paging costs on ", costs["measured_on"].get<std::string>(), "\n",
      table.Print("  "), "\nUse it with\n  kvsim replay --cost table:", out,
      " ...\n");
}

absl::Status Calibrate(const Flags& flags, const CommandContext& context) {
  BenchOptions options;
  Bytes memory = Bytes(options.memory_bytes);
  FlagReader reader;
  reader.Read("--memory", flags.memory, ParseBytes, &memory);
  if (memory < Bytes(2 << 20)) {
    reader.Refuse("--memory", flags.memory, "accepted: 2MiB or more");
  }
  if (!reader.status().ok()) return reader.status();
  options.memory_bytes = memory.value();
  absl::StatusOr<BackendMachine> machine = OpenBackend(flags.backend);
  if (!machine.ok()) return machine.status();
  absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OutputFile::Open(flags.out);
  if (!file.ok()) {
    return absl::Status(file.status().code(),
                        absl::StrCat("--out ", file.status().message()));
  }
  const auto bench =
      PagingBench::Create(*machine->kernels, machine->memory.get(), options);
  if (!bench.ok()) return bench.status();
  const absl::StatusOr<double> plain = (*bench)->PlainBytesPerSecond();
  if (!plain.ok()) return plain.status();
  nlohmann::ordered_json costs = {
      {"kvsim_costs", 1},
      {"backend", machine->kernels->name},
      {"measured_on", machine->memory->Description()},
      {"commit", context.commit},
      {"plain_copy_bytes_per_second", *plain}};
  for (const Calibration& what : Calibrations()) {
    const absl::StatusOr<std::vector<CostPoint>> points =
        MeasurePart(**bench, what);
    if (!points.ok()) return points.status();
    for (const CostPoint& point : *points) {
      costs["operations"][PagingPartName(what.part)].push_back(
          {{"unit_bytes", point.unit_bytes},
           {"launch_ns", point.launch_ns},
           {"bytes_per_second", point.bytes_per_second}});
    }
  }
  (*file)->Write(costs.dump(2) + "\n");
  const absl::Status written = (*file)->Close();
  if (!written.ok()) {
    return absl::Status(written.code(),
                        absl::StrCat("--out ", written.message()));
  }
  *context.out << Text(costs, flags.out);
  return absl::OkStatus();
}

}  // namespace

void AddPagingCalibrateCommand(CLI::App& paging, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      AddCommand(paging, context, "calibrate",
                 "Write the table of costs that `kvsim replay --cost` reads",
                 ServeArguments::kRefused,
                 [flags, &context] { return Calibrate(*flags, context); });
  command->add_option("--backend", flags->backend, "host or cuda (host)");
  command->add_option("--out", flags->out, "The JSON file")->required();
  command->add_option("--memory", flags->memory,
                      "What is moved about, twice taken (256MiB)");
}

}  // namespace kvsim
