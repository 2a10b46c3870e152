// The story of every request of traces whose runs were recorded: each adds up, and
// together they are the report.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using Flags = std::vector<std::string>;

Outcome Explain(const std::string& trace, const std::string& request,
                Flags more) {
  more.insert(more.begin(), {"--trace", trace, "--request", request});
  return Kvsim("explain", std::move(more));
}

struct Recorded {
  std::string name, trace;
  Flags flags;
};
void PrintTo(const Recorded& run, std::ostream* out) { *out << run.name; }

class ExplainsARecord : public ::testing::TestWithParam<Recorded> {};

// Waiting has no gap, hits and misses make the prompt, evictions are named, and
// together the stories are the report.
TEST_P(ExplainsARecord, EveryStoryAddsUp) {
  const std::string trace =
      "tests/testdata/oracle/traces/" + GetParam().trace + ".jsonl";
  Flags flags = GetParam().flags;
  flags.push_back("--json");
  int64_t hit_tokens = 0, preemptions = 0, waited_ns = 0;
  for (int id = 0; id < 40; ++id) {
    const Outcome outcome = Explain(trace, std::to_string(id), flags);
    ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
    const Json story = Json::parse(outcome.out);
    ASSERT_EQ(story["end"], "finished") << id;
    bool first = true;
    for (const Json& life : story["residencies"]) {
      int64_t at_ns = first ? story["due_ns"].get<int64_t>()
                            : life["waits"][0]["begin_ns"].get<int64_t>();
      const int64_t begin_ns = at_ns;
      for (const Json& wait : life["waits"]) {
        EXPECT_EQ(wait["begin_ns"], at_ns) << id;
        at_ns = wait["end_ns"];
      }
      EXPECT_EQ(life["admitted_ns"], at_ns) << id;
      const Json& hit = life["hit"];
      int64_t token = hit["hit_tokens"];
      for (const Json& part : hit["missed"]) {
        EXPECT_EQ(part["begin"], token) << id;
        token = part["end"];
        if (part["cause"] == "evicted") {
          ASSERT_FALSE(hit["lost_by_eviction"].empty()) << id;
          EXPECT_TRUE(hit["lost_by_eviction"][0].contains("evicted")) << id;
        }
        if (part["cause"] == "not_kept") {
          EXPECT_FALSE(hit["never_kept"].empty()) << id;
        }
      }
      EXPECT_EQ(token, hit["known_tokens"]) << id;
      if (first) {
        hit_tokens += hit["hit_tokens"].get<int64_t>();
        waited_ns += at_ns - begin_ns;
      }
      preemptions += life.contains("preempted") ? 1 : 0;
      first = false;
    }
  }
  Flags replay = flags;
  replay.insert(replay.begin(), {"--trace", trace});
  const Json report = Json::parse(Kvsim("replay", replay).out);
  EXPECT_EQ(report["hit_tokens"], std::to_string(hit_tokens));
  EXPECT_EQ(report["preemptions"], std::to_string(preemptions));
  EXPECT_EQ(report["waiting"]["mean_ns"], std::to_string(waited_ns / 40));
}

INSTANTIATE_TEST_SUITE_P(
    OfOneAndOfManyGroups, ExplainsARecord,
    ::testing::Values(
        Recorded{"press40_full", "press40", {"--num-gpu-blocks", "500"}},
        Recorded{"press40_full_async",
                 "press40",
                 {"--num-gpu-blocks", "500", "--async-scheduling"}},
        Recorded{"hyb40_gemma",
                 "hyb40",
                 {"--num-gpu-blocks", "4000", "--groups", "full;swa:1024*5"}},
        Recorded{"hyb40_kda256",
                 "hyb40",
                 {"--num-gpu-blocks", "120", "--block-size", "256", "--groups",
                  "full;mamba*3"}}),
    [](const auto& info) { return info.param.name; });

TEST(ExplainedRecordTest, AStateThatWasNotCheckpointed) {
  // Requests 0 and 1 share two hash blocks of 512 tokens. Request 0 has 1,111
  // prompt tokens or more and keeps its state at its own last boundary only.
  const Outcome outcome =
      Explain("tests/testdata/oracle/traces/hyb40.jsonl", "1",
              {"--num-gpu-blocks", "120", "--block-size", "256", "--groups",
               "full;mamba*3"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("not kept: computed before"),
            HasSubstr("groups 1 to 3 (recurrent state) lacked 1 of the 1 key "
                      "that a hit of 1,024 tokens takes"),
            HasSubstr("(--retention-interval 0)"),
            HasSubstr("Alone, group 0 (full attention) had 1,024, groups 1 to "
                      "3 (recurrent state) had 0."),
            HasSubstr("The prefix of 1,024 tokens is kept from now on")));
}

}  // namespace
}  // namespace kvsim
