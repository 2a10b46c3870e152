// What a run does to KV memory: the page operations of an engine's decisions.
//
// Model:      an observer of the simulator that knows nothing of the allocator but
//             what the GPU's workers are told: the batch and the block tables. Of
//             both it makes the operations a step performs, in this order: requests
//             that gave up their blocks are read, then released or swapped out;
//             blocks that left tables are released, those that came assigned; swaps
//             in; copies; and for each scheduled request the context of a prefill
//             chunk is gathered, the new rows are written and the recurrent states
//             advance. They are executed when the batch completes,
//             with the drafts' fate known.
// Stamps:     a row's is the hash of all tokens up to its own, so whoever shares a
//             prefix expects the same; rows and states of rejected drafts get
//             stamps that nobody expects.
// Reads:      a prefill chunk gathers what its group still keeps of the rows before
//             it; so does a request that ends, is preempted or swapped; a decoding
//             request in window and chunk groups each time it has moved by half of
//             one. Rows that leave a window inside the prefill chunk that wrote them,
//             and the last ones of an attention chunk, are read by no operation.
//             Attention of decoding requests reads pages in place and is none.
//             States are read by the step that advances them.
// Costs:      O(tokens + blocks + table entries of scheduled requests) a step; 8 B of
//             memory per token of a request in the engine.
// Ownership:  keeps pointers to the backend; copies what it needs of the trace.
// Errors:     status() is the backend's first error with the step it came in; nothing
//             is executed after it. Not for asynchronous engines with drafts: their
//             batches are placed before the outcome of the one before is known.
// Source:     vLLM, v1/worker/gpu_model_runner.py, mamba_utils.py (states move to
//             the next block when a chunk leaves theirs), 2026-08-17.
#ifndef KVSIM_SIM_PAGE_OP_STREAM_H_
#define KVSIM_SIM_PAGE_OP_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/page_op.h"
#include "kernels/paging_backend.h"
#include "sim/paged_group.h"
#include "sim/step_observer.h"

namespace kvsim {

struct PageOpStreamOptions {
  std::vector<PagedGroup> groups;  // group g is pool g of the backend
  // Tokens per key of arriving prompts; 0: no prefix caching, nothing is hashed.
  int64_t hash_tokens = 0;
};

class PageOpStream final : public StepObserver {
 public:
  // `backend` is kept. REQUIRES: it has a pool for each group.
  PageOpStream(PageOpStreamOptions options, PagingBackend* backend);
  ~PageOpStream() override;

  void OnArrival(const ArrivalRecord& arrival) override;
  void OnSchedule(const StepPlan& plan, const Engine& engine) override;
  void OnStep(const StepRecord& record, const Engine& engine) override;

  absl::Status status() const { return status_; }
  // Rows and states read and compared, ever.
  int64_t rows_verified() const { return rows_verified_; }
  int64_t states_verified() const { return states_verified_; }

 private:
  struct Sequence;
  struct Batch;

  Sequence* Find(RequestId id);

  // --- a step's parts, in order ---------------------------------------------------
  void EndPreempted(const StepPlan& plan, Batch* batch);
  void SwapOut(const SwappedRequest& swap, Batch* batch);
  void UpdateTables(const StepPlan& plan, const Engine& engine, Batch* batch);
  void SwapIn(const SwappedRequest& swap, Batch* batch);
  void Copy(const StepPlan& plan, Batch* batch);
  void Run(const ScheduledRequest& work, Batch* batch);

  void GatherContext(Sequence& sequence, int64_t position, Batch* batch);
  void Gather(Sequence& sequence, size_t group, int64_t begin, int64_t end,
              Batch* batch);
  void WriteRows(Sequence& sequence, size_t group, const ScheduledRequest& work,
                 Batch* batch);
  void WriteEncoder(Sequence& sequence, size_t group, Batch* batch);
  void ReadDecodedWindows(Sequence& sequence, int64_t position, Batch* batch);
  void AdvanceState(Sequence& sequence, size_t group,
                    const ScheduledRequest& work, Batch* batch);

  // --- outcomes -------------------------------------------------------------------
  void Complete(const StepRecord& record, Batch* batch);
  void KeepBoundaryStates(Sequence& sequence, const ScheduledRequest& work,
                          int64_t accepted, Batch* batch);
  // Reads what the sequence still has and gives its blocks back.
  void End(RequestId id, Batch* batch);
  void ReleaseAll(Sequence& sequence, Batch* batch);
  void Fork(const ForkRecord& fork, const Engine& engine, Batch* batch);
  void Execute(const Batch& batch);

  Stamp RowStamp(Sequence& sequence, size_t group, int64_t position);
  Stamp StateStamp(Sequence& sequence, size_t group, int64_t position);

  PageOpStreamOptions options_;
  PagingBackend* backend_;
  std::vector<std::unique_ptr<Sequence>> sequences_;  // by id
  std::deque<Batch> in_flight_;
  int64_t step_ = 0;
  uint64_t named_ = 0;  // sequences that forks began
  int64_t rows_verified_ = 0;
  int64_t states_verified_ = 0;
  absl::Status status_;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_PAGE_OP_STREAM_H_
