#include "engines/vllm/block_size_rules.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kvsim::vllm {
namespace {

// Takes over on data-centre Blackwell where FLASHINFER_MLA, with kernels of 32
// and 64, cannot.
constexpr char kBlackwellLatents[] = "FLASHINFER_MLA";
constexpr char kAnyLatents[] = "TRITON_MLA";
constexpr Tokens kAnyLatentsBlock{16};

bool IsCompressed(const ModelSpec& model) {
  return std::any_of(
      model.layers.begin(), model.layers.end(), [](const LayerSpec& layer) {
        return std::any_of(layer.attention.begin(), layer.attention.end(),
                           [](const AttentionSpec& attention) {
                             return attention.kind ==
                                    AttentionKind::kCompressed;
                           });
      });
}

BlockSizeVerdict JudgeCompressed(Tokens block, Tokens size) {
  if (size == block) return {};
  return {.accepted = false,
          .why = absl::StrCat("compressed attention has blocks of ",
                              block.value(), " tokens")};
}

}  // namespace

// The engine's own choice is 16, or the least of the backend where that is no
// multiple of it: the least, then, but for kernels of single tokens.
Tokens KernelBlockTokens(const ModelSpec& model, const SpecRules& rules) {
  if (absl::StrContains(rules.attention_backend, "ROCM_AITER_MLA")) {
    return Tokens(1);
  }
  return DefaultBlockTokens(model, rules);
}

BlockSizeVerdict JudgeBlockSize(const ModelSpec& model, const SpecRules& rules,
                                Tokens size) {
  const Tokens kernel = KernelBlockTokens(model, rules);
  if (IsCompressed(model)) return JudgeCompressed(kernel, size);
  if (size % kernel == Tokens(0)) return {};
  // Only the Blackwell choice is made among backends with different kernels.
  const bool chosen = rules.attention_backend.empty() && kernel == Tokens(32);
  if (chosen && size % kAnyLatentsBlock == Tokens(0)) {
    return {.why = absl::StrCat(kBlackwellLatents, " reads multiples of ",
                                kernel.value(), ": the engine takes ",
                                kAnyLatents, " instead")};
  }
  const Tokens least = chosen ? kAnyLatentsBlock : kernel;
  return {.accepted = false,
          .why = absl::StrCat(
              "no attention backend reads it: ",
              rules.attention_backend.empty() ? "the kernels'"
                                              : rules.attention_backend + "'s",
              " blocks are multiples of ", least.value(), " tokens")};
}

}  // namespace kvsim::vllm
