// The flags of llama-server, and what each does to the caches' memory.
//
// Source: llama.cpp's common/arg.cpp of 2025 and 2026. A flag that came or went
//         with a build is accepted for all of them.

#ifndef KVSIM_ENGINES_LLAMA_CPP_SERVE_FLAG_TABLE_H_
#define KVSIM_ENGINES_LLAMA_CPP_SERVE_FLAG_TABLE_H_

#include "engines/serve_flags.h"

namespace kvsim::llama_cpp {

// Lives for ever.
const ServeGrammar& LlamaServeGrammar();

}  // namespace kvsim::llama_cpp

#endif  // KVSIM_ENGINES_LLAMA_CPP_SERVE_FLAG_TABLE_H_
