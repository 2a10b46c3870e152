// The engine that paging replaced: one contiguous range per running request.
//
// Model:      iteration-level scheduling as in a paged engine (running requests
//             first, then the queue in arrival order, under a token budget and
//             a sequence limit, prompts in chunks), but a request is admitted
//             only when a range for all its tokens is free, and keeps it until
//             it ends. No prefix is shared, nobody is preempted. How long a
//             range must be is the Reservation:
//             kMaxLength   the longest request the engine accepts
//             kPowerOfTwo  the prompt and its outputs rounded up to a power of 2
//             kOracle      the prompt and exactly its outputs, known beforehand
//             The last two look at RequestParams::max_tokens as an oracle would.
// Ledger:     live, in flight and tail slack (reserved, not written) of held
//             ranges; the holes are free. One row of row_bytes per token.
// Costs:      O(scheduled) per step, O(holes) per admission.
// Source:     Orca (Max), (Pow2), (Oracle) in Kwon et al., "Efficient Memory
//             Management for LLM Serving with PagedAttention", 2023, 6.1.
#ifndef KVSIM_ENGINES_CONTIGUOUS_CONTIGUOUS_ENGINE_H_
#define KVSIM_ENGINES_CONTIGUOUS_CONTIGUOUS_ENGINE_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "allocator/contiguous_reserver.h"
#include "engines/engine.h"

namespace kvsim {

enum class Reservation : uint8_t { kMaxLength, kPowerOfTwo, kOracle };
inline constexpr Reservation kReservations[] = {
    Reservation::kMaxLength, Reservation::kPowerOfTwo, Reservation::kOracle};

// "max_length", "power_of_two", "oracle".
const char* ReservationName(Reservation reservation);

struct ContiguousSettings {
  Reservation reservation = Reservation::kMaxLength;
  int64_t capacity_tokens = 0;
  int64_t row_bytes = 1;
  int64_t max_num_seqs = 128;
  int64_t max_num_batched_tokens = 2048;
  int64_t max_model_len = 131072;

  // InvalidArgument names the field, its value and what is accepted.
  absl::Status Validate() const;
};

class ContiguousEngine final : public Engine {
 public:
  // REQUIRES: settings.Validate().ok().
  explicit ContiguousEngine(const ContiguousSettings& settings);

  Admission Add(const RequestParams& request) override;
  bool HasUnfinished() const override;
  void Schedule(StepPlan* plan) override;
  void Complete(const StepPlan& plan, std::span<const int32_t> num_sampled,
                std::vector<RequestId>* finished) override;
  RequestId WaitingHead() const override;
  RequestId AbortHead() override;

  // Blocks are tokens here.
  EngineCounts Counts() const override;
  LedgerSnapshot Ledger() const override;
  int64_t NumOutputs(RequestId id) const override;

  // Reserved tokens that no request will ever write: internal fragmentation.
  int64_t NeverUsed() const { return never_used_; }
  const ContiguousReserver& reserver() const { return reserver_; }

  // A range has no blocks: tables are empty.
  int NumGroups() const override { return 1; }
  std::span<const BlockId> BlockTable(RequestId, int) const override {
    return {};
  }
  std::vector<int64_t> CommonPrefixBlocks() const override { return {0}; }
  AllocatorState Inspect() const override { return {}; }
  std::string CheckInvariants() const override;

 private:
  struct Request {
    RequestId id = 0;
    int64_t prompt = 0;
    int64_t max_tokens = 1;
    int64_t outputs = 0;
    int64_t scheduled = 0;  // leading tokens in batches so far
    int64_t done = 0;       // leading tokens computed
    int64_t begin = 0;
    int64_t reserved = 0;

    int64_t FinalTokens() const { return prompt + max_tokens; }
    bool Finished() const { return outputs >= max_tokens; }
  };

  int64_t ReservedTokens(const Request& request) const;
  // Puts up to `budget` tokens into the plan; returns how many.
  int64_t ScheduleTokens(Request& request, int64_t budget, StepPlan* plan);
  AdmissionLimit Admit(int64_t budget, StepPlan* plan);
  void Release(const Request& request);

  const ContiguousSettings settings_;
  ContiguousReserver reserver_;
  std::deque<Request> waiting_;
  std::vector<Request> running_;  // in order of admission
  std::vector<int64_t> outputs_;  // by request id; 0 unless running
  // Sums over running requests, in tokens.
  int64_t scheduled_ = 0;
  int64_t done_ = 0;
  int64_t never_used_ = 0;
  int64_t allocations_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CONTIGUOUS_CONTIGUOUS_ENGINE_H_
