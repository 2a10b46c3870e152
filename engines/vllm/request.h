// One request inside vLLM's scheduler.
#ifndef KVSIM_ENGINES_VLLM_REQUEST_H_
#define KVSIM_ENGINES_VLLM_REQUEST_H_

#include <cstdint>
#include <string>

#include "engines/engine.h"
#include "engines/vllm/kv_cache_manager.h"

namespace kvsim::vllm {

struct Request {
  enum class Status : uint8_t {
    kWaiting,
    kRunning,
    kPreempted,
    kSwapped,
    kFinished
  };

  RequestId id = 0;
  Status status = Status::kWaiting;
  int64_t priority = 0;
  int64_t arrival_ns = 0;
  std::string id_text;  // the engine compares request ids as strings

  int64_t num_prompt = 0;
  int64_t max_tokens = 0;
  int64_t num_outputs = 0;       // recorded
  int64_t num_computed = 0;      // advanced when scheduled
  int64_t num_in_flight = 0;     // tokens scheduled, results not yet seen
  int64_t num_placeholders = 0;  // outputs in flight (asynchronous)
  int64_t num_drafts = 0;        // speculated for the next step
  uint32_t num_preemptions = 0;
  RequestBlocks blocks;

  int64_t num_tokens() const { return num_prompt + num_outputs; }
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_REQUEST_H_
