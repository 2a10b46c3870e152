#include "tests/shrink_program.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kvsim {
namespace {

using Fails = std::function<bool(const Program&)>;

// Keeps `candidate` if it fails too.
bool Try(Program candidate, Program* program, const Fails& fails) {
  if (!candidate.settings.Normalized().ok() || !fails(candidate)) return false;
  *program = std::move(candidate);
  return true;
}

// All operations of one kind at once: what they undo between them goes with them.
template <typename Kind>
bool DropKind(Program* program, const Fails& fails) {
  Program shorter = *program;
  std::erase_if(shorter.operations, [](const Operation& operation) {
    return std::holds_alternative<Kind>(operation);
  });
  return shorter.operations.size() < program->operations.size() &&
         Try(std::move(shorter), program, fails);
}

bool DropOperations(Program* program, const Fails& fails) {
  bool progress = false;
  for (size_t run = std::max<size_t>(1, program->operations.size() / 2);
       run > 0; run /= 2) {
    for (size_t at = 0; at < program->operations.size();) {
      Program shorter = *program;
      const auto begin =
          shorter.operations.begin() + static_cast<std::ptrdiff_t>(at);
      const size_t n = std::min(run, shorter.operations.size() - at);
      shorter.operations.erase(begin, begin + static_cast<std::ptrdiff_t>(n));
      if (Try(std::move(shorter), program, fails)) {
        progress = true;
      } else {
        at += run;
      }
    }
  }
  return progress;
}

// Smaller requests, the boldest change first.
std::vector<Add> Smaller(const Add& add) {
  std::vector<Add> smaller;
  const auto vary = [&](auto change) {
    Add copy = add;
    change(&copy);
    if (copy.Code() != add.Code()) smaller.push_back(copy);
  };
  const size_t n = add.prompt.size();
  vary([](Add* a) { a->prompt.resize(1); });
  vary([n](Add* a) { a->prompt.resize((n + 1) / 2); });
  vary([n](Add* a) { a->prompt.resize(std::max<size_t>(1, n - 1)); });
  vary([](Add* a) { a->max_tokens = 1; });
  vary([](Add* a) { a->max_tokens = (a->max_tokens + 1) / 2; });
  vary([](Add* a) { a->max_tokens = std::max<int64_t>(1, a->max_tokens - 1); });
  vary([](Add* a) { a->priority = 0; });
  vary([](Add* a) { a->arrival_ns = 0; });
  return smaller;
}

// Siblings keep what they share when all prompts are cut at one length.
bool CutAllPrompts(Program* program, const Fails& fails) {
  size_t longest = 0;
  for (const Operation& operation : program->operations) {
    const Add* add = std::get_if<Add>(&operation);
    if (add != nullptr) longest = std::max(longest, add->prompt.size());
  }
  for (const size_t length :
       {longest / 2, longest - longest / 4, longest - 1}) {
    if (length == 0 || length >= longest) continue;
    Program shorter = *program;
    for (Operation& operation : shorter.operations) {
      Add* add = std::get_if<Add>(&operation);
      if (add != nullptr && add->prompt.size() > length) {
        add->prompt.resize(length);
      }
    }
    if (Try(std::move(shorter), program, fails)) return true;
  }
  return false;
}

bool SimplifyOperations(Program* program, const Fails& fails) {
  bool progress = false;
  for (size_t i = 0; i < program->operations.size(); ++i) {
    std::vector<Operation> simpler;
    if (const Add* add = std::get_if<Add>(&program->operations[i])) {
      for (Add& smaller : Smaller(*add)) simpler.push_back(std::move(smaller));
    }
    if (const Fork* fork = std::get_if<Fork>(&program->operations[i])) {
      if (fork->more > 1) {
        simpler.push_back(Fork{fork->parent, fork->child, 1, fork->priority,
                               fork->arrival_ns});
      }
      if (fork->priority != 0 || fork->arrival_ns != 0) {
        simpler.push_back(Fork{fork->parent, fork->child, fork->more, 0, 0});
      }
    }
    const auto* complete = std::get_if<Complete>(&program->operations[i]);
    if (complete != nullptr && complete->dice > 0) simpler = {Complete{0}};
    for (Operation& operation : simpler) {
      Program candidate = *program;
      candidate.operations[i] = std::move(operation);
      if (!Try(std::move(candidate), program, fails)) continue;
      progress = true;
      break;
    }
  }
  return progress;
}

// Simpler groups in place of one: none, full attention, smaller reaches.
std::vector<Program> SimplerGroups(const Program& program, size_t at) {
  std::vector<Program> simpler;
  const auto vary = [&](auto change) {
    Program copy = program;
    change(&copy.settings.groups, &copy.settings.groups[at]);
    if (copy.Code() != program.Code()) simpler.push_back(std::move(copy));
  };
  using Groups = std::vector<vllm::CacheGroup>;
  using Group = vllm::CacheGroup;
  vary([at](Groups* all, Group*) {
    if (all->size() > 1) all->erase(all->begin() + static_cast<long>(at));
  });
  vary([](Groups*, Group* g) {
    *g = {.block_tokens = g->block_tokens, .geometry = g->geometry};
  });
  vary([](Groups*, Group* g) { g->geometry = {}; });
  for (auto field : {&Group::block_tokens, &Group::window, &Group::chunk,
                     &Group::encoder_tokens}) {
    for (const bool halve : {true, false}) {
      vary([field, halve](Groups*, Group* g) {
        if (g->*field > 1) g->*field = halve ? g->*field / 2 : g->*field - 1;
      });
    }
  }
  vary([](Groups*, Group* g) { g->extra_window = 0; });
  return simpler;
}

bool SimplifyGroups(Program* program, const Fails& fails) {
  bool progress = false;
  for (size_t at = 0; at < program->settings.groups.size(); ++at) {
    for (Program& simpler : SimplerGroups(*program, at)) {
      // With recurrent groups --block-size is theirs.
      for (const vllm::CacheGroup& group : simpler.settings.groups) {
        if (group.kind == vllm::GroupKind::kRecurrent &&
            group.state_mode == StateMode::kAlign) {
          simpler.settings.block_size = group.block_tokens;
        }
      }
      if (!Try(std::move(simpler), program, fails)) continue;
      progress = true;
      break;
    }
  }
  return progress;
}

bool SimplifySettings(Program* program, const Fails& fails) {
  bool progress = false;
  const vllm::Settings plain;
  const auto reset = [&](auto field) {
    Program candidate = *program;
    if (candidate.settings.*field == plain.*field) return;
    candidate.settings.*field = plain.*field;
    progress |= Try(std::move(candidate), program, fails);
  };
  reset(&vllm::Settings::num_speculative_tokens);
  reset(&vllm::Settings::speculative_method);
  reset(&vllm::Settings::async_scheduling);
  reset(&vllm::Settings::policy);
  reset(&vllm::Settings::watermark);
  reset(&vllm::Settings::long_prefill_token_threshold);
  reset(&vllm::Settings::enable_chunked_prefill);
  reset(&vllm::Settings::enable_prefix_caching);
  reset(&vllm::Settings::reserve_full_sequence);
  reset(&vllm::Settings::max_num_seqs);
  reset(&vllm::Settings::max_model_len);
  reset(&vllm::Settings::free_order);
  reset(&vllm::Settings::retention_interval);
  reset(&vllm::Settings::prefix_match_unit);
  reset(&vllm::Settings::window_admission_cap);
  reset(&vllm::Settings::sparse_keys);
  reset(&vllm::Settings::free_on_processed);
  reset(&vllm::Settings::partial_hits);
  reset(&vllm::Settings::max_tokens_in_flight);
  reset(&vllm::Settings::checkpoints);
  reset(&vllm::Settings::attention_balance);
  reset(&vllm::Settings::junctions);
  reset(&vllm::Settings::same_step_state_guard);
  reset(&vllm::Settings::realign_chunks);
  reset(&vllm::Settings::frees_every_old_state);
  reset(&vllm::Settings::pool_bytes);
  reset(&vllm::Settings::preemption_mode);
  reset(&vllm::Settings::host_blocks);
  if (program->depth != 2) {
    Program candidate = *program;
    candidate.depth = 2;
    progress |= Try(std::move(candidate), program, fails);
  }
  Program even = *program;
  even.settings.geometry = {};
  if (even.Code() != program->Code()) {
    progress |= Try(std::move(even), program, fails);
  }
  for (auto field :
       {&vllm::Settings::num_gpu_blocks, &vllm::Settings::block_size,
        &vllm::Settings::max_num_batched_tokens}) {
    for (const bool halve : {true, false}) {
      Program candidate = *program;
      int64_t& value = candidate.settings.*field;
      value = halve ? value / 2 : value - 1;
      progress |= Try(std::move(candidate), program, fails);
    }
  }
  return progress;
}

}  // namespace

Program Shrink(Program program, const Fails& fails) {
  bool progress = true;
  while (progress) {
    progress = DropKind<Fork>(&program, fails);
    progress |= DropKind<Drop>(&program, fails);
    progress |= DropKind<AbortHead>(&program, fails);
    progress |= DropOperations(&program, fails);
    progress |= CutAllPrompts(&program, fails);
    progress |= SimplifyOperations(&program, fails);
    progress |= SimplifySettings(&program, fails);
    progress |= SimplifyGroups(&program, fails);
  }
  return program;
}

}  // namespace kvsim
