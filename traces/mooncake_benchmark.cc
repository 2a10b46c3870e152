// Reading Mooncake JSONL, beside bare simdjson passes over the same file in the
// same run.
//
// File:     rows of the shape of the Mooncake conversation trace (24 ids a row
//           on average), made by a fixed seed. With KVSIM_SHARED the real trace
//           too.
// Passes:   reader: OpenTrace and Next to the end, from the file system, checks
//           and all. dom: simdjson's document stream over the text in memory,
//           every value read. ondemand: the same with its on-demand parser.
//           Passes take turns; medians over all turns, in processor time.
// Counters: of_dom, of_ondemand  bare time / reader's time: 1 is as fast
//           mb_per_s             of the reader
//           result               hash of lengths and ids; equal for all three
//                                passes, or the benchmark fails

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

std::string MadeFile() {
  constexpr int kRows = 12'000;
  const char* folder = std::getenv("TMPDIR");
  const std::string path = absl::StrCat(folder == nullptr ? "/tmp" : folder,
                                        "/kvsim_mooncake_benchmark.jsonl");
  RandomStream random(1, "mooncake_benchmark");
  std::ofstream file(path);
  for (int i = 0; i < kRows; ++i) {
    const int64_t input =
        std::clamp<int64_t>(random.LogNormal(7000, 1.0), 1, 126'000);
    std::string line = absl::StrCat(
        "{\"timestamp\": ", i * 300, ", \"input_length\": ", input,
        ", \"output_length\": ", random.Between(1, 680), ", \"hash_ids\": [");
    auto id = static_cast<int64_t>(random.Below(180'000));
    for (int64_t at = 0; at < input; at += 512) {
      absl::StrAppend(&line, at == 0 ? "" : ", ", id++);
    }
    file << line << "]}\n";
  }
  KVSIM_CHECK(file.good()) << path;
  return path;
}

// Order matters; cheap beside parsing.
struct Hash {
  void Add(uint64_t value) { state = (state ^ value) * 0x9e3779b97f4a7c15; }
  uint64_t state = 1;
};

uint64_t ReaderPass(const std::string& path) {
  const auto reader = OpenTrace(path, TraceOptions());
  KVSIM_CHECK(reader.ok()) << reader.status();
  Hash hash;
  TraceRequest row;
  while (true) {
    const absl::StatusOr<bool> found = (*reader)->Next(&row);
    KVSIM_CHECK(found.ok()) << found.status();
    if (!*found) return hash.state;
    hash.Add(static_cast<uint64_t>(row.input_length));
    hash.Add(static_cast<uint64_t>(row.output_length));
    for (const uint64_t id : row.hash_ids) hash.Add(id);
  }
}

constexpr size_t kBatchBytes = size_t{1} << 20;

uint64_t DomPass(const simdjson::padded_string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::document_stream rows;
  KVSIM_CHECK(parser.parse_many(text, kBatchBytes).get(rows) ==
              simdjson::SUCCESS);
  Hash hash;
  for (const auto row : rows) {
    hash.Add(row["input_length"].get_uint64().value());
    hash.Add(row["output_length"].get_uint64().value());
    for (const auto id : row["hash_ids"].get_array()) {
      hash.Add(id.get_uint64().value());
    }
  }
  return hash.state;
}

uint64_t OndemandPass(const simdjson::padded_string& text) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document_stream rows;
  KVSIM_CHECK(parser.iterate_many(text, kBatchBytes).get(rows) ==
              simdjson::SUCCESS);
  Hash hash;
  for (auto row : rows) {
    hash.Add(row["input_length"].get_uint64().value());
    hash.Add(row["output_length"].get_uint64().value());
    for (auto id : row["hash_ids"].get_array()) {
      hash.Add(id.get_uint64().value());
    }
  }
  return hash.state;
}

// Of this thread, so that a neighbour on the machine does not count.
double CpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / 1e9;
}

template <typename Pass>
void Time(const Pass& pass, std::vector<double>* seconds, uint64_t* result) {
  const double start = CpuSeconds();
  *result = pass();
  seconds->push_back(CpuSeconds() - start);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

void ReadMooncake(benchmark::State& state, const std::string& path) {
  simdjson::padded_string text;
  if (simdjson::padded_string::load(path).get(text) != simdjson::SUCCESS) {
    state.SkipWithError(absl::StrCat(path, ": cannot read").c_str());
    return;
  }
  std::vector<double> reader, dom, ondemand;
  uint64_t reader_result = 0, dom_result = 0, ondemand_result = 0;
  for (auto _ : state) {
    Time([&] { return ReaderPass(path); }, &reader, &reader_result);
    Time([&] { return DomPass(text); }, &dom, &dom_result);
    Time([&] { return OndemandPass(text); }, &ondemand, &ondemand_result);
    KVSIM_CHECK_EQ(reader_result, dom_result);
    KVSIM_CHECK_EQ(reader_result, ondemand_result);
  }
  state.counters["of_dom"] = Median(dom) / Median(reader);
  state.counters["of_ondemand"] = Median(ondemand) / Median(reader);
  state.counters["mb_per_s"] =
      static_cast<double>(text.size()) / 1e6 / Median(reader);
  state.counters["result"] = static_cast<double>(reader_result >> 12);
}

void ReadMadeFile(benchmark::State& state) {
  const std::string path = MadeFile();
  ReadMooncake(state, path);
  std::remove(path.c_str());
}
BENCHMARK(ReadMadeFile)->Unit(benchmark::kMillisecond);

void ReadConversation(benchmark::State& state) {
  const char* folder = std::getenv("KVSIM_SHARED");
  if (folder == nullptr) {
    state.SkipWithError("KVSIM_SHARED is not set");
    return;
  }
  ReadMooncake(state,
               absl::StrCat(folder, "/traces/mooncake_conversation.jsonl"));
}
BENCHMARK(ReadConversation)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvsim
