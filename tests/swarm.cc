#include "tests/swarm.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/program_driver.h"

namespace kvsim {
namespace {

// What one run is made of.
struct Mix {
  int64_t num_requests = 0;
  int64_t num_streams = 0;  // prompts start with one of these streams
  int64_t max_prompt = 0;
  int64_t max_outputs = 0;
  int64_t burst = 0;             // most requests added before one step
  int64_t continue_percent = 0;  // prompts that repeat an earlier answer
  int64_t abort_permille = 0;    // steps that drop the head
  int64_t num_priorities = 0;
  int64_t num_arrivals = 0;  // 1: all at one instant, names break the tie
  int64_t num_forks = 0;
  int64_t fork_percent = 0;  // steps that fork a request
  int64_t drop_percent = 0;  // steps that drop one
};

class Swarm {
 public:
  Swarm(uint64_t seed, bool groups)
      : random_(seed, groups ? "group swarm" : "swarm"),
        forks_(seed, groups ? "group swarm forks" : "swarm forks"),
        groups_(groups) {}

  SwarmRun Run(const SubjectFactory& make) {
    vllm::Settings settings = ChooseSettings();
    if (groups_) ChooseGroups(&settings);
    ChoosePreemption(&settings);
    const Mix mix = ChooseMix(settings);
    ProgramDriver driver(settings, Rarely(3) ? 3 : 2, make);
    SwarmRun run;
    for (RequestId id = 0; id < mix.num_requests;) {
      for (int64_t n = random_.Between(0, mix.burst); n > 0; --n) {
        driver.Do(NewRequest(id++, mix));
      }
      driver.Step(Dice());
      run.visited.Add(driver.state().last_plan());
      ForkOrDrop(mix, &driver);
      if (random_.Between(1, 1000) <= mix.abort_permille)
        driver.Do(AbortHead{});
    }
    for (int step = 0; step < 300 && driver.Busy(); ++step) {
      driver.Step(Dice());
      run.visited.Add(driver.state().last_plan());
      ForkOrDrop(mix, &driver);
    }
    const EngineCounts counts = driver.state().Counts();
    run.visited.evictions = counts.evictions;
    run.visited.forks = counts.forks;
    run.visited.fork_copies = counts.fork_copies;
    run.visited.forks_waited = num_forks_ - counts.forks;
    if (settings.preemption_mode == vllm::PreemptionMode::kSwap) {
      run.visited.host_full = run.visited.preemptions - run.visited.swaps_out;
    }
    run.program = driver.program();
    run.difference = driver.difference();
    return run;
  }

 private:
  bool Flip() { return random_.Below(2) == 0; }
  // True once in n runs.
  bool Rarely(uint64_t n) { return random_.Below(n) == 0; }
  uint32_t Dice() { return static_cast<uint32_t>(random_.Below(100)); }

  vllm::Settings ChooseSettings() {
    vllm::Settings s;
    s.block_size = random_.Between(1, 5);
    s.num_gpu_blocks = Flip() ? random_.Between(3, 12) : random_.Between(8, 60);
    s.max_num_seqs = Flip() ? random_.Between(1, 4) : random_.Between(3, 12);
    s.max_num_batched_tokens = random_.Between(s.max_num_seqs, 40);
    s.max_model_len = random_.Between(8, 80);
    s.enable_prefix_caching = !Rarely(4);
    s.enable_chunked_prefill = !Rarely(4);
    s.async_scheduling = Flip();
    if (Rarely(3)) s.policy = vllm::SchedulingPolicy::kPriority;
    if (Rarely(3)) s.watermark = 0.01 * random_.Between(1, 50);
    if (Rarely(3)) s.long_prefill_token_threshold = random_.Between(1, 9);
    if (Rarely(3)) s.num_speculative_tokens = random_.Between(1, 4);
    if (Flip()) s.speculative_method = vllm::SpeculativeMethod::kNgram;
    s.reserve_full_sequence = !Rarely(4);
    s.free_order = static_cast<FreeOrder>(random_.Below(3));
    if (Flip()) {
      s.geometry.row_bytes = random_.Between(1, 9);
      s.geometry.page_padding = random_.Between(0, 5);
      s.geometry.slot_padding = random_.Between(0, 5);
      s.pool_bytes = s.num_gpu_blocks * s.BlockBytes() + random_.Between(0, 7);
    }
    return s;
  }

  // The plain settings with groups and all that goes with them. A draw that does
  // not fit together is drawn again.
  void ChooseGroups(vllm::Settings* settings) {
    vllm::Settings s;
    do {
      s = *settings;
      const int64_t n = random_.Between(1, 4);
      s.num_gpu_blocks = 1 + s.num_gpu_blocks * random_.Between(1, n);
      const StateMode mode = !s.enable_prefix_caching ? StateMode::kNone
                             : Rarely(4)              ? StateMode::kAll
                                                      : StateMode::kAlign;
      const bool one_size = Flip();
      for (int64_t i = 0; i < n; ++i) {
        s.groups.push_back(i > 0 && Rarely(3) ? s.groups.back()
                                              : NewGroup(s, mode));
      }
      for (vllm::CacheGroup& g : s.groups) {
        const bool state = g.kind == vllm::GroupKind::kRecurrent;
        if (one_size || (state && mode == StateMode::kAlign)) {
          g.block_tokens = s.block_size;
        }
        if (state && mode == StateMode::kNone) g.block_tokens = s.max_model_len;
      }
      s.pool_bytes = 0;
      ChooseKeeping(&s);
    } while (!s.Normalized().ok());
    if (Rarely(4)) {
      s.pool_bytes = s.num_gpu_blocks * s.Normalized()->BlockBytes() +
                     random_.Between(0, 7);
    }
    *settings = s;
  }

  vllm::CacheGroup NewGroup(const vllm::Settings& s, StateMode mode) {
    vllm::CacheGroup g;
    g.kind = static_cast<vllm::GroupKind>(random_.Below(5));
    const bool refused =
        (g.kind == vllm::GroupKind::kCross && s.enable_prefix_caching) ||
        (g.kind == vllm::GroupKind::kChunkedLocal && s.DropsLastHit());
    if (refused || Rarely(4)) g.kind = vllm::GroupKind::kFull;
    g.block_tokens = random_.Between(1, 8);
    g.state_mode = mode;
    if (g.kind == vllm::GroupKind::kSlidingWindow) {
      g.window = random_.Between(2, 20);
      if (s.num_speculative_tokens > 0 && Rarely(3)) {
        g.extra_window = s.num_speculative_tokens - 1;
      }
    }
    if (g.kind == vllm::GroupKind::kChunkedLocal) {
      g.chunk = random_.Between(1, 20);
    }
    if (g.kind == vllm::GroupKind::kCross) {
      g.encoder_tokens = random_.Between(1, 20);
    }
    g.geometry.row_bytes = random_.Between(1, 5);
    g.geometry.page_padding = Flip() ? 0 : random_.Between(1, 5);
    if (g.kind == vllm::GroupKind::kRecurrent) {
      g.geometry.state_bytes = random_.Between(1, 20);
    }
    return g;
  }

  vllm::CheckpointPolicy ChoosePolicy(int64_t lcm) {
    vllm::CheckpointPolicy policy;
    policy.dense = Rarely(8);
    if (Rarely(3)) policy.every = random_.Between(1, 4 * lcm);
    if (Rarely(3)) policy.geometric = random_.Between(1, 2 * lcm);
    policy.prompt_end = Flip();
    policy.branch_points = Flip();
    if (Flip()) policy.value_permille = random_.Between(0, 4000);
    return policy;
  }

  // What is kept for later requests, and what versions differ in.
  void ChooseKeeping(vllm::Settings* s) {
    int64_t lcm = 1, gcd = 0;
    for (const vllm::CacheGroup& g : s->groups) {
      lcm = std::lcm(lcm, g.block_tokens);
      gcd = std::gcd(gcd, g.block_tokens);
    }
    if (Rarely(3)) s->retention_interval = std::nullopt;
    if (Rarely(3)) s->retention_interval = lcm * random_.Between(1, 3);
    if (Flip()) s->prefix_match_unit = random_.Between(1, gcd);
    if (Rarely(4)) s->attention_balance = random_.Between(1, 30);
    if (Rarely(8)) s->max_tokens_in_flight = random_.Between(1, 40);
    if (Rarely(3)) s->checkpoints = ChoosePolicy(lcm);
    bool vllm::Settings::*switches[] = {&vllm::Settings::window_admission_cap,
                                        &vllm::Settings::sparse_keys,
                                        &vllm::Settings::free_on_processed,
                                        &vllm::Settings::partial_hits,
                                        &vllm::Settings::junctions,
                                        &vllm::Settings::realign_chunks,
                                        &vllm::Settings::same_step_state_guard,
                                        &vllm::Settings::frees_every_old_state};
    for (auto field : switches) {
      if (Rarely(6)) s->*field = !(s->*field);
    }
  }

  // Swapping, with too little host memory more often than not. It needs steps
  // that are synchronous.
  void ChoosePreemption(vllm::Settings* s) {
    if (s->async_scheduling || Rarely(3)) return;
    s->preemption_mode = vllm::PreemptionMode::kSwap;
    s->host_blocks = random_.Between(0, Flip() ? 8 : s->num_gpu_blocks);
  }

  Mix ChooseMix(const vllm::Settings& settings) {
    Mix mix;
    mix.num_requests = random_.Between(2, 25);
    mix.num_streams = Rarely(4) ? 0 : random_.Between(1, 3);
    const int64_t pool = settings.num_gpu_blocks * settings.block_size;
    mix.max_prompt = random_.Between(1, std::min<int64_t>(60, pool + 4));
    mix.max_outputs = Flip() ? random_.Between(1, 4) : random_.Between(2, 25);
    mix.burst = random_.Between(1, 6);
    mix.continue_percent = Flip() ? 0 : random_.Between(10, 90);
    mix.abort_permille = Rarely(4) ? random_.Between(10, 200) : 0;
    mix.num_priorities = random_.Between(1, 4);
    mix.num_arrivals = Flip() ? 1 : random_.Between(2, 30);
    if (forks_.Below(2) == 0) {
      mix.num_forks = forks_.Between(1, 20);
      mix.fork_percent = forks_.Between(5, 60);
      mix.drop_percent = forks_.Below(2) == 0 ? 0 : forks_.Between(1, 20);
    }
    return mix;
  }

  // A fork needs that nothing of its parent is in flight.
  void ForkOrDrop(const Mix& mix, ProgramDriver* driver) {
    const State& state = driver->state();
    if (forks_.Between(1, 100) <= mix.fork_percent &&
        num_forks_ < mix.num_forks && !state.Unfinished().empty()) {
      while (state.num_in_flight() > 0 && driver->difference().empty()) {
        driver->Do(Complete{static_cast<uint32_t>(forks_.Below(100))});
      }
      std::vector<RequestId> ids = state.Running();
      if (forks_.Below(4) == 0 || ids.empty()) ids = state.Unfinished();
      for (int64_t n = forks_.Between(1, 3); n > 0 && !ids.empty(); --n) {
        const RequestId parent = ids[forks_.Below(ids.size())];
        const auto child = static_cast<RequestId>(kFirstFork + num_forks_++);
        driver->Do(Fork{parent, child, forks_.Between(1, mix.max_outputs),
                        forks_.Between(1, mix.num_priorities),
                        forks_.Between(1, mix.num_arrivals)});
        answers_.push_back(state.Tokens(parent));
      }
    }
    const std::vector<RequestId> ids = state.Unfinished();
    if (forks_.Between(1, 100) <= mix.drop_percent && !ids.empty()) {
      driver->Do(Drop{ids[forks_.Below(ids.size())]});
    }
  }

  Add NewRequest(RequestId id, const Mix& mix) {
    Add add;
    add.id = id;
    add.max_tokens = random_.Between(1, mix.max_outputs);
    add.priority = random_.Between(1, mix.num_priorities);
    add.arrival_ns = random_.Between(1, mix.num_arrivals);
    if (!answers_.empty() && random_.Between(1, 100) <= mix.continue_percent) {
      add.prompt = answers_[random_.Below(answers_.size())];
    } else if (mix.num_streams > 0) {
      const int64_t stream = random_.Between(1, mix.num_streams);
      for (int64_t i = random_.Between(0, mix.max_prompt); i > 0; --i) {
        add.prompt.push_back(1000 * stream +
                             static_cast<int64_t>(add.prompt.size()));
      }
    }
    const auto shared = static_cast<int64_t>(add.prompt.size());
    const int64_t length =
        std::max({int64_t{1}, shared, random_.Between(1, mix.max_prompt)});
    while (static_cast<int64_t>(add.prompt.size()) < length) {
      add.prompt.push_back(-1000 * id -
                           static_cast<int64_t>(add.prompt.size()) - 1);
    }
    Remember(add);
    return add;
  }

  // What a next turn may begin with: the prompt and some of its outputs.
  void Remember(const Add& add) {
    std::vector<int64_t> answer = add.prompt;
    for (int64_t i = random_.Between(0, add.max_tokens); i > 0; --i) {
      answer.push_back(
          OutputToken(add.id, static_cast<int64_t>(answer.size())));
    }
    answers_.push_back(std::move(answer));
  }

  RandomStream random_;
  // A stream of its own: a seed without forks is the program it was.
  RandomStream forks_;
  const bool groups_;
  static constexpr int64_t kFirstFork = 1000;  // names of forks

  std::vector<std::vector<int64_t>> answers_;
  int64_t num_forks_ = 0;
};

}  // namespace

void Visited::Add(const StepPlan& plan) {
  ++limits[static_cast<size_t>(plan.limit)];
  preemptions += static_cast<int64_t>(plan.preempted.size());
  for (const AdmittedRequest& a : plan.resumed) {
    if (a.hit_tokens > 0) ++resumed_with_hit;
  }
  for (const AdmittedRequest& a : plan.admitted) {
    if (a.hit_tokens > 0) ++admitted_with_hit;
  }
  for (const ScheduledRequest& work : plan.scheduled) {
    drafts += work.num_drafts;
  }
  copies += static_cast<int64_t>(plan.copies.size());
  swaps_out += static_cast<int64_t>(plan.swapped_out.size());
  swaps_in += static_cast<int64_t>(plan.swapped_in.size());
}

SwarmRun RunSwarm(uint64_t seed, const SubjectFactory& make) {
  return Swarm(seed, false).Run(make);
}

SwarmRun RunGroupSwarm(uint64_t seed, const SubjectFactory& make) {
  return Swarm(seed, true).Run(make);
}

}  // namespace kvsim
