// vLLM's own recorded decisions, replayed: every step must be equal.
//
// The small records are part of the project; the larger ones are tried when the
// environment variable KVSIM_SHARED names the folder that holds them.
//
// Source: vLLM's v1 Scheduler and KVCacheManager, main of 2026-08-17 (commit
// 017e9f44), model execution left out, driven by the traces beside the records.

#include "tests/engine_run.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/naive_over_keys.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json ReadJson(const fs::path& path) {
  std::ifstream file(path);
  Json settings = Json::parse(file, nullptr, false);
  EXPECT_TRUE(settings.is_object()) << path;
  return settings;
}

// The trace of a run is named by the run's first word.
std::string TraceName(const std::string& run) {
  return run.substr(0, run.find('_')) + ".jsonl";
}

void ExpectEqual(const fs::path& folder, const std::string& run, int64_t steps,
                 const EngineMaker& make = {}) {
  const auto result = CompareRun(
      ReadJson(folder / "settings" / (run + ".json")),
      (folder / "traces" / TraceName(run)).string(),
      (folder / "runs" / (run + ".jsonl.zst")).string(), std::nullopt, make);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->equal) << result->difference;
  EXPECT_EQ(result->steps, steps);
}

struct Run {
  const char* name;
  int64_t steps;  // the record's own summary
};

class BundledRun : public testing::TestWithParam<Run> {};

TEST_P(BundledRun, IsStepExact) {
  ExpectEqual("tests/testdata/oracle", GetParam().name, GetParam().steps);
}

// The engine is tested against its twin on more than was recorded, and the twin
// against what was.
TEST_P(BundledRun, IsStepExactOnTheNaiveTwin) {
  ExpectEqual("tests/testdata/oracle", GetParam().name, GetParam().steps,
              [](const vllm::Settings& settings) {
                return std::make_unique<NaiveOverKeys>(settings);
              });
}

INSTANTIATE_TEST_SUITE_P(
    Engine, BundledRun,
    testing::Values(Run{"tiny20_full", 149}, Run{"tiny20_full_smallpool", 151},
                    Run{"tiny20_async", 157}, Run{"tiny20_eagle3", 95},
                    Run{"tiny20_spec3_async", 99}, Run{"press40_full", 2298},
                    Run{"press40_full_async", 2309},
                    Run{"press40_full_nocache", 3776}, Run{"hyb40_gemma", 961},
                    Run{"hyb40_gptoss", 911}, Run{"hyb40_kda256", 887},
                    Run{"hyb40_kda256_unit64", 892}, Run{"tiny20_gptoss", 149},
                    Run{"tiny20_gptoss_dense", 149}, Run{"tiny20_kda128", 151},
                    Run{"tiny20_kda128_dense", 151},
                    Run{"tiny20_kda128_unit32", 151}),
    [](const auto& info) { return std::string(info.param.name); });

class SharedRun : public testing::TestWithParam<Run> {};

TEST_P(SharedRun, IsStepExact) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  ExpectEqual(fs::path(shared) / "oracle", GetParam().name, GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(
    Engine, SharedRun,
    testing::Values(
        Run{"press300_full_all", 12285}, Run{"press300_full_async", 12336},
        Run{"press300_full_eagle2", 6663}, Run{"press300_full_ngram3", 5887},
        Run{"press300_full_nocache", 18519},
        Run{"press300_full_noreserve", 12400},
        Run{"press300_full_preempt", 12289}, Run{"press300_full_seqs8", 13196},
        Run{"press300_full_watermark", 12368}, Run{"prio200_full", 9084},
        Run{"mix200_full_bs64", 2459}, Run{"mix200_full_chunk256", 3263},
        Run{"mix200_full_evict", 2494}, Run{"mix200_full_longthr", 2656},
        Run{"mix200_full_nochunk", 2447}, Run{"mix2000_full", 23940},
        Run{"hyb300_bs_mixed", 5038}, Run{"hyb300_gemma", 7773},
        Run{"hyb300_gemma_async", 8959}, Run{"hyb300_gemma_ret4096", 7814},
        Run{"hyb300_gptoss", 6874}, Run{"hyb300_gptoss_dense", 7363},
        Run{"hyb300_gptoss_eagle2", 4018}, Run{"hyb300_gptoss_nocache", 8241},
        Run{"hyb300_kda1024_small_budget", 6374}, Run{"hyb300_kda256", 4863},
        Run{"hyb300_kda256_async", 5690}, Run{"hyb300_kda256_dense", 4963},
        Run{"hyb300_kda256_eagle2", 2878}, Run{"hyb300_kda256_ret1024", 4868},
        Run{"hyb300_kda256_unit64", 4953}, Run{"hyb300_kda_nocache", 5411},
        Run{"mix2000_gptoss", 17214}, Run{"mix2000_kda512", 14605},
        Run{"mix200_chunkedlocal", 2435}, Run{"mix200_swa_only", 1193}),
    [](const auto& info) { return std::string(info.param.name); });

// The first 10,000 rows of the Mooncake conversation trace, every 500th step, every
// request and the summary: full attention on 30,000 blocks (150,238 steps), full
// attention and a window on 60,000.
TEST(SharedRun, LargeRunsAreStepExact) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const fs::path folder(shared);
  for (const char* name : {"full_30k", "gptoss_60k"}) {
    const fs::path run = folder / "oracle" / "big" / name;
    const auto result =
        CompareRun(ReadJson(run.string() + ".settings.json"),
                   (folder / "traces/mooncake_conversation.jsonl").string(),
                   run.string() + ".jsonl.zst", 10000);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(result->equal) << result->difference;
    EXPECT_EQ(result->steps, 301);  // 0, 500, …, 150,000
  }
}

// A comparison that cannot fail proves nothing.
TEST(EngineRun, AnotherPoolSizeIsNoticed) {
  const fs::path folder = "tests/testdata/oracle";
  Json settings = ReadJson(folder / "settings/tiny20_full.json");
  settings["num_gpu_blocks"] = 1199;
  const auto result =
      CompareRun(settings, (folder / "traces/tiny20.jsonl").string(),
                 (folder / "runs/tiny20_full.jsonl.zst").string());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->equal);
  // One block fewer is free after the first step: 1133 − 1.
  EXPECT_NE(result->difference.find("recorded value: 1133"), std::string::npos)
      << result->difference;
}

TEST(EngineRun, SettingsThatAreNotSupportedAreNamed) {
  const auto ring = ParseRunSettings(
      Json::parse(R"({"num_gpu_blocks": 9, "groups": [{"type": "ring"}]})"));
  EXPECT_FALSE(ring.ok());
  EXPECT_NE(ring.status().message().find("ring"), std::string::npos);
  // 100 is no multiple of 256 tokens.
  const auto retention = ParseRunSettings(Json::parse(
      R"({"num_gpu_blocks": 9, "block_size": 256, "retention_interval": 100,
          "groups": [{"type": "full"}, {"type": "mamba"}]})"));
  EXPECT_FALSE(retention.ok());
  EXPECT_NE(retention.status().message().find("multiple of 256"),
            std::string::npos);
  const auto text = ParseRunSettings(Json::parse(R"({"num_gpu_blocks": "9"})"));
  EXPECT_NE(text.status().message().find("an integer"), std::string::npos);
}

}  // namespace
}  // namespace kvsim
