#include "engines/tensorrt_llm/serve_flag_table.h"

namespace kvsim::tensorrt_llm {
namespace {

constexpr FlagArity kSwitch = FlagArity::kSwitch;
constexpr FlagArity kValue = FlagArity::kValue;

constexpr FlagEffect kRead = FlagEffect::kModelled;
constexpr FlagEffect kNone = FlagEffect::kNone;
constexpr FlagEffect kLeft = FlagEffect::kMemoryLeft;
constexpr FlagEffect kUnknown = FlagEffect::kUnmodelled;

constexpr ServeFlag kFlags[] = {
    // Read by serve_arguments.cc.
    {"--model", kValue, kRead},
    {"--extra-llm-api-options --config", kValue, kRead},
    {"--tp-size --tensor-parallel-size", kValue, kRead},
    {"--pp-size --pipeline-parallel-size", kValue, kRead},
    {"--max-batch-size", kValue, kRead},
    {"--max-num-tokens", kValue, kRead},
    {"--max-seq-len", kValue, kRead},
    {"--max-tokens --max-tokens-in-paged-kv-cache", kValue, kRead},
    {"--tokens-per-block", kValue, kRead},
    {"--kv-cache-dtype", kValue, kRead},
    {"--kv-cache-free-gpu-memory-fraction --free-gpu-memory-fraction "
     "--kv-cache-free-gpu-mem-fraction",
     kValue, kRead},
    {"--max-attention-window --max-attention-window-size", kValue, kRead},
    {"--enable-attention-dp", kSwitch, kRead},

    {"--ep-size --expert-parallel-size", kValue, kLeft},
    {"--cluster-size", kValue, kLeft},
    {"--gpus-per-node", kValue, kNone},
    {"--moe-backend", kValue, kLeft},
    {"--quantization", kValue, kLeft},
    {"--cp-size --context-parallel-size", kValue, kUnknown},
    {"--max-beam-width", kValue, kUnknown},
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
