// All small worlds: every combination of tiny prompts, outputs, pools, budgets
// and modes, run to the end on VllmEngine and its naive twin, which must agree
// after every operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/engine_program.h"
#include "tests/program_driver.h"
#include "tests/shrink_program.h"

namespace kvsim {
namespace {

// A request of a world: its first tokens are those of one common stream, the
// others are its own.
struct Tiny {
  int64_t shared = 0, own = 0;
  int64_t max_tokens = 1;
};

std::vector<int64_t> PromptOf(const Tiny& tiny, RequestId id) {
  std::vector<int64_t> prompt;
  for (int64_t i = 0; i < tiny.shared; ++i) prompt.push_back(i);
  for (int64_t i = 0; i < tiny.own; ++i) prompt.push_back(100 * (id + 1) + i);
  return prompt;
}

// Something beyond the plain engine.
enum class Twist {
  kNone,
  kPriority,
  kNoReserve,
  kNoChunks,
  kWatermark,
  kThreshold,
  kNgram,
  kEagle,
  kSwap,
};
constexpr int kNumTwists = 9;

void Apply(Twist twist, vllm::Settings* settings) {
  switch (twist) {
    case Twist::kNone:
      break;
    case Twist::kPriority:
      settings->policy = vllm::SchedulingPolicy::kPriority;
      break;
    case Twist::kNoReserve:
      settings->reserve_full_sequence = false;
      break;
    case Twist::kNoChunks:
      settings->enable_chunked_prefill = false;
      break;
    case Twist::kWatermark:
      settings->watermark = 0.26;  // one block of 4 to 6
      break;
    case Twist::kThreshold:
      settings->long_prefill_token_threshold = 1;
      break;
    case Twist::kNgram:
      settings->speculative_method = vllm::SpeculativeMethod::kNgram;
      [[fallthrough]];
    case Twist::kEagle:
      settings->num_speculative_tokens = 1;
      break;
    case Twist::kSwap:
      settings->preemption_mode = vllm::PreemptionMode::kSwap;
      settings->host_blocks = 2;
      break;
  }
}

// When the requests of a world come: all before the first step, or one before
// each step.
enum class Coming { kTogether, kOneByOne };

std::string RunWorld(const vllm::Settings& settings,
                     std::span<const Tiny> requests, Coming coming,
                     int64_t* operations) {
  ProgramDriver driver(settings);
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto id = static_cast<RequestId>(i);
    // Later requests are the more important ones, so that priority matters.
    driver.Do(Add{id, PromptOf(requests[i], id), requests[i].max_tokens,
                  10 - id, id});
    if (coming == Coming::kOneByOne) driver.Step(0);
  }
  const bool ended = driver.Drain(1, 60);
  *operations += static_cast<int64_t>(driver.program().operations.size());
  if (driver.difference().empty()) {
    // The gate reserves the known tokens: no lookahead slots, and of several
    // groups neither copies nor second states.
    const bool can_livelock = !settings.reserve_full_sequence ||
                              settings.LookaheadTokens() > 0 ||
                              !settings.groups.empty();
    return ended || can_livelock ? ""
                                 : "does not end\n" + driver.program().Code();
  }
  const Program small = Shrink(driver.program(), [](const Program& p) {
    return !RunProgram(p).empty();
  });
  return driver.difference() + "\n" + small.Code();
}

// Every `stride`-th world of all combinations of settings and requests.
class Worlds {
 public:
  // One of `count` of something; the product of all is the number of worlds.
  int64_t Choose(int64_t count) {
    const int64_t choice = code_ % count;
    code_ /= count;
    total_ *= count;
    return choice;
  }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Choose(static_cast<int64_t>(choices.size()))];
  }

  // Calls run(worlds) for each code; run draws its choices from `worlds`.
  template <typename RunOne>
  static void ForAll(const char* name, int64_t stride, RunOne run) {
    int64_t operations = 0, worlds = 0, total = 1;
    for (int64_t code = 0; code < total; code += stride, ++worlds) {
      Worlds w;
      w.code_ = code;
      w.total_ = 1;
      ASSERT_EQ(run(&w, &operations), "") << name << ", world " << code;
      total = w.total_;
    }
    std::cout << name << ": " << worlds << " of " << total << " worlds, "
              << operations << " operations\n";
  }

 private:
  int64_t code_ = 0, total_ = 1;
};

// Sanitizers make a run some ten times slower: look at every 31st world there.
constexpr int64_t Stride() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 31;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return 31;
#else
  return 1;
#endif
#else
  return 1;
#endif
}

vllm::Settings ChooseSettings(Worlds* w) {
  vllm::Settings settings;
  settings.max_model_len = 8;
  settings.async_scheduling = w->Choose(2) == 1;
  settings.enable_prefix_caching = w->Choose(2) == 0;
  settings.block_size = 1 + w->Choose(2);
  settings.num_gpu_blocks = 3 + w->Choose(4);
  return settings;
}

// 2·2·2·4 · 3·2·9·2 · (4·2·2)^2 = 884,736 worlds.
TEST(EngineWorldsTest, AgreeOnAllWorldsOfTwoRequestsInEveryMode) {
  Worlds::ForAll("two requests", Stride(), [](Worlds* w, int64_t* operations) {
    vllm::Settings settings = ChooseSettings(w);
    settings.max_num_batched_tokens = w->OneOf<int64_t>({1, 2, 4});
    settings.max_num_seqs = 1 + w->Choose(2);
    Apply(static_cast<Twist>(w->Choose(kNumTwists)), &settings);
    const auto coming = static_cast<Coming>(w->Choose(2));
    Tiny requests[2];
    for (Tiny& tiny : requests) {
      const int64_t length = 1 + w->Choose(4);
      tiny.shared = w->OneOf<int64_t>({0, length});
      tiny.own = length - tiny.shared;
      tiny.max_tokens = w->OneOf<int64_t>({1, 3});
    }
    if (!settings.Validate().ok()) return std::string();
    return RunWorld(settings, requests, coming, operations);
  });
}

// 2·2·2·4 · 2·2·2 · (5·2)^3 = 256,000 worlds.
TEST(EngineWorldsTest, AgreeOnAllWorldsOfThreeRequestsFcfsAndByPriority) {
  Worlds::ForAll(
      "three requests", Stride(), [](Worlds* w, int64_t* operations) {
        vllm::Settings settings = ChooseSettings(w);
        settings.max_num_batched_tokens = w->OneOf<int64_t>({2, 4});
        settings.max_num_seqs = w->OneOf<int64_t>({2, 3});
        Apply(w->OneOf({Twist::kNone, Twist::kPriority}), &settings);
        Tiny requests[3];
        for (Tiny& tiny : requests) {
          tiny = w->OneOf<Tiny>({{0, 2}, {1, 0}, {2, 1}, {4, 0}, {3, 1}});
          tiny.max_tokens = w->OneOf<int64_t>({1, 3});
        }
        return RunWorld(settings, requests, Coming::kTogether, operations);
      });
}

// --- several cache groups -----------------------------------------------------------

using Group = vllm::CacheGroup;
using Kind = vllm::GroupKind;

Group Full(int64_t block) { return {.block_tokens = block}; }
Group Window(int64_t window, int64_t block) {
  return {
      .kind = Kind::kSlidingWindow, .block_tokens = block, .window = window};
}
Group Chunk(int64_t chunk, int64_t block) {
  return {.kind = Kind::kChunkedLocal, .block_tokens = block, .chunk = chunk};
}
Group State(int64_t block, StateMode mode = StateMode::kAlign) {
  return {.kind = Kind::kRecurrent,
          .block_tokens = block,
          .state_mode = mode,
          .geometry = {.state_bytes = 3}};
}

// What a model's layers are grouped into.
struct Model {
  std::vector<Group> groups;
  std::optional<int64_t> match_unit;
};
const Model kModels[] = {
    {{Window(3, 2)}},
    {{Full(2), Window(3, 2)}},
    {{Full(1), Window(2, 2)}},  // blocks of two sizes
    {{Full(2), Chunk(4, 2)}},
    {{Full(2), State(2)}},
    {{State(2), State(2), Full(2)}},      // two states looked up together
    {{Full(4), State(4)}, 2},             // hits inside blocks
    {{Full(2), Window(3, 2), State(2)}},  // rounds until nothing shrinks
    {{Full(2), State(2, StateMode::kAll)}},
    {{Full(2), Full(1)}},
};

vllm::Settings ChooseGroupSettings(Worlds* w) {
  const Model& model = kModels[w->Choose(std::size(kModels))];
  vllm::Settings settings;
  settings.groups = model.groups;
  settings.prefix_match_unit = model.match_unit;
  for (const Group& group : model.groups) {
    if (group.kind == Kind::kRecurrent)
      settings.block_size = group.block_tokens;
  }
  settings.max_model_len = 16;
  settings.async_scheduling = w->Choose(2) == 1;
  if (w->Choose(2) == 1) settings.retention_interval = std::nullopt;
  settings.num_gpu_blocks = w->OneOf<int64_t>({7, 12});
  settings.max_num_batched_tokens = w->OneOf<int64_t>({4, 16});
  switch (w->Choose(3)) {
    case 1:
      settings.num_speculative_tokens = 1;
      break;
    case 2:
      settings.max_num_seqs = 1;
      break;
  }
  return settings;
}

std::string RunGroupWorld(vllm::Settings settings,
                          std::span<const Tiny> requests, Coming coming,
                          int64_t* operations) {
  // No engine starts with drafts beside chunked attention.
  const bool chunked =
      std::any_of(settings.groups.begin(), settings.groups.end(),
                  [](const Group& g) { return g.kind == Kind::kChunkedLocal; });
  if (chunked && settings.num_speculative_tokens > 0) return "";
  settings.reserve_full_sequence = coming == Coming::kTogether;
  return RunWorld(settings, requests, coming, operations);
}

// 10·2·2·2·2·3 · 2 · (7·2)·(7·2)·2 = 376,320 worlds.
TEST(EngineWorldsTest, AgreeOnAllWorldsOfGroups) {
  Worlds::ForAll("groups", Stride(), [](Worlds* w, int64_t* operations) {
    const vllm::Settings settings = ChooseGroupSettings(w);
    const auto coming = static_cast<Coming>(w->Choose(2));
    std::vector<Tiny> requests;
    for (int i = 0; i < 2; ++i) {
      Tiny tiny = w->OneOf<Tiny>(
          {{1, 0}, {3, 0}, {4, 1}, {6, 0}, {6, 2}, {7, 0}, {9, 0}});
      tiny.max_tokens = w->OneOf<int64_t>({1, 4});
      requests.push_back(tiny);
    }
    // The first one's sibling comes last.
    if (w->Choose(2) == 1) requests.push_back({8, 1, 2});
    return RunGroupWorld(settings, requests, coming, operations);
  });
}

}  // namespace
}  // namespace kvsim
