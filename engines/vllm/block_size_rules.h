// Which values of --block-size vLLM starts with.
//
// Model:   a backend's kernels read blocks of a few sizes; the engine's block
//          must be a multiple of one of them, a larger block is handed to the
//          kernel in pieces. A backend that cannot is passed over for the next
//          one; with none left the engine does not start. What a hybrid then
//          makes of the size (spec_builder.h) is another matter.
// Not said: releases before the size became a free number take only 1, 8, 16,
//          32, 64, 128 and 256 on the command line.
// Source:  vLLM main of 2026-08, v1/attention/backend.py (supports_block_size)
//          and get_supported_kernel_block_sizes of the backends.

#ifndef KVSIM_ENGINES_VLLM_BLOCK_SIZE_RULES_H_
#define KVSIM_ENGINES_VLLM_BLOCK_SIZE_RULES_H_

#include <string>

#include "base/units.h"
#include "engines/vllm/spec_builder.h"
#include "models/model_spec.h"

namespace kvsim::vllm {

// What every size must be a multiple of; of compressed attention the only size.
// `rules.block_size` is not read, here and below.
Tokens KernelBlockTokens(const ModelSpec& model, const SpecRules& rules);

struct BlockSizeVerdict {
  bool accepted = true;
  // Refused: the rule it breaks. Accepted: what else the size changes, or "".
  std::string why;
};

// REQUIRES: size > 0.
BlockSizeVerdict JudgeBlockSize(const ModelSpec& model, const SpecRules& rules,
                                Tokens size);

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_BLOCK_SIZE_RULES_H_
