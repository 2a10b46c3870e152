#include "traces/preset_trace.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "traces/preset_check.h"
#include "traces/shipped_presets.h"
#include "traces/synthetic_trace.h"
#include "traces/test_traces.h"
#include "traces/trace_fitter.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSeeds[] = {1, 2, 3, 4, 5};

std::string Print(const TraceFigures& figures) {
  return absl::StrCat(figures.input_mean, " ", figures.input_p50, " ",
                      figures.input_p99, " ", figures.output_mean, " ",
                      figures.ceiling);
}

// Fits the rows and holds five seeds against them.
void ExpectFits(const std::vector<TraceRequest>& rows) {
  TraceFitter fitter;
  FigureCounter counter;
  for (const TraceRequest& row : rows) {
    fitter.Add(row);
    counter.Add(row);
  }
  const auto preset = fitter.Fit("a test");
  ASSERT_TRUE(preset.ok()) << preset.status();
  for (const uint64_t seed : kSeeds) {
    const TraceFigures made = FiguresOfPreset(*preset, seed);
    EXPECT_TRUE(made.IsCloseTo(counter.Figures()))
        << "seed " << seed << ": " << Print(made) << " for "
        << Print(counter.Figures());
  }
}

std::vector<TraceRequest> Synthetic(SyntheticOptions options) {
  SyntheticTrace trace(options);
  std::vector<TraceRequest> rows;
  TraceRequest row;
  while (trace.Next(&row)) rows.push_back(row);
  return rows;
}

// Much sharing, little, none; few rows and many; long tails.
TEST(TraceFitterTest, FiveSeedsLookLikeTheSource) {
  ExpectFits(Synthetic({.sessions = 200}));
  ExpectFits(Synthetic({.sessions = 50, .system_tokens = 20'000, .turns = 3}));
  ExpectFits(Synthetic({.sessions = 2000, .turns = 1, .turn_tokens = 4000}));
  ExpectFits(Synthetic({.sessions = 300, .turns = 20, .hash_block = 16}));
  std::vector<TraceRequest> rows = Synthetic({.sessions = 100});
  for (TraceRequest& row : rows) {
    row.hash_ids.clear();
    row.hash_block = 0;
  }
  ExpectFits(rows);
}

TEST(TraceFitterTest, SaysWhatItCannotFit) {
  TraceFitter fitter;
  EXPECT_THAT(std::string(fitter.Fit("x").status().message()),
              HasSubstr("no requests"));
  std::vector<TraceRequest> rows = Synthetic({.sessions = 2});
  rows[1].hash_block = 16;
  rows[1].hash_ids.clear();
  rows[1].input_length = 1;
  for (const TraceRequest& row : rows) fitter.Add(row);
  EXPECT_THAT(std::string(fitter.Fit("x").status().message()),
              HasSubstr("several block sizes"));
}

TEST(PresetTraceTest, EqualSeedsGiveEqualRowsAndOthersDoNot) {
  const auto preset = LoadTracePreset("mooncake-conversation");
  ASSERT_TRUE(preset.ok()) << preset.status();
  const auto rows = [&preset](uint64_t seed) {
    PresetTrace trace(*preset, seed, 500);
    std::vector<TraceRequest> all;
    TraceRequest row;
    while (trace.Next(&row)) all.push_back(row);
    return all;
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
  int64_t last_ns = 0;
  std::set<uint64_t> tails;
  for (const TraceRequest& row : rows(1)) {
    EXPECT_GE(row.arrival_ns, last_ns);
    last_ns = row.arrival_ns;
    EXPECT_EQ(static_cast<int64_t>(row.hash_ids.size()),
              (row.input_length - 1) / 512 + 1);
    if (row.last_id_is_partial()) {
      EXPECT_TRUE(tails.insert(row.hash_ids.back()).second);
    }
  }
}

// The published figures of the trace that it was fitted to. 36.64 % of its
// 288,500 block references hit, 105,710; 118 of them are partial blocks, so
// that 105,592 whole blocks of 512 tokens remain: 37.34 % of the tokens.
TEST(PresetTraceTest, TheShippedPresetLooksLikeMooncakesConversations) {
  const auto preset = LoadTracePreset("mooncake-conversation");
  ASSERT_TRUE(preset.ok()) << preset.status();
  TraceFigures published;
  published.input_mean = 144'793'823.0 / 12'031;
  published.input_p50 = 6'909;
  published.input_p99 = 85'399;
  published.output_mean = 4'122'048.0 / 12'031;
  published.ceiling = 105'592.0 * 512 / 144'793'823;
  for (const uint64_t seed : kSeeds) {
    const TraceFigures made = FiguresOfPreset(*preset, seed);
    EXPECT_EQ(made.rows, 12'031);
    EXPECT_TRUE(made.IsCloseTo(published)) << seed << ": " << Print(made);
  }
}

TEST(PublicTraceTest, PublicTracesFit) {
  for (const char* name :
       {"mooncake_conversation.jsonl", "mooncake_synthetic.jsonl",
        "azure_2023_conv.csv", "weka_0177.json", "weka_0010.json"}) {
    const std::string path = PublicTrace(name);
    if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
    const ReadResult result = ReadTrace(path);
    ASSERT_THAT(result.errors, IsEmpty());
    SCOPED_TRACE(name);
    if (result.rows.size() > 30) ExpectFits(result.rows);
  }
}

// The shipped preset is what the fit gives today.
TEST(PublicTraceTest, TheShippedPresetIsTheFit) {
  const std::string path = PublicTrace("mooncake_conversation.jsonl");
  if (path.empty()) GTEST_SKIP() << "KVSIM_SHARED is not set";
  TraceFitter fitter;
  for (const TraceRequest& row : ReadTrace(path).rows) fitter.Add(row);
  const auto shipped = LoadTracePreset("mooncake-conversation");
  ASSERT_TRUE(shipped.ok()) << shipped.status();
  EXPECT_EQ(TracePresetToJson(*fitter.Fit(shipped->source)),
            TracePresetToJson(*shipped));
}

TEST(TracePresetTest, TheFileReadsBack) {
  const auto preset = LoadTracePreset("mooncake-conversation");
  ASSERT_TRUE(preset.ok()) << preset.status();
  const std::string json = TracePresetToJson(*preset);
  const auto again = LoadTracePreset(WriteTestFile("preset.json", json));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(TracePresetToJson(*again), json);
}

TEST(TracePresetTest, DamageIsNamed) {
  const std::string json =
      TracePresetToJson(*LoadTracePreset("mooncake-conversation"));
  const auto error = [](const std::string& text) {
    const auto preset = ParseTracePreset(text, "p.json");
    return preset.ok() ? "fine" : std::string(preset.status().message());
  };
  const auto replaced = [&json](const std::string& from,
                                const std::string& to) {
    std::string text = json;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(error(""), HasSubstr("p.json: "));
  EXPECT_THAT(error("[]"), HasSubstr("one JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("field `rows`: found no value"));
  EXPECT_THAT(error(replaced("\"rows\": 12031", "\"rows\": 0")),
              AllOf(HasSubstr("`rows`: found '0'"), HasSubstr("1 to ")));
  EXPECT_THAT(error(replaced("\"ages\": [", "\"ages\": [9999999,")),
              HasSubstr("field `ages`: found 298 numbers"));
  EXPECT_THAT(error(replaced("\"hit_tokens\": ", "\"hit_tokens\": 99")),
              HasSubstr("at most input_tokens"));
  EXPECT_FALSE(LoadTracePreset("/no/such/preset").ok());
}

TEST(PresetTraceTest, SaysHowManyRowsItCanMake) {
  const auto preset = LoadTracePreset("mooncake-conversation");
  EXPECT_TRUE(CheckPresetRows(*preset, 1).ok());
  EXPECT_FALSE(CheckPresetRows(*preset, 0).ok());
  EXPECT_FALSE(CheckPresetRows(*preset, 50'000'001).ok());
  // 23 blocks a row on average: 2^30 blocks are some 46 million rows.
  EXPECT_FALSE(CheckPresetRows(*preset, 50'000'000).ok());
  PresetTrace one(*preset, 1, 1);
  TraceRequest row;
  EXPECT_TRUE(one.Next(&row));
  EXPECT_FALSE(one.Next(&row));
}

}  // namespace
}  // namespace kvsim
