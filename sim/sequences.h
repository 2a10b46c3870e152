// What one row of a trace becomes: parallel samples or beams.
#ifndef KVSIM_SIM_SEQUENCES_H_
#define KVSIM_SIM_SEQUENCES_H_

#include <cstdint>

namespace kvsim {

struct Sequences {
  enum class Kind : uint8_t {
    kForkedSamples,    // fork when the first token is sampled
    kSeparateSamples,  // requests with one prompt from the start (vLLM V1)
    kBeams,            // as samples, then one goes on twice and one is dropped
  };
  Kind kind = Kind::kForkedSamples;
  int64_t width = 1;  // sequences of a row
};

}  // namespace kvsim

#endif  // KVSIM_SIM_SEQUENCES_H_
