#include "tools/step_samples.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "traces/byte_source.h"
#include "traces/csv_table.h"
#include "traces/line_reader.h"
#include "traces/trace_problem.h"

namespace kvsim {
namespace {

constexpr char kPrefill[] = "prefill_tokens";
constexpr char kDecode[] = "decode_requests";
constexpr char kContext[] = "context_tokens";
constexpr char kTime[] = "step_us";
constexpr char kStart[] = "start_ns";
constexpr char kEnd[] = "end_ns";

constexpr int64_t kMost = int64_t{1} << 50;
constexpr char kAcceptedCount[] = "an integer from 0 to 2^50";
constexpr double kMaxUs = 1e12;

absl::Status ReadHeader(absl::string_view line, const TraceProblem& place,
                        CsvTable* table) {
  std::vector<TraceProblem> problems;
  table->ReadHeader(line, {}, place, &problems);
  if (!problems.empty()) return problems[0].ToStatus();
  TraceProblem missing = place;
  missing.found = Excerpt(line);
  if (!table->HasColumn(kTime) &&
      !(table->HasColumn(kStart) && table->HasColumn(kEnd))) {
    missing.field = kTime;
    missing.accepted = "a header with step_us, or start_ns and end_ns";
    return missing.ToStatus();
  }
  if (!table->HasColumn(kPrefill) && !table->HasColumn(kDecode) &&
      !table->HasColumn(kContext)) {
    missing.field = kPrefill;
    missing.accepted =
        "a header with prefill_tokens, decode_requests or context_tokens";
    return missing.ToStatus();
  }
  return absl::OkStatus();
}

int64_t Count(CsvTable* table, const char* column) {
  return table->HasColumn(column)
             ? table->Integer(column, 0, kMost, kAcceptedCount)
             : 0;
}

double Microseconds(CsvTable* table) {
  if (!table->HasColumn(kTime)) {
    const int64_t start = table->Integer(kStart, 0, INT64_MAX, kAcceptedCount);
    const int64_t end = table->Integer(kEnd, 0, INT64_MAX, kAcceptedCount);
    if (end <= start) table->AddProblem(kEnd, "a time after start_ns");
    return static_cast<double>(end - start) / 1e3;
  }
  double us = 0;
  const std::optional<absl::string_view> text = table->Text(kTime);
  if (!text.has_value() || !absl::SimpleAtod(*text, &us) ||
      !(us > 0 && us <= kMaxUs)) {
    table->AddProblem(kTime, "microseconds above 0, to 1e12");
  }
  return us;
}

}  // namespace

absl::StatusOr<std::vector<StepSample>> ReadStepSamples(
    const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  LineReader lines(*std::move(source));
  CsvTable table;
  std::vector<StepSample> samples;
  bool has_header = false;
  while (true) {
    absl::string_view line;
    const absl::StatusOr<bool> found = lines.NextFilled(&line);
    if (!found.ok()) return found.status();
    TraceProblem place;
    place.file = path;
    place.line = lines.line_number();
    if (!has_header) {
      const absl::Status status = ReadHeader(line, place, &table);
      if (!status.ok()) return status;
      has_header = true;
      continue;
    }
    if (!*found) return samples;
    std::vector<TraceProblem> problems;
    if (table.ReadRecord(line, place, &problems)) {
      StepSample sample;
      sample.prefill_tokens = Count(&table, kPrefill);
      sample.decode_requests = Count(&table, kDecode);
      sample.context_tokens = Count(&table, kContext);
      const bool is_empty = sample.prefill_tokens == 0 &&
                            sample.decode_requests == 0 &&
                            sample.context_tokens == 0;
      if (!is_empty) {
        sample.us = Microseconds(&table);
        samples.push_back(sample);
      }
    }
    if (!problems.empty()) return problems[0].ToStatus();
  }
}

}  // namespace kvsim
