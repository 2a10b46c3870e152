// The flags of `vllm serve`, of every version seen, and what each does to the
// cache's memory.
//
// Source: vLLM's argument parsers from v0.5 to main of 2026-08-17. A flag that
//         came or went with a version is accepted for all of them.

#ifndef KVSIM_ENGINES_VLLM_SERVE_FLAG_TABLE_H_
#define KVSIM_ENGINES_VLLM_SERVE_FLAG_TABLE_H_

#include "engines/serve_flags.h"

namespace kvsim::vllm {

// Lives for ever.
const ServeGrammar& VllmServeGrammar();

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_SERVE_FLAG_TABLE_H_
