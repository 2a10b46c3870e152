// The flags of trtllm-serve, and what each does to the caches' memory.
//
// Older programs (trtllm-build, the C++ benchmarks) spell some of them
// otherwise; those spellings are accepted too.
// Source: tensorrt_llm/commands/serve.py and its documentation, 2025 to 2026.

#ifndef KVSIM_ENGINES_TENSORRT_LLM_SERVE_FLAG_TABLE_H_
#define KVSIM_ENGINES_TENSORRT_LLM_SERVE_FLAG_TABLE_H_

#include "engines/serve_flags.h"

namespace kvsim::tensorrt_llm {

// Lives for ever.
const ServeGrammar& TrtllmServeGrammar();

}  // namespace kvsim::tensorrt_llm

#endif  // KVSIM_ENGINES_TENSORRT_LLM_SERVE_FLAG_TABLE_H_
