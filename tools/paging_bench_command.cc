#include "tools/paging_bench_command.h"

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "base/text_table.h"
#include "kernels/paging_bench.h"
#include "tools/backend_flag.h"
#include "tools/flag_reader.h"

namespace kvsim {
namespace {

struct Flags {
  std::string backend = "host";
  std::string operations, page_sizes, layers, dtypes, batch, memory, repeats;
  bool json = false;
};

struct Grid {
  std::vector<std::string> operations, dtypes;
  std::vector<int64_t> pages, layers, batches;
  BenchOptions options;
};

using Numbers = std::vector<int64_t>;

absl::StatusOr<Numbers> ParsePages(absl::string_view text) {
  Numbers sizes;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::StatusOr<Bytes> size = ParseBytes(part);
    if (!size.ok() || size->value() < 1) {
      return absl::InvalidArgumentError(
          "accepted: sizes with commas, such as 4KiB,64KiB");
    }
    sizes.push_back(size->value());
  }
  return sizes;
}

// Counts up to 2^31 - 1, "all" as 0.
absl::StatusOr<Numbers> ParseCounts(absl::string_view text) {
  Numbers counts;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (part == "all") {
      counts.push_back(0);
      continue;
    }
    const absl::StatusOr<int64_t> count = ParseCount(part);
    if (!count.ok() || *count < 1 ||
        *count > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(
          "accepted: counts with commas, such as 1,32; a batch may be all");
    }
    counts.push_back(*count);
  }
  return counts;
}

using Names = std::vector<std::string>;

Names KnownOperations() {
  const auto names = PagingBench::Operations();
  return {names.begin(), names.end()};
}

absl::StatusOr<Names> ParseNames(absl::string_view text, const Names& known) {
  Names names;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (std::find(known.begin(), known.end(), part) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("accepted, with commas: ", absl::StrJoin(known, ", ")));
    }
    names.emplace_back(part);
  }
  return names;
}

absl::StatusOr<Names> ParseOperations(absl::string_view text) {
  return ParseNames(text, KnownOperations());
}

// Of all operations, each once.
Names KnownDtypes() {
  Names dtypes;
  for (const std::string& operation : KnownOperations()) {
    for (const std::string& dtype : PagingBench::DtypesOf(operation)) {
      if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
        dtypes.push_back(dtype);
      }
    }
  }
  return dtypes;
}

absl::StatusOr<Names> ParseDtypes(absl::string_view text) {
  return ParseNames(text, KnownDtypes());
}

absl::StatusOr<Grid> GridOf(const Flags& flags) {
  Grid grid{.operations = KnownOperations(),
            .dtypes = KnownDtypes(),
            .pages = {4 << 10, 16 << 10, 64 << 10, 256 << 10},
            .layers = {1, 32},
            .batches = {1, 64, 0}};
  Bytes memory = Bytes(grid.options.memory_bytes);
  int64_t repeats = grid.options.repeats;
  FlagReader reader;
  reader.Read("--operations", flags.operations, ParseOperations,
              &grid.operations);
  reader.Read("--dtypes", flags.dtypes, ParseDtypes, &grid.dtypes);
  reader.Read("--page-sizes", flags.page_sizes, ParsePages, &grid.pages);
  reader.Read("--layers", flags.layers, ParseCounts, &grid.layers);
  reader.Read("--batch", flags.batch, ParseCounts, &grid.batches);
  reader.Read("--memory", flags.memory, ParseBytes, &memory);
  reader.Read("--repeats", flags.repeats, ParseCount, &repeats);
  if (memory < Bytes(1 << 20)) {
    reader.Refuse("--memory", flags.memory, "accepted: 1MiB or more");
  }
  if (repeats < 1 || repeats > 1000) {
    reader.Refuse("--repeats", flags.repeats, "accepted: 1 to 1000");
  }
  for (const int64_t layers : grid.layers) {
    if (layers < 1) {
      reader.Refuse("--layers", flags.layers, "accepted: counts");
    }
  }
  if (!reader.status().ok()) return reader.status();
  grid.options.memory_bytes = memory.value();
  grid.options.repeats = static_cast<int>(repeats);
  return grid;
}

bool MovesPages(const std::string& operation) {
  return operation == "copy_blocks" || operation == "gather_sequence" ||
         operation == "swap_out" || operation == "swap_in" ||
         operation == "verify_blocks";
}

// The dtypes asked for that the operation has; one without any for others.
Names DtypesFor(const Grid& grid, const std::string& operation) {
  const Names known = PagingBench::DtypesOf(operation);
  if (known.empty()) return {""};
  Names dtypes;
  for (const std::string& dtype : grid.dtypes) {
    if (std::find(known.begin(), known.end(), dtype) != known.end()) {
      dtypes.push_back(dtype);
    }
  }
  return dtypes;
}

// Every case of the grid. Those that do not fit into the memory say so when they are
// tried.
std::vector<BenchCase> CasesOf(const Grid& grid) {
  std::vector<BenchCase> cases;
  for (const std::string& operation : grid.operations) {
    const bool pages = MovesPages(operation);
    const bool layered = pages || !PagingBench::DtypesOf(operation).empty();
    for (const int64_t page : pages ? grid.pages : Numbers{0}) {
      for (const std::string& dtype : DtypesFor(grid, operation)) {
        for (const int64_t layers : layered ? grid.layers : Numbers{1}) {
          for (const int64_t batch : grid.batches) {
            cases.push_back(
                {operation, dtype, page, static_cast<int32_t>(layers), batch});
          }
        }
      }
    }
  }
  return cases;
}

nlohmann::ordered_json JsonOf(const BenchResult& r) {
  return {{"operation", r.bench.operation},
          {"dtype", r.bench.dtype},
          {"unit_bytes", r.bench.unit_bytes},
          {"layers", r.bench.layers},
          {"batch", r.bench.batch},
          {"bytes", r.bytes},
          {"call_ns", r.call_ns},
          {"bytes_per_second", r.BytesPerSecond()},
          {"plain_copy_ratio", r.Ratio()}};
}

std::string TextOf(const std::vector<BenchResult>& results,
                   const std::string& machine, const Grid& grid) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"operation", "unit", "layers", "batch", "a call moves",
                "a call takes", "GB/s", "of a plain copy"});
  for (const BenchResult& r : results) {
    table.AddRow({absl::StrCat(r.bench.operation,
                               r.bench.dtype.empty() ? "" : " ", r.bench.dtype),
                  FormatBytes(Bytes(r.bench.unit_bytes)),
                  FormatCount(r.bench.layers), FormatCount(r.bench.batch),
                  FormatBytes(Bytes(r.bytes)),
                  absl::StrFormat("%.3f us", r.call_ns / 1e3),
                  absl::StrFormat("%.2f", r.BytesPerSecond() / 1e9),
                  absl::StrFormat("%.2f", r.Ratio())});
  }
  return absl::StrCat(
      "Page operations on ", machine, ", random units of ",
      FormatBytes(Bytes(grid.options.memory_bytes)), ", medians of ",
      grid.options.repeats, "\n", table.Print("  "),
      "  GB/s: 10^9 B a second, half of what is read and written "
      "(hash_prefixes: token\n  ids; verify_blocks: read). A plain copy is one "
      "large copy in the same run.\n");
}

absl::Status Bench(const Flags& flags, const CommandContext& context) {
  const absl::StatusOr<Grid> grid = GridOf(flags);
  if (!grid.ok()) return grid.status();
  absl::StatusOr<BackendMachine> machine = OpenBackend(flags.backend);
  if (!machine.ok()) return machine.status();
  const auto bench = PagingBench::Create(*machine->kernels,
                                         machine->memory.get(), grid->options);
  if (!bench.ok()) return bench.status();
  std::vector<BenchResult> results;
  Names left_out;  // cases larger than the memory
  for (const BenchCase& one : CasesOf(*grid)) {
    absl::StatusOr<BenchResult> result = (*bench)->Run(one);
    if (absl::IsOutOfRange(result.status())) {
      left_out.push_back(std::string(result.status().message()));
      continue;
    }
    if (!result.ok()) return result.status();
    results.push_back(*std::move(result));
  }
  const std::string description = machine->memory->Description();
  if (!flags.json) {
    *context.out << TextOf(results, description, *grid);
    for (const std::string& why : left_out) {
      *context.out << "  left out: " << why << "\n";
    }
    return absl::OkStatus();
  }
  nlohmann::ordered_json json = {{"backend", machine->kernels->name},
                                 {"measured_on", description},
                                 {"commit", context.commit},
                                 {"memory_bytes", grid->options.memory_bytes},
                                 {"repeats", grid->options.repeats},
                                 {"results", nlohmann::ordered_json::array()}};
  for (const BenchResult& r : results) json["results"].push_back(JsonOf(r));
  json["left_out"] = left_out;
  *context.out << json.dump(2) << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddPagingBenchCommand(CLI::App& paging, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      AddCommand(paging, context, "bench",
                 "Bandwidth of page operations beside a plain copy",
                 ServeArguments::kRefused,
                 [flags, &context] { return Bench(*flags, context); });
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command->add_option(name, value, help);
  };
  add("--backend", flags->backend, "host or cuda (host)");
  add("--operations", flags->operations, "Which of them (all)");
  add("--page-sizes", flags->page_sizes,
      "Pages of one layer (4KiB,16KiB,64KiB,256KiB)");
  add("--layers", flags->layers, "Layers of one call (1,32)");
  add("--dtypes", flags->dtypes, "Formats of write_tokens and of states (all)");
  add("--batch", flags->batch,
      "Pages, rows or tokens of a layer in one call; all: as many as fit "
      "(1,64,all)");
  add("--memory", flags->memory,
      "What a case moves about, twice taken (256MiB)");
  add("--repeats", flags->repeats, "Measurements that a median is of (5)");
  command->add_flag("--json", flags->json, "One JSON object on stdout");
}

}  // namespace kvsim
