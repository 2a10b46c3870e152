// `kvsim capacity` as a library: what fits, before a GPU is rented.
//
// Model:   a question names a model, an engine with its flags, and memory: a
//          card and a share of it, or the bytes or blocks of the cache directly.
//          The answer holds the pool, where every byte of a GPU goes, and for
//          each context length the four concurrencies of concurrency.h; then
//          what another choice (fp8 cache, context parallelism, more GPUs)
//          would change.
// Scope:   one engine, that is one pool: tensor x pipeline GPUs. GPUs beyond
//          that run replicas with pools of their own. Figures are a *rank's
//          share* unless their name says cluster or sequence.
// Ownership: the question's model must outlive the call; answers are values.
// Costs:   O(layers) for each configuration tried; no I/O.

#ifndef KVSIM_ENGINES_CAPACITY_H_
#define KVSIM_ENGINES_CAPACITY_H_

#include "absl/status/statusor.h"
#include "engines/capacity_answer.h"
#include "engines/capacity_question.h"

namespace kvsim {

// Errors: InvalidArgument naming flag and value. A start that the engine would
// refuse is an answer: CapacityAnswer::pool.refused.
absl::StatusOr<CapacityAnswer> AnswerCapacity(const CapacityQuestion& question);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_CAPACITY_H_
