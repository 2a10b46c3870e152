// Programs that drive VllmEngine and its naive twin side by side.
//
// Model:      a Program is settings and a list of operations; each operation is a
//             plain struct that performs itself on a State and prints itself as
//             C++, so a failing program is pasted back as a test. A State holds
//             the naive engine, two subjects (with and without the memo of refused
//             look-ups), and the batches in flight. After every operation all of
//             their plans, counts, tables, queues and ledgers must be equal.
//             An operation that is not allowed now (nothing in flight, nothing
//             unfinished) does nothing: any list of operations is a program, so
//             shrinking may drop what it likes.
// Tokens:     a prompt is a list of numbers; output p of request r is the number
//             OutputToken(r, p), which a later prompt may repeat.
#ifndef KVSIM_TESTS_ENGINE_PROGRAM_H_
#define KVSIM_TESTS_ENGINE_PROGRAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engines/engine.h"
#include "engines/token_chain.h"
#include "engines/vllm/settings.h"

namespace kvsim {

// `position` counts from the start of the prompt.
inline int64_t OutputToken(RequestId request, int64_t position) {
  return (request + 1) * int64_t{1'000'000} + position;
}

class State;

// Queues a request; an id that was used before does nothing.
struct Add {
  RequestId id = 0;
  std::vector<int64_t> prompt;
  int64_t max_tokens = 1;
  int64_t priority = 0;
  int64_t arrival_ns = 0;

  std::string Perform(State& state) const;
  std::string Code() const;
};
// One more sequence of a request that is in the engine and has nothing in flight;
// the last output so far is its own, and it may give `more` behind it.
struct Fork {
  RequestId parent = 0;
  RequestId child = 0;
  int64_t more = 1;
  int64_t priority = 0;
  int64_t arrival_ns = 0;

  std::string Perform(State& state) const;
  std::string Code() const;
};
// Ends a request that is in the engine.
struct Drop {
  RequestId id = 0;

  std::string Perform(State& state) const;
  std::string Code() const;
};
// Makes a batch, unless as many are in flight as the engine's mode allows.
struct Schedule {
  std::string Perform(State& state) const;
  std::string Code() const { return "Schedule{}"; }
};
// Completes the oldest batch; request i of it accepts (dice + i) mod
// (drafts + 1) drafts.
struct Complete {
  uint32_t dice = 0;

  std::string Perform(State& state) const;
  std::string Code() const;
};
// Drops the head of the waiting queue.
struct AbortHead {
  std::string Perform(State& state) const;
  std::string Code() const { return "AbortHead{}"; }
};
using Operation = std::variant<Add, Fork, Drop, Schedule, Complete, AbortHead>;

struct Program {
  vllm::Settings settings;
  size_t depth = 2;  // batches in flight when asynchronous
  std::vector<Operation> operations;

  // As C++ that builds this program again.
  std::string Code() const;
};

// Makes the engine under test; by default a VllmEngine.
using SubjectFactory =
    std::function<std::unique_ptr<Engine>(const vllm::Settings&)>;
std::unique_ptr<Engine> MakeVllmEngine(const vllm::Settings& settings);

class State {
 public:
  // Performs no operation yet. Only settings and depth are read.
  // REQUIRES: program.settings.Normalized().ok().
  explicit State(const Program& program,
                 const SubjectFactory& make = MakeVllmEngine);

  // Empty when all engines still agree, else the first difference.
  std::string Perform(const Operation& operation);

  bool HasUnfinished() const { return naive_->HasUnfinished(); }
  size_t num_in_flight() const { return in_flight_.size(); }
  size_t depth() const { return depth_; }
  // Tokens of the batch that Complete would take; 0 when none is in flight.
  int64_t OldestTokens() const {
    return in_flight_.empty() ? 0 : in_flight_.front().total_tokens;
  }
  // Of the last Schedule that did something.
  const StepPlan& last_plan() const { return last_plan_; }
  EngineCounts Counts() const { return naive_->Counts(); }
  // Prompt and outputs so far; empty for one that is not in the engine.
  std::vector<int64_t> Tokens(RequestId id) const;
  // Those in the engine, in the order in which they came.
  std::vector<RequestId> Unfinished() const;
  std::vector<RequestId> Running() const;

 private:
  friend struct Add;
  friend struct Fork;
  friend struct Drop;
  friend struct Schedule;
  friend struct Complete;
  friend struct AbortHead;

  struct Known {
    RequestId id = 0;
    int64_t num_prompt = 0;
    int64_t max_tokens = 0;
    std::unique_ptr<TokenChain> keys;
    bool ended = false;
  };

  const Known* Find(RequestId id) const;
  // In the engine; else null.
  const Known* Alive(RequestId id) const;
  bool InFlight(RequestId id) const;
  // Tokens from `prompt` on are the request's own.
  RequestParams Remember(RequestId id, std::vector<int64_t> tokens,
                         int64_t num_prompt, int64_t max_tokens);
  void End(RequestId id);
  std::vector<int32_t> Sampled(const StepPlan& plan, uint32_t dice) const;
  std::string CompareAll() const;
  std::string RequestDifference(const Engine& subject) const;

  const vllm::Settings settings_;
  const size_t depth_;  // most batches in flight
  const int64_t hash_unit_;
  std::unique_ptr<Engine> naive_;
  std::vector<std::unique_ptr<Engine>> subjects_;
  std::vector<Known> known_;
  std::deque<StepPlan> in_flight_;
  StepPlan last_plan_, subject_plan_;
};

// Runs the program from the start; the first difference, with the number of the
// operation, or empty.
std::string RunProgram(const Program& program,
                       const SubjectFactory& make = MakeVllmEngine);

}  // namespace kvsim

#endif  // KVSIM_TESTS_ENGINE_PROGRAM_H_
