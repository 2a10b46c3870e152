// How one copy of a model is spread over GPUs.
//
// Model: `tensor` ranks split the heads of every layer; `pipeline` stages split
//        the layers; `decode_context` ranks (a subset of the tensor ranks)
//        split the tokens of each sequence's cache; `prefill_context` ranks
//        split only the prefill and shard no cache; `data_attention` copies of
//        the attention each keep a pool of their own.
// Three numbers, never mixed: a *cluster total*, a *rank's share*, and one
//        sequence's *logical cache* (no sharding, no replicas).

#ifndef KVSIM_ENGINES_PARALLEL_PLAN_H_
#define KVSIM_ENGINES_PARALLEL_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

struct ParallelPlan {
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t decode_context = 1;
  int64_t prefill_context = 1;
  int64_t data_attention = 1;

  // GPUs of the whole deployment. Decode-context ranks are tensor ranks.
  int64_t NumGpus() const {
    return tensor * pipeline * prefill_context * data_attention;
  }
  // "TP8 DCP8 PP2": sizes of 1 are left out; "TP1" for a single GPU.
  std::string ToString() const;
};

// Sizes are at least 1 and at most 65,536, and decode_context divides tensor.
// Errors: InvalidArgument naming flag and value.
absl::Status ValidateSizes(const ParallelPlan& plan);

// Heads on one tensor rank.
struct HeadShare {
  int64_t heads = 1;   // on each rank
  int64_t copies = 1;  // ranks that hold the same head; 1: no replication
};

// KV heads over `tensor` ranks: an equal share, or one replicated head each
// when there are fewer heads than ranks.
// Errors: InvalidArgument with both numbers when neither divides the other.
absl::StatusOr<HeadShare> ShardKvHeads(int64_t kv_heads, int64_t tensor);

// Heads that cannot be replicated (query heads, recurrent states).
// `what` names them in the message: "attention heads".
// Errors: InvalidArgument with both numbers when `tensor` does not divide.
absl::StatusOr<int64_t> SplitHeads(int64_t heads, int64_t tensor,
                                   absl::string_view what);

// Layers of each pipeline stage: an equal share; what is left over goes one
// each to the stages before the last, from the back.
// Errors: InvalidArgument when there are more stages than layers.
absl::StatusOr<std::vector<int64_t>> StageSizes(int64_t layers,
                                                int64_t pipeline);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_PARALLEL_PLAN_H_
