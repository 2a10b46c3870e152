#include "tests/startup_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/startup_agreement.h"
#include "tests/startup_figures.h"
#include "tests/startup_predictor.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

StartupCase Recorded(const std::string& text) {
  absl::StatusOr<StartupCase> read = ParseStartupCase(text);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *std::move(read) : StartupCase();
}

// An engine of blocks of 1 GiB with 100 tokens each, for requests of 150.
absl::StatusOr<StartupFigures> FakePredict(const StartupCase& startup,
                                           const StartupPool& pool) {
  if (startup.platform == "abacus") return absl::UnimplementedError("abacus");
  StartupFigures figures;
  figures.units =
      pool.units.value_or(pool.memory.has_value() ? *pool.memory / GiB(1) : 0);
  const auto blocks = static_cast<double>(figures.units);
  figures.values = {{"kv_cache_tokens", blocks * 100},
                    {"max_concurrency", blocks * 100 / 150}};
  figures.refused = figures.units < 2;
  if (figures.refused) {
    figures.values = {{"needed_gib", 2}, {"estimated_max_len", blocks * 100}};
  }
  return figures;
}

constexpr char kStart[] = R"({"engine": "fake", "config": {}, "args": [],
    "outcome": "started", "available_kv_gib": 4.0, "decimals": 1, )";

StartupResult Compare(const std::string& rest) {
  return CompareStartup(Recorded(absl::StrCat(kStart, rest, "}")), FakePredict);
}

// 3.95 to 4.05 GiB hold 3 or 4 blocks.
TEST(StartupAgreement, OneSizeMustGiveEveryFigure) {
  EXPECT_EQ(Compare(R"("expect": {"kv_cache_tokens": 400})").agreement,
            Agreement::kAgrees);
  EXPECT_EQ(Compare(R"("expect": {"kv_cache_tokens": 300,
                                  "max_concurrency": 2.0})")
                .agreement,
            Agreement::kAgrees);
  // Each figure by itself is possible, both together are not.
  const StartupResult mixed = Compare(R"("expect": {"kv_cache_tokens": 300,
                                         "max_concurrency": 2.67})");
  EXPECT_EQ(mixed.agreement, Agreement::kDiffers);
  EXPECT_THAT(mixed.detail, HasSubstr("pools 3 to 4"));
  EXPECT_EQ(Compare(R"("expect": {"kv_cache_tokens": 500})").agreement,
            Agreement::kDiffers);
  EXPECT_EQ(Compare(R"("expect": {"colour": 1})").agreement,
            Agreement::kDiffers);
}

TEST(StartupAgreement, ExactMemoryAllowsOneSize) {
  const std::string exact = R"("available_kv_bytes": 4294967296, "expect": )";
  EXPECT_EQ(Compare(exact + R"({"kv_cache_tokens": 400})").agreement,
            Agreement::kAgrees);
  EXPECT_EQ(Compare(exact + R"({"kv_cache_tokens": 300})").agreement,
            Agreement::kDiffers);
}

// 1.0 GiB within 0.05: no block or one, so 0 or 100 tokens fit.
TEST(StartupAgreement, RefusalsNeedExactBytesAndALengthWithinTheBand) {
  const std::string refusal = R"({"engine": "fake", "config": {}, "args": [],
      "outcome": "refused", "available_kv_gib": 1.0, "decimals": 1,
      "expect": )";
  const auto compare = [&](const std::string& expect) {
    return CompareStartup(Recorded(refusal + expect + "}"), FakePredict)
        .agreement;
  };
  EXPECT_EQ(compare(R"({"needed_gib": 2.0, "estimated_max_len": 50})"),
            Agreement::kAgrees);
  EXPECT_EQ(compare(R"({"needed_gib": 2.1})"), Agreement::kDiffers);
  EXPECT_EQ(compare(R"({"estimated_max_len": 101})"), Agreement::kDiffers);
  EXPECT_EQ(Compare(R"("outcome": "refused", "expect": {})").agreement,
            Agreement::kDiffers);
}

TEST(StartupAgreement, WhatIsNotModelledIsUnsupported) {
  EXPECT_EQ(Compare(R"("platform": "abacus", "expect": {})").agreement,
            Agreement::kUnsupported);
  EXPECT_EQ(CompareStartup(Recorded(absl::StrCat(kStart, R"("expect": {}})")),
                           nullptr)
                .agreement,
            Agreement::kUnsupported);
}

TEST(StartupCase, ErrorsNameTheField) {
  EXPECT_THAT(std::string(ParseStartupCase("[]").status().message()),
              HasSubstr("not a JSON object"));
  EXPECT_THAT(
      std::string(ParseStartupCase(R"({"engine": "x"})").status().message()),
      HasSubstr("config"));
  EXPECT_FALSE(ReadStartupCases("/nowhere").ok());
}

// Starts recorded in public logs, which the project does not ship: the
// environment variable KVSIM_SHARED names the folder of reference data.
class RecordedStarts : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("KVSIM_SHARED");
    if (folder == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
    auto cases = ReadStartupCases(absl::StrCat(folder, "/startup/cases"));
    ASSERT_TRUE(cases.ok()) << cases.status();
    cases_ = *std::move(cases);
  }

  struct Count {
    int agree = 0;
    int total = 0;
  };

  std::vector<StartupCase> cases_;
};

void PrintTable(const std::map<std::pair<std::string, std::string>,
                               std::pair<int, int>>& counts) {
  for (const auto& [key, count] : counts) {
    std::cout << key.first << " | " << key.second << " | " << count.first
              << " of " << count.second << "\n";
  }
}

TEST_F(RecordedStarts, AgreeAsOftenAsBefore) {
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> by_kind;
  std::map<std::string, Count> by_engine;
  for (const StartupCase& startup : cases_) {
    const StartupResult result =
        CompareStartup(startup, FindStartupPredict(startup.engine));
    const bool agrees = result.agreement == Agreement::kAgrees;
    auto& kind = by_kind[{startup.engine, startup.kind}];
    Count& engine = by_engine[startup.engine];
    kind.first += agrees ? 1 : 0;
    engine.agree += agrees ? 1 : 0;
    ++kind.second;
    ++engine.total;
    if (!agrees) std::cout << startup.id << ": " << result.detail << "\n";
  }
  PrintTable(by_kind);
  // Reached when each predictor was written.
  const std::map<std::string, int> reached = {
      {"vllm", 98}, {"sglang", 12}, {"llama.cpp", 20}, {"tensorrt-llm", 2}};
  for (const auto& [engine, agree] : reached) {
    EXPECT_GE(by_engine[engine].agree, agree) << engine;
  }
}

// What a record is called must not matter, and neither must what it printed.
TEST_F(RecordedStarts, PredictionsReadOnlyTheirInputs) {
  for (const StartupCase& startup : cases_) {
    const StartupPredict predict = FindStartupPredict(startup.engine);
    if (predict == nullptr) continue;
    StartupCase blank = startup;
    blank.id = "x";
    blank.kind = "x";
    blank.expect = nlohmann::json::object();
    blank.refused = !startup.refused;
    const StartupPool pool = {startup.memory, std::nullopt};
    const auto named = predict(startup, pool);
    const auto unnamed = predict(blank, pool);
    ASSERT_EQ(named.ok(), unnamed.ok()) << startup.id;
    if (!named.ok()) continue;
    EXPECT_EQ(named->values, unnamed->values) << startup.id;
  }
}

}  // namespace
}  // namespace kvsim
