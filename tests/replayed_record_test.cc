// vLLM's own recorded decisions through `kvsim replay`: the flags that describe a
// run write a log that has every field of every line of its record.
//
// Source: as of engine_run_test.cc.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/command_outcome.h"
#include "traces/byte_source.h"
#include "traces/line_reader.h"

namespace kvsim {
namespace {

using Json = nlohmann::json;

struct Recorded {
  std::string name;
  std::vector<std::string> flags;
};
void PrintTo(const Recorded& run, std::ostream* out) { *out << run.name; }

// All lines of a record or a log.
std::vector<Json> ReadLines(const std::string& path) {
  std::vector<Json> lines;
  absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(path);
  EXPECT_TRUE(source.ok()) << source.status();
  LineReader reader(std::move(*source));
  absl::string_view line;
  while (true) {
    const absl::StatusOr<bool> more = reader.Next(&line);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return lines;
    lines.push_back(Json::parse(line.begin(), line.end()));
  }
}

class RecordedRun : public ::testing::TestWithParam<Recorded> {};

TEST_P(RecordedRun, IsWhatTheCommandLogs) {
  const std::string folder = "tests/testdata/oracle/";
  const std::string& name = GetParam().name;
  const std::string log = ::testing::TempDir() + "/" + name + ".jsonl";
  std::vector<std::string> flags = {
      "--trace",
      folder + "traces/" + name.substr(0, name.find('_')) + ".jsonl",
      "--timing",
      "steps",
      "--step-log",
      log,
      "--step-log-detail"};
  flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
  const Outcome outcome = Kvsim("replay", flags);
  ASSERT_EQ(outcome.code, 0) << outcome.err;

  std::vector<Json> record = ReadLines(folder + "runs/" + name + ".jsonl.zst");
  record.erase(record.begin());  // the settings
  const std::vector<Json> logged = ReadLines(log);
  ASSERT_EQ(logged.size(), record.size());
  for (size_t i = 0; i < record.size(); ++i) {
    for (const auto& [field, value] : record[i].items()) {
      ASSERT_TRUE(logged[i].contains(field)) << "line " << i << " " << field;
      ASSERT_EQ(logged[i][field], value) << "line " << i << " " << field;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfHybrids, RecordedRun,
    ::testing::Values(
        Recorded{"tiny20_full", {"--num-gpu-blocks", "1200"}},
        Recorded{"tiny20_gptoss",
                 {"--num-gpu-blocks", "1200", "--groups", "full;swa:128"}},
        Recorded{"tiny20_gptoss_dense",
                 {"--num-gpu-blocks", "1200", "--groups", "full;swa:128",
                  "--retention-interval", "dense"}},
        // The day before retention was sparse by default.
        Recorded{"tiny20_kda128_dense",
                 {"--num-gpu-blocks", "300", "--block-size", "128", "--groups",
                  "full;mamba*3", "--engine-version", "2026-08-16"}},
        Recorded{"tiny20_kda128_unit32",
                 {"--num-gpu-blocks", "300", "--block-size", "128", "--groups",
                  "full;mamba*3", "--prefix-match-unit", "32"}},
        Recorded{"hyb40_gemma",
                 {"--num-gpu-blocks", "4000", "--groups", "full;swa:1024*5"}},
        Recorded{"hyb40_kda256",
                 {"--num-gpu-blocks", "120", "--block-size", "256", "--groups",
                  "full;mamba*3"}},
        Recorded{"hyb40_kda256_unit64",
                 {"--num-gpu-blocks", "120", "--block-size", "256", "--groups",
                  "full;mamba*3", "--prefix-match-unit", "64"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kvsim
