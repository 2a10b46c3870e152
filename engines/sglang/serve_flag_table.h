// The flags of SGLang's server, and what each does to the caches' memory.
//
// Source: python/sglang/srt/server_args.py of mid 2026. A flag that came or
//         went with a version is accepted for all of them.

#ifndef KVSIM_ENGINES_SGLANG_SERVE_FLAG_TABLE_H_
#define KVSIM_ENGINES_SGLANG_SERVE_FLAG_TABLE_H_

#include "engines/serve_flags.h"

namespace kvsim::sglang {

// Lives for ever.
const ServeGrammar& SglangServeGrammar();

}  // namespace kvsim::sglang

#endif  // KVSIM_ENGINES_SGLANG_SERVE_FLAG_TABLE_H_
