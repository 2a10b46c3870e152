// The naive twin of VllmEngine under the keys of a trace.
//
// Model:      the twin compares tokens; a trace gives keys of whole units. Every
//             token of a unit is written as the unit's key, so two prefixes of
//             whole units hold equal tokens exactly when their keys are equal; the
//             tokens behind the last whole unit are nobody else's.
#ifndef KVSIM_TESTS_NAIVE_OVER_KEYS_H_
#define KVSIM_TESTS_NAIVE_OVER_KEYS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engines/token_chain.h"
#include "engines/vllm/naive_engine.h"
#include "engines/vllm/naive_rules.h"

namespace kvsim {

class NaiveOverKeys final : public Engine {
 public:
  // REQUIRES: settings.Normalized().ok().
  explicit NaiveOverKeys(const vllm::Settings& settings)
      : unit_(vllm::NaiveRules(*settings.Normalized()).hash_unit),
        naive_(settings) {}

  Admission Add(const RequestParams& params) override {
    return naive_.Add(Told(params));
  }
  Forked Fork(RequestId parent, const RequestParams& child) override {
    return naive_.Fork(parent, Told(child));
  }
  void Drop(RequestId id) override { naive_.Drop(id); }

  bool HasUnfinished() const override { return naive_.HasUnfinished(); }
  void Schedule(StepPlan* plan) override { naive_.Schedule(plan); }
  void Complete(const StepPlan& plan, std::span<const int32_t> num_sampled,
                std::vector<RequestId>* finished) override {
    naive_.Complete(plan, num_sampled, finished);
  }
  RequestId WaitingHead() const override { return naive_.WaitingHead(); }
  RequestId AbortHead() override { return naive_.AbortHead(); }
  EngineCounts Counts() const override { return naive_.Counts(); }
  LedgerSnapshot Ledger() const override { return naive_.Ledger(); }
  int64_t NumOutputs(RequestId id) const override {
    return naive_.NumOutputs(id);
  }
  int NumGroups() const override { return naive_.NumGroups(); }
  std::span<const BlockId> BlockTable(RequestId id, int group) const override {
    return naive_.BlockTable(id, group);
  }
  std::vector<int64_t> CommonPrefixBlocks() const override {
    return naive_.CommonPrefixBlocks();
  }
  AllocatorState Inspect() const override { return naive_.Inspect(); }
  std::string CheckInvariants() const override {
    return naive_.CheckInvariants();
  }

 private:
  RequestParams Told(const RequestParams& params) {
    const int64_t length = params.num_prompt_tokens + params.max_tokens;
    const std::span<const uint64_t> keys = params.keys->Prefix(length / unit_);
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < length; ++i) {
      const auto unit = static_cast<size_t>(i / unit_);
      tokens.push_back(unit < keys.size() ? static_cast<int64_t>(keys[unit])
                                          : -params.id - 1);
    }
    chains_.push_back(std::make_unique<TokenChain>(std::move(tokens), unit_));
    RequestParams plain = params;
    plain.keys = chains_.back().get();
    return plain;
  }

  const int64_t unit_;
  vllm::NaiveEngine naive_;
  std::vector<std::unique_ptr<TokenChain>> chains_;
};

}  // namespace kvsim

#endif  // KVSIM_TESTS_NAIVE_OVER_KEYS_H_
