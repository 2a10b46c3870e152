#include "engines/contiguous/contiguous_engine.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace kvsim {

const char* ReservationName(Reservation reservation) {
  switch (reservation) {
    case Reservation::kMaxLength:
      return "max_length";
    case Reservation::kPowerOfTwo:
      return "power_of_two";
    case Reservation::kOracle:
      return "oracle";
  }
  return "?";
}

absl::Status ContiguousSettings::Validate() const {
  const struct {
    const char* field;
    int64_t value, least;
  } fields[] = {{"capacity_tokens", capacity_tokens, 1},
                {"row_bytes", row_bytes, 1},
                {"max_num_seqs", max_num_seqs, 1},
                {"max_num_batched_tokens", max_num_batched_tokens, 1},
                {"max_model_len", max_model_len, 2}};
  for (const auto& [field, value, least] : fields) {
    if (value < least) {
      return absl::InvalidArgumentError(
          absl::StrCat("field `", field, "`: found ", value,
                       "; accepted: ", least, " or more"));
    }
  }
  return absl::OkStatus();
}

ContiguousEngine::ContiguousEngine(const ContiguousSettings& settings)
    : settings_(settings), reserver_(settings.capacity_tokens) {
  const absl::Status status = settings.Validate();
  KVSIM_CHECK(status.ok()) << std::string(status.message());
}

Engine::Admission ContiguousEngine::Add(const RequestParams& request) {
  if (request.num_prompt_tokens >= settings_.max_model_len) {
    return Admission::kTooLong;
  }
  Request added;
  added.id = request.id;
  added.prompt = std::max<int64_t>(1, request.num_prompt_tokens);
  added.max_tokens =
      std::min(request.max_tokens, settings_.max_model_len - added.prompt);
  const auto index = static_cast<size_t>(request.id);
  if (outputs_.size() <= index) outputs_.resize(index + 1, 0);
  waiting_.push_back(added);
  return Admission::kQueued;
}

bool ContiguousEngine::HasUnfinished() const {
  return !waiting_.empty() || !running_.empty();
}

int64_t ContiguousEngine::ReservedTokens(const Request& request) const {
  switch (settings_.reservation) {
    case Reservation::kMaxLength:
      return settings_.max_model_len;
    case Reservation::kPowerOfTwo: {
      const auto outputs = static_cast<uint64_t>(request.max_tokens);
      return std::min(
          settings_.max_model_len,
          request.prompt + static_cast<int64_t>(std::bit_ceil(outputs)));
    }
    case Reservation::kOracle:
      return request.FinalTokens();
  }
  return 0;
}

void ContiguousEngine::Schedule(StepPlan* plan) {
  plan->Clear();
  int64_t budget = settings_.max_num_batched_tokens;
  for (Request& request : running_) {
    if (budget == 0) break;
    budget -= ScheduleTokens(request, budget, plan);
  }
  plan->limit = Admit(budget, plan);
}

int64_t ContiguousEngine::ScheduleTokens(Request& request, int64_t budget,
                                         StepPlan* plan) {
  const int64_t known = request.prompt + request.outputs;
  const int64_t count = std::min(known - request.scheduled, budget);
  if (count == 0) return 0;
  plan->scheduled.push_back({.id = request.id,
                             .first_token = request.scheduled,
                             .num_tokens = static_cast<int32_t>(count),
                             .num_drafts = 0,
                             .num_outputs = request.outputs,
                             .samples = request.scheduled + count == known});
  plan->total_tokens += count;
  request.scheduled += count;
  scheduled_ += count;
  return count;
}

AdmissionLimit ContiguousEngine::Admit(int64_t budget, StepPlan* plan) {
  while (!waiting_.empty()) {
    if (budget == 0) return AdmissionLimit::kTokenBudget;
    if (static_cast<int64_t>(running_.size()) == settings_.max_num_seqs) {
      return AdmissionLimit::kMaxSequences;
    }
    Request& head = waiting_.front();
    head.reserved = ReservedTokens(head);
    const auto begin = reserver_.Reserve(head.reserved);
    if (!begin.has_value()) return AdmissionLimit::kBlocks;
    head.begin = *begin;
    allocations_ += head.reserved;
    never_used_ += head.reserved - head.FinalTokens();
    running_.push_back(head);
    waiting_.pop_front();
    plan->admitted.push_back({running_.back().id, 0});
    budget -= ScheduleTokens(running_.back(), budget, plan);
  }
  return AdmissionLimit::kNoneWaiting;
}

// The batch lists running requests in their order.
void ContiguousEngine::Complete(const StepPlan& plan,
                                std::span<const int32_t> num_sampled,
                                std::vector<RequestId>* finished) {
  size_t at = 0;
  for (size_t i = 0; i < plan.scheduled.size(); ++i) {
    const ScheduledRequest& work = plan.scheduled[i];
    while (running_[at].id != work.id) {
      ++at;
      KVSIM_CHECK(at < running_.size()) << "request " << work.id;
    }
    Request& request = running_[at];
    request.done += work.num_tokens;
    done_ += work.num_tokens;
    request.outputs += num_sampled[i];
    outputs_[static_cast<size_t>(work.id)] = request.outputs;
    if (!request.Finished()) continue;
    Release(request);
    finished->push_back(work.id);
  }
  std::erase_if(running_, [](const Request& r) { return r.Finished(); });
}

void ContiguousEngine::Release(const Request& request) {
  reserver_.Release(request.begin);
  outputs_[static_cast<size_t>(request.id)] = 0;
  scheduled_ -= request.scheduled;
  done_ -= request.done;
  never_used_ -= request.reserved - request.FinalTokens();
}

RequestId ContiguousEngine::WaitingHead() const {
  KVSIM_CHECK(!waiting_.empty());
  return waiting_.front().id;
}

RequestId ContiguousEngine::AbortHead() {
  KVSIM_CHECK(!waiting_.empty());
  const RequestId id = waiting_.front().id;
  waiting_.pop_front();
  return id;
}

EngineCounts ContiguousEngine::Counts() const {
  EngineCounts counts;
  counts.running = static_cast<int64_t>(running_.size());
  counts.waiting = static_cast<int64_t>(waiting_.size());
  counts.free_blocks = reserver_.free();
  counts.allocations = allocations_;
  return counts;
}

LedgerSnapshot ContiguousEngine::Ledger() const {
  LedgerSnapshot ledger;
  const int64_t reserved = reserver_.capacity() - reserver_.free();
  ledger.pool_bytes = reserver_.capacity() * settings_.row_bytes;
  ledger[Account::kFree] = reserver_.free() * settings_.row_bytes;
  ledger[Account::kLive] = done_ * settings_.row_bytes;
  ledger[Account::kInFlight] = (scheduled_ - done_) * settings_.row_bytes;
  ledger[Account::kTailSlack] = (reserved - scheduled_) * settings_.row_bytes;
  return ledger;
}

int64_t ContiguousEngine::NumOutputs(RequestId id) const {
  const auto index = static_cast<size_t>(id);
  return index < outputs_.size() ? outputs_[index] : 0;
}

std::string ContiguousEngine::CheckInvariants() const {
  reserver_.CheckInvariants();
  int64_t reserved = 0, scheduled = 0, done = 0, never_used = 0;
  for (const Request& request : running_) {
    reserved += request.reserved;
    scheduled += request.scheduled;
    done += request.done;
    never_used += request.reserved - request.FinalTokens();
    if (request.scheduled > request.reserved) {
      return absl::StrCat("request ", request.id, " outgrew its range");
    }
  }
  if (reserved != reserver_.capacity() - reserver_.free()) {
    return "reserved tokens differ from the ranges";
  }
  if (scheduled != scheduled_ || done != done_ || never_used != never_used_) {
    return "a running sum differs from its recount";
  }
  return Ledger().Balanced() ? "" : "the ledger does not balance";
}

}  // namespace kvsim
