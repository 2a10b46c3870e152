#include "engines/vllm/checkpoint_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace kvsim::vllm {
namespace {

using Ends = std::vector<int64_t>;

Ends Until(const CheckpointSpacing& spacing, int64_t last) {
  Ends ends;
  for (int64_t end = spacing.Next(1); end <= last;
       end = spacing.Next(end + 1)) {
    ends.push_back(end);
  }
  return ends;
}

CheckpointPolicy Policy(absl::string_view text) {
  const absl::StatusOr<CheckpointPolicy> policy = ParseCheckpointPolicy(text);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return *policy;
}

TEST(CheckpointPolicy, SpacingsAreRoundedDownToBlocks) {
  EXPECT_EQ(Until(Policy("none").Spacing(16), 1000), Ends());
  EXPECT_EQ(Until(Policy("dense").Spacing(16), 64), (Ends{16, 32, 48, 64}));
  EXPECT_EQ(Until(Policy("every:40").Spacing(16), 160),
            (Ends{32, 80, 112, 160}));  // 40, 80, 120, 160
  EXPECT_EQ(Until(Policy("every:10").Spacing(16), 48), (Ends{16, 32, 48}));
  EXPECT_EQ(Until(Policy("geometric:24").Spacing(16), 400),
            (Ends{16, 48, 96, 192, 384}));  // 24, 48, 96, …
  EXPECT_EQ(Until(Policy("every:100+geometric:64").Spacing(1), 300),
            (Ends{64, 100, 128, 200, 256, 300}));
}

TEST(CheckpointSpacing, NextAndPreviousAgreeWithAllBoundaries) {
  for (int64_t every = 0; every < 12; ++every) {
    for (int64_t geometric = 0; geometric < 9; ++geometric) {
      for (int64_t unit = 1; unit < 7; ++unit) {
        std::set<int64_t> all;
        for (int64_t c = every; c > 0 && c < 400; c += every) {
          all.insert(c / unit * unit);
        }
        for (int64_t c = geometric; c > 0 && c < 400; c *= 2) {
          all.insert(c / unit * unit);
        }
        all.erase(0);
        const CheckpointSpacing spacing{every, geometric, unit};
        for (int64_t at = 0; at < 90; ++at) {
          const auto next = all.lower_bound(std::max<int64_t>(at, 1));
          EXPECT_EQ(spacing.Next(at), next == all.end() ? INT64_MAX : *next)
              << every << " " << geometric << " " << unit << " " << at;
          if (at == 0 || at % unit != 0) continue;
          const auto first = all.lower_bound(at);
          EXPECT_EQ(spacing.Previous(at),
                    first == all.begin() ? 0 : *std::prev(first));
        }
      }
    }
  }
}

// The second article's count: about ceil(T / C) states for T tokens, one at every
// C and one at the end.
TEST(CheckpointPolicy, AMillionTokensEvery4096) {
  const auto count = [](const char* text, int64_t tokens) {
    return Until(Policy(text).Spacing(1), tokens).size();
  };
  EXPECT_EQ(count("every:4096", 1048576), 256u);  // ceil(1048576 / 4096)
  EXPECT_EQ(count("every:4K", 1048576 - 1), 255u);
  EXPECT_EQ(count("geometric:4096", 1048576), 9u);  // 4096 · 2^0 … 2^8
}

TEST(CheckpointPolicy, ReadsWhatItWrites) {
  for (const char* text :
       {"none", "dense", "every:4096", "geometric:512", "prompt-end",
        "branch-points", "prompt-end+branch-points+value:0.5",
        "dense+every:16+geometric:32+prompt-end+branch-points+value:2"}) {
    EXPECT_EQ(Policy(text).InWords(), text);
  }
  EXPECT_EQ(Policy("value").InWords(), "prompt-end+branch-points+value:1");
  EXPECT_EQ(Policy("value:0").InWords(), "prompt-end+branch-points+value:0");
}

TEST(CheckpointPolicy, RefusesTheRest) {
  for (const char* text :
       {"", "all", "every", "every:", "every:0", "every:-4", "every:4k",
        "geometric:x", "value:-1", "value:1001", "value:nan", "prompt-end:3",
        "none+dense", "dense+", "every:99999999999999"}) {
    const auto policy = ParseCheckpointPolicy(text);
    EXPECT_FALSE(policy.ok()) << text;
    EXPECT_NE(policy.status().message().find("accepted: none, or"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace kvsim::vllm
