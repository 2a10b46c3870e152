#include "engines/tensorrt_llm/serve_flag_table.h"

namespace kvsim::tensorrt_llm {
namespace {

using enum FlagArity;
using enum FlagEffect;

constexpr ServeFlag kFlags[] = {
    // Read by serve_arguments.cc.
    {"--model", kValue, kModelled},
    {"--extra-llm-api-options --config", kValue, kModelled},
    {"--tp-size --tensor-parallel-size", kValue, kModelled},
    {"--pp-size --pipeline-parallel-size", kValue, kModelled},
    {"--max-batch-size", kValue, kModelled},
    {"--max-num-tokens", kValue, kModelled},
    {"--max-seq-len", kValue, kModelled},
    {"--max-tokens --max-tokens-in-paged-kv-cache", kValue, kModelled},
    {"--tokens-per-block", kValue, kModelled},
    {"--kv-cache-dtype", kValue, kModelled},
    {"--kv-cache-free-gpu-memory-fraction --free-gpu-memory-fraction "
     "--kv-cache-free-gpu-mem-fraction",
     kValue, kModelled},
    {"--max-attention-window --max-attention-window-size", kValue, kModelled},
    {"--enable-attention-dp", kSwitch, kModelled},

    {"--ep-size --expert-parallel-size", kValue, kMemoryLeft},
    {"--cluster-size", kValue, kMemoryLeft},
    {"--gpus-per-node", kValue, kNone},
    {"--moe-backend", kValue, kMemoryLeft},
    {"--quantization", kValue, kMemoryLeft},
    {"--cp-size --context-parallel-size", kValue, kUnmodelled},
    {"--max-beam-width", kValue, kUnmodelled},
    {"--backend", kValue, kNone},
    {"--tokenizer", kValue, kNone},
    {"--custom-tokenizer", kValue, kNone},
    {"--trust-remote-code", kSwitch, kNone},
    {"--revision", kValue, kNone},
    {"--host", kValue, kNone},
    {"--port", kValue, kNone},
    {"--log-level", kValue, kNone},
    {"--reasoning-parser", kValue, kNone},
    {"--tool-parser", kValue, kNone},
    {"--chat-template", kValue, kNone},
    {"--num-postprocess-workers", kValue, kNone},
    {"--metadata-server-config-file", kValue, kNone},
    {"--server-role", kValue, kNone},
    {"--fail-fast-on-attention-window-too-large", kSwitch, kNone},
    {"--enable-chunked-prefill", kSwitch, kNone},
    {"--otlp-traces-endpoint", kValue, kNone},
    {"--disagg-cluster-uri", kValue, kNone},
    {"--served-model-name", kValue, kNone},
};

constexpr absl::string_view kLaunches[] = {"trtllm-serve serve",
                                           "trtllm-serve"};

constexpr ServeGrammar kGrammar = {
    .program = "trtllm-serve",
    .flags = kFlags,
    .launches = kLaunches,
    .model_flag = "--model",
    .config_flag = "",  // read apart: the file goes before the words
    .underscores = true,
    .prefixes = false,
};

}  // namespace

const ServeGrammar& TrtllmServeGrammar() { return kGrammar; }

}  // namespace kvsim::tensorrt_llm
