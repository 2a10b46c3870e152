#include "tools/paging_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string Costs() {
  static const auto& path = *new std::string([] {
    const std::string out = testing::TempDir() + "/costs.json";
    const Outcome outcome =
        Kvsim({"paging", "calibrate", "--out", out, "--memory", "2MiB"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("What paging costs on one core of the host"),
                      HasSubstr("swap_out"),
                      HasSubstr("kvsim replay --cost table:" + out)));
    return out;
  }());
  return path;
}

std::vector<std::string> Replay(std::vector<std::string> more,
                                const std::string& blocks = "900") {
  std::vector<std::string> arguments = {"replay",
                                        "--trace",
                                        "traces/sample/agents.jsonl",
                                        "--limit",
                                        "60",
                                        "--num-gpu-blocks",
                                        blocks,
                                        "--kv-bytes-per-token",
                                        "1024"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(PagingBenchCommand, ShowsACaseALine) {
  const Outcome outcome =
      Kvsim({"paging", "bench", "--memory", "2MiB", "--repeats", "1",
             "--operations", "copy_blocks,write_tokens", "--page-sizes",
             "16KiB", "--layers", "2", "--dtypes", "mla", "--batch", "4,all"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("copy_blocks"), HasSubstr("write_tokens mla"),
                    HasSubstr("of a plain copy"), HasSubstr("16.00 KiB")));
}

TEST(PagingBenchCommand, JsonHasTheFigures) {
  const Outcome outcome =
      Kvsim({"paging", "bench", "--memory", "2MiB", "--repeats", "1",
             "--operations", "gather_sequence", "--page-sizes", "4KiB",
             "--layers", "1", "--batch", "64", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["backend"], "host");
  ASSERT_EQ(json["results"].size(), 1);
  EXPECT_EQ(json["results"][0]["bytes"], 64 * 4096);
  EXPECT_GT(json["results"][0]["plain_copy_ratio"], 0.0);
}

TEST(PagingBenchCommand, ErrorsNameTheFlag) {
  const auto error = [](const char* flag, const char* value) {
    const Outcome outcome = Kvsim({"paging", "bench", flag, value});
    EXPECT_EQ(outcome.code, 1) << flag;
    return outcome.err;
  };
  EXPECT_THAT(error("--backend", "gpu"),
              HasSubstr("--backend 'gpu': accepted: host, cuda"));
  EXPECT_THAT(error("--operations", "copy"),
              HasSubstr("--operations 'copy': accepted, with commas: "
                        "copy_blocks"));
  EXPECT_THAT(error("--page-sizes", "big"), HasSubstr("such as 4KiB,64KiB"));
  EXPECT_THAT(error("--layers", "all"), HasSubstr("--layers 'all'"));
  EXPECT_THAT(error("--memory", "1B"), HasSubstr("accepted: 1MiB or more"));
  EXPECT_THAT(error("--repeats", "0"), HasSubstr("accepted: 1 to 1000"));
}

TEST(PagedReplayCommand, ReportsThePriceOfPaging) {
  const Outcome text = Kvsim(Replay({"--cost", "table:" + Costs()}));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr("Paging, of one rank"), HasSubstr("write_tokens"),
            HasSubstr("of the steps"), HasSubstr("which is not a GPU")));
  const Outcome with = Kvsim(Replay({"--cost", "table:" + Costs(), "--json"}));
  const Outcome without = Kvsim(Replay({"--json"}));
  ASSERT_EQ(with.code, 0) << with.err;
  const Json cost = Json::parse(with.out)["paging_cost"];
  const int64_t paging = std::stoll(cost["time_ns"].get<std::string>());
  EXPECT_GT(paging, 0);
  int64_t lines = 0;
  for (const Json& line : cost["lines"]) {
    if (line.contains("time_ns")) {
      lines += std::stoll(line["time_ns"].get<std::string>());
    }
  }
  EXPECT_EQ(lines, paging);
  // What is paid stands in the steps: 20 ms each without.
  const Json plain = Json::parse(without.out);
  EXPECT_GT(std::stoll(cost["step_ns"].get<std::string>()), paging);
  EXPECT_FALSE(plain.contains("paging_cost"));
}

TEST(PagedReplayCommand, ATableAlsoPricesSwaps) {
  const Outcome outcome = Kvsim(
      Replay({"--preemption-mode", "swap", "--no-scheduler-reserve-full-isl",
              "--cost", "table:" + Costs(), "--json"},
             "2200"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json report = Json::parse(outcome.out);
  int64_t swaps = 0;
  for (const Json& line : report["paging_cost"]["lines"]) {
    const std::string part = line["operation"];
    if (part != "swap_out" && part != "swap_in") continue;
    swaps += std::stoll(line["time_ns"].get<std::string>());
  }
  EXPECT_GT(swaps, 0);
  EXPECT_NEAR(
      swaps, std::stoll(report["preemption"]["transfer_ns"].get<std::string>()),
      2);  // each direction is rounded down
}

TEST(PagedReplayCommand, PerformsEveryOperation) {
  const Outcome text = Kvsim(Replay({"--backend", "host"}));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("Page operations on backend host"),
                    HasSubstr("read back, every byte the right one")));
  const Outcome small =
      Kvsim(Replay({"--backend", "host", "--backend-pool", "2MiB", "--json"}));
  ASSERT_EQ(small.code, 0) << small.err;
  const Json run = Json::parse(small.out)["paging_run"];
  EXPECT_EQ(run["modelled_block_bytes"], "16384");
  // 2 MiB / 900 blocks, in words of 8 B.
  EXPECT_EQ(run["block_bytes"], "2328");
  EXPECT_GT(std::stoll(run["rows_verified"].get<std::string>()), 100'000);
}

// Groups of every kind, forks and swaps.
TEST(PagedReplayCommand, PerformsHybrids) {
  const Outcome outcome =
      Kvsim(Replay({"--groups", "full;swa:1024;mamba", "--preemption-mode",
                    "swap", "--swap-bandwidth", "25GB/s", "--samples", "2",
                    "--backend", "host", "--backend-pool", "64MiB", "--json"},
                   "4000"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json run = Json::parse(outcome.out)["paging_run"];
  EXPECT_GT(std::stoll(run["states_verified"].get<std::string>()), 1000);
}

TEST(PagedReplayCommand, NullOnlyCounts) {
  const Outcome outcome = Kvsim(Replay({"--backend", "null"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("counted, not performed"));
}

TEST(PagedReplayCommand, ErrorsNameTheFlag) {
  const auto error = [](std::vector<std::string> flags) {
    const Outcome outcome = Kvsim(Replay(std::move(flags)));
    EXPECT_NE(outcome.code, 0);
    return outcome.err;
  };
  EXPECT_THAT(error({"--backend", "gpu"}),
              HasSubstr("--backend 'gpu': accepted: null (count), host, cuda"));
  EXPECT_THAT(error({"--backend-pool", "1GiB"}),
              HasSubstr("with --backend host or cuda only"));
  EXPECT_THAT(error({"--backend", "host", "--backend-pool", "1KiB"}),
              HasSubstr("--backend-pool '1KiB': 900 blocks take"));
  EXPECT_THAT(error({"--backend", "host", "--async-scheduling",
                     "--num-speculative-tokens", "2"}),
              HasSubstr("--backend cannot follow --async-scheduling"));
  EXPECT_THAT(error({"--cost", "costs.json"}),
              HasSubstr("--cost 'costs.json': accepted: table:FILE"));
  EXPECT_THAT(error({"--cost", "table:"}),
              HasSubstr("--cost 'table:': accepted: table:FILE"));
  EXPECT_THAT(error({"--cost", "table:/no/such"}),
              HasSubstr("--cost /no/such: cannot be opened"));
  const Outcome rows =
      Kvsim({"replay", "--trace", "traces/sample/agents.jsonl",
             "--num-gpu-blocks", "900", "--cost", "table:" + Costs()});
  EXPECT_EQ(rows.code, 2);
  EXPECT_THAT(rows.err, HasSubstr("--cost prices bytes"));
}

}  // namespace
}  // namespace kvsim
