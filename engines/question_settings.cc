#include "engines/question_settings.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"

namespace kvsim {
namespace {

// --- values as people read them ----------------------------------------------

std::string Text(bool value) { return value ? "on" : "off"; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(double value) { return absl::StrCat(value); }
std::string Text(Tokens value) { return FormatCount(value.value()); }
std::string Text(Blocks value) { return FormatCount(value.value()); }
std::string Text(Bytes value) { return FormatBytes(value); }
std::string Text(DType value) { return std::string(Name(value)); }
std::string Text(KvCacheDtype value) { return std::string(Name(value)); }
std::string Text(const Gpu& value) { return value.name; }
std::string Text(sglang::CacheType value) {
  return std::string(sglang::Name(value));
}
std::string Text(llama_cpp::CacheType value) {
  return std::string(llama_cpp::Name(value));
}
std::string Text(tensorrt_llm::CacheType value) {
  return std::string(tensorrt_llm::Name(value));
}

std::string Text(const std::string& value) {
  return value.empty() ? "default" : value;
}

std::string Text(const ModelSpec* value) {
  return value == nullptr ? "none" : value->name;
}

std::string Text(Platform value) {
  constexpr const char* kNames[] = {"cuda", "rocm", "xpu", "ascend", "tpu"};
  return kNames[static_cast<size_t>(value)];
}

std::string Text(StateMode value) { return StateModeName(value); }

std::string Text(SpeculativeMethod value) {
  constexpr const char* kNames[] = {"mtp", "draft model", "without a cache"};
  return kNames[static_cast<size_t>(value)];
}

std::string Text(sglang::MambaStrategy value) {
  constexpr const char* kNames[] = {"no_buffer", "extra_buffer",
                                    "extra_buffer_lazy"};
  return kNames[static_cast<size_t>(value)];
}

std::string Text(sglang::SparseCharge value) {
  return value == sglang::SparseCharge::kPlainRow ? "plain row" : "stored row";
}

std::string Text(llama_cpp::FlashAttention value) {
  constexpr const char* kNames[] = {"auto", "on", "off"};
  return kNames[static_cast<size_t>(value)];
}

template <typename T>
std::string Text(const std::optional<T>& value) {
  return value.has_value() ? Text(*value) : "default";
}

template <typename T>
std::string Text(const std::vector<T>& values) {
  if (values.empty()) return "default";
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(Text(value));
  return absl::StrJoin(texts, " ");
}

// --- settings ----------------------------------------------------------------

template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}
bool Same(const std::optional<Gpu>& a, const std::optional<Gpu>& b) {
  return Text(a) == Text(b);
}

template <auto Field>
constexpr QuestionSetting Of(absl::string_view flag, absl::string_view rule) {
  using Q = CapacityQuestion;
  return {flag, rule,
          [](const Q& a, const Q& b) { return Same(a.*Field, b.*Field); },
          [](const Q& from, Q& to) { to.*Field = from.*Field; },
          [](const Q& question) { return Text(question.*Field); }};
}

// A field of an engine's own settings. Questions without such settings have
// their defaults; copying to one gives it settings.
template <typename Settings, auto Field>
constexpr QuestionSetting Own(absl::string_view flag, absl::string_view rule) {
  using Q = CapacityQuestion;
  const auto same = [](const Q& a, const Q& b) {
    return SettingsOr<Settings>(a.engine_settings).*Field ==
           SettingsOr<Settings>(b.engine_settings).*Field;
  };
  const auto copy = [](const Q& from, Q& to) {
    Settings settings = SettingsOr<Settings>(to.engine_settings);
    settings.*Field = SettingsOr<Settings>(from.engine_settings).*Field;
    to.engine_settings = settings;
  };
  const auto text = [](const Q& question) {
    return Text(SettingsOr<Settings>(question.engine_settings).*Field);
  };
  return {flag, rule, same, copy, text};
}

using Q = CapacityQuestion;
using S = sglang::Settings;
using L = llama_cpp::Settings;
using T = tensorrt_llm::Settings;

constexpr absl::string_view kRowBytes =
    "bytes of a row's element, and so of a page";
constexpr absl::string_view kMemory = "memory that is cut into blocks";
constexpr absl::string_view kSequences =
    "requests that run at once, and what is set aside for them";

constexpr QuestionSetting kSettings[] = {
    Of<&Q::model>("--model", "layers and what each of them stores"),
    Of<&Q::dtype>("--dtype", "the model's type, and rows' where auto"),
    Of<&Q::platform>("--platform", "the hardware's own kernels and blocks"),
    Of<&Q::gpu>("--gpu", "memory of the card, and the kernels it runs"),
    Of<&Q::gpu_memory>("--gpu-memory", "memory of the card"),
    Of<&Q::gpu_memory_utilization>("--gpu-memory-utilization",
                                   "share of the card the engine may use"),
    Of<&Q::num_gpus>("--num-gpus", "ranks, and replicas beyond one engine"),
    Of<&Q::pipeline>("--pipeline-parallel-size",
                     "a rank stores the layers of its stage; the smallest "
                     "stage decides the blocks"),
    Of<&Q::tensor>("--tensor-parallel-size",
                   "KV heads and states are split over ranks; a latent row is "
                   "whole on every rank"),
    Of<&Q::decode_context>("--decode-context-parallel-size",
                           "a sequence's tokens are dealt to the ranks: a "
                           "block of each covers so many times its tokens"),
    Of<&Q::prefill_context>("--prefill-context-parallel-size",
                            "a sequence's tokens are dealt to the ranks"),
    Of<&Q::weight_bytes>("--weight-bytes", "memory that weights leave"),
    Of<&Q::non_kv_memory>("--non-kv-memory",
                          "memory that activations, context and graphs leave"),
    Of<&Q::kv_memory>("--kv-memory", kMemory),
    Of<&Q::kv_memory_ranks>("--kv-memory of every rank", kMemory),
    Of<&Q::num_gpu_blocks>("--num-gpu-blocks",
                           "the number of blocks, whatever the memory"),
    Of<&Q::kv_cache_dtype>("--kv-cache-dtype", kRowBytes),
    Of<&Q::attention_backend>("--attention-backend",
                              "the kernel's block, and its format of rows"),
    Of<&Q::index_key_heads>("--index-key-heads",
                            "index keys a token of sparse attention stores"),
    Of<&Q::index_key_dtype>("--index-key-dtype", "bytes of an index key"),
    Of<&Q::state_dtype>("--mamba-ssm-cache-dtype",
                        "bytes of a recurrent state; a hybrid's attention "
                        "block grows until its page holds one"),
    Of<&Q::conv_state_dtype>("--mamba-cache-dtype",
                             "bytes of a convolution state; a hybrid's "
                             "attention block grows until its page holds one"),
    Of<&Q::block_size>("--block-size", "tokens of a block"),
    Of<&Q::max_model_len>("--max-model-len",
                          "the longest request: what one request of the "
                          "concurrency line takes, and the start-up check"),
    Of<&Q::fit_max_model_len>("--max-model-len auto",
                              "the longest request that fits is taken"),
    Of<&Q::chunked_prefill>("--enable-chunked-prefill",
                            "off: a batch holds a whole prompt"),
    Of<&Q::max_num_batched_tokens>("--max-num-batched-tokens",
                                   "tokens in flight, which a window's worst "
                                   "case adds to the window"),
    Of<&Q::max_num_seqs>("--max-num-seqs", kSequences),
    Of<&Q::async_scheduling>("--async-scheduling",
                             "on: more batches are in flight, which a window's "
                             "worst case adds to the window"),
    Of<&Q::prefix_caching>("--enable-prefix-caching",
                           "on: a request of a model with states holds more "
                           "than one state of each group"),
    Of<&Q::state_mode>("--mamba-cache-mode",
                       "which states are kept for prefix hits"),
    Of<&Q::state_block>("--mamba-block-size", "tokens between kept states"),
    Of<&Q::hybrid_manager>("--disable-hybrid-kv-cache-manager",
                           "off: windows are stored as full history"),
    Of<&Q::swap_space>("--swap-space", "blocks on the host (V0)"),
    Of<&Q::draft_model>("--draft-model", "layers of the drafter's own cache"),
    Of<&Q::speculative_method>("speculative method",
                               "whose layers the drafter's caches are"),
    Of<&Q::speculative_tokens>("--num-speculative-tokens",
                               "caches of the drafter's layers, and draft "
                               "tokens that a state and a block table keep"),
    Of<&Q::draft_kv_cache_dtype>("the drafter's --kv-cache-dtype", kRowBytes),
    Of<&Q::draft_tensor>("the drafter's --tensor-parallel-size",
                         "ranks that split the drafter's heads"),
    Of<&Q::contexts>("--context", "lengths that requests are counted for"),
    Of<&Q::shared_prefix>("--shared-prefix",
                          "blocks that all requests hold once"),

    Own<S, &S::pp_size>("--pp-size", "a rank stores its stage's layers"),
    Own<S, &S::tp_size>("--tp-size",
                        "KV heads and states are split over ranks"),
    Own<S, &S::dp_size>("--dp-size", "attention ranks: tp-size / dp-size"),
    Own<S, &S::enable_dp_attention>("--enable-dp-attention",
                                    "attention ranks: tp-size / dp-size"),
    Own<S, &S::dcp_size>("--dcp-size", "tokens are dealt to the ranks"),
    Own<S, &S::kv_cache_dtype>("--kv-cache-dtype", kRowBytes),
    Own<S, &S::attention_backend>("--attention-backend", "tokens of a page"),
    Own<S, &S::page_size>("--page-size", "tokens of a page"),
    Own<S, &S::context_length>("--context-length", "the longest request"),
    Own<S, &S::max_total_tokens>("--max-total-tokens",
                                 "most tokens, whatever the memory"),
    Own<S, &S::max_running_requests>("--max-running-requests", kSequences),
    Own<S, &S::chunked_prefill_size>("--chunked-prefill-size",
                                     "tokens in flight, and memory kept back"),
    Own<S, &S::mem_fraction_static>("--mem-fraction-static",
                                    "share of the card the engine may use"),
    Own<S, &S::disable_radix_cache>("--disable-radix-cache",
                                    "on: a request takes one state slot"),
    Own<S, &S::disable_overlap_schedule>("--disable-overlap-schedule",
                                         "state slots of a request"),
    Own<S, &S::swa_full_tokens_ratio>("--swa-full-tokens-ratio",
                                      "tokens of the window pool for each of "
                                      "the full one"),
    Own<S, &S::disable_hybrid_swa_memory>(
        "--disable-hybrid-swa-memory",
        "on: windows are stored as full history"),
    Own<S, &S::mamba_full_memory_ratio>("--mamba-full-memory-ratio",
                                        "memory of states for each of rows"),
    Own<S, &S::max_mamba_cache_size>("--max-mamba-cache-size", "state slots"),
    Own<S, &S::mamba_scheduler_strategy>("--mamba-scheduler-strategy",
                                         "state slots of a request"),
    Own<S, &S::mamba_ssm_dtype>("--mamba-ssm-dtype", "bytes of a state"),
    Own<S, &S::speculative>("--speculative-algorithm",
                            "caches of the drafter's layers"),
    Own<S, &S::speculative_draft_model_path>("--speculative-draft-model-path",
                                             "whose layers they are"),
    Own<S, &S::sparse_charge>("charge of sparse rows",
                              "bytes that a token of fp8 is charged"),

    Own<L, &L::ctx_size>("--ctx-size", "cells of the cache"),
    Own<L, &L::batch_size>("--batch-size", "tokens of a batch"),
    Own<L, &L::ubatch_size>("--ubatch-size", "cells beside a window"),
    Own<L, &L::parallel>("--parallel", "sequences that share the cells"),
    Own<L, &L::kv_unified>("--kv-unified", "one stream for all sequences"),
    Own<L, &L::cache_type_k>("--cache-type-k", kRowBytes),
    Own<L, &L::cache_type_v>("--cache-type-v", kRowBytes),
    Own<L, &L::flash_attn>("--flash-attn", "how V is stored"),
    Own<L, &L::swa_full>("--swa-full", "on: windows keep whole contexts"),
    Own<L, &L::gpu_layers>("--n-gpu-layers", "layers whose cache is on cards"),
    Own<L, &L::kv_offload>("--kv-offload", "off: caches stay with the host"),
    Own<L, &L::draft_max>("--draft-max", "caches of the drafter's layers"),
    Own<L, &L::draft_model>("--model-draft", "whose layers they are"),
    Own<L, &L::draft_ctx_size>("--ctx-size-draft", "the drafter's cells"),
    Own<L, &L::draft_type_k>("--cache-type-k-draft", kRowBytes),
    Own<L, &L::draft_type_v>("--cache-type-v-draft", kRowBytes),
    Own<L, &L::encoders_keep_rows>("caches of encoders", "rows of an encoder"),

    Own<T, &T::pp_size>("--pp_size", "a rank stores its stage's layers"),
    Own<T, &T::tp_size>("--tp_size", "KV heads are split over ranks"),
    Own<T, &T::enable_attention_dp>("enable_attention_dp",
                                    "on: every rank keeps all heads"),
    Own<T, &T::kv_cache_dtype>("--kv_cache_dtype", kRowBytes),
    Own<T, &T::tokens_per_block>("tokens_per_block", "tokens of a block"),
    Own<T, &T::free_gpu_memory_fraction>("--kv_cache_free_gpu_memory_fraction",
                                         "share of the free memory"),
    Own<T, &T::max_tokens>("max_tokens", "most tokens, whatever the memory"),
    Own<T, &T::max_seq_len>("--max_seq_len", "the longest request"),
    Own<T, &T::max_batch_size>("--max_batch_size", kSequences),
    Own<T, &T::max_num_tokens>("--max_num_tokens", "tokens of a batch"),
    Own<T, &T::max_attention_window>("max_attention_window",
                                     "windows, each with a pool of its own"),
    Own<T, &T::window_size_shares>("TRTLLM_WINDOW_SIZE_SHARES",
                                   "shares of memory of the windows"),
    Own<T, &T::host_cache_size>("host_cache_size", "blocks on the host"),
    Own<T, &T::enable_block_reuse>("enable_block_reuse",
                                   "whether blocks are kept for hits"),
    Own<T, &T::speculative>("speculative_config",
                            "caches of the drafter's layers"),
};

}  // namespace

std::span<const QuestionSetting> QuestionSettings() { return kSettings; }

}  // namespace kvsim
