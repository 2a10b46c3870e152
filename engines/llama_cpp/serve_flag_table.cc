#include "engines/llama_cpp/serve_flag_table.h"

namespace kvsim::llama_cpp {
namespace {

constexpr FlagArity kSwitch = FlagArity::kSwitch;
constexpr FlagArity kBool = FlagArity::kBool;
constexpr FlagArity kValue = FlagArity::kValue;
constexpr FlagArity kMaybe = FlagArity::kOptionalValue;

constexpr FlagEffect kRead = FlagEffect::kModelled;
constexpr FlagEffect kNone = FlagEffect::kNone;
constexpr FlagEffect kLeft = FlagEffect::kMemoryLeft;
constexpr FlagEffect kUnknown = FlagEffect::kUnmodelled;

constexpr ServeFlag kFlags[] = {
    // Read by serve_arguments.cc.
    {"--model -m", kValue, kRead},
    {"--hf-repo -hf -hfr", kValue, kRead},
    {"--ctx-size -c", kValue, kRead},
    {"--batch-size -b", kValue, kRead},
    {"--ubatch-size -ub", kValue, kRead},
    {"--parallel -np", kValue, kRead},
    {"--kv-unified -kvu", kBool, kRead},
    {"-no-kvu", kSwitch, kRead},
    {"--cache-type-k -ctk", kValue, kRead},
    {"--cache-type-v -ctv", kValue, kRead},
    {"--flash-attn -fa", kMaybe, kRead},
    {"--swa-full", kSwitch, kRead},
    {"--gpu-layers -ngl --n-gpu-layers", kValue, kRead},
    {"--kv-offload -kvo", kBool, kRead},
    {"-nkvo", kSwitch, kRead},
    {"--draft-max --draft --draft-n --spec-draft-n-max", kValue, kRead},
    {"--model-draft -md --spec-draft-model", kValue, kRead},
    {"--hf-repo-draft -hfd -hfrd", kValue, kRead},
    {"--ctx-size-draft -cd --spec-draft-ctx-size", kValue, kRead},
    {"--cache-type-k-draft -ctkd --spec-draft-type-k", kValue, kRead},
    {"--cache-type-v-draft -ctvd --spec-draft-type-v", kValue, kRead},

    // What is left for the caches, and on which device.
    {"--gpu-layers-draft -ngld --n-gpu-layers-draft --spec-draft-ngl", kValue,
     kLeft},
    {"--split-mode -sm", kValue, kLeft},
    {"--tensor-split -ts", kValue, kLeft},
    {"--main-gpu -mg", kValue, kLeft},
    {"--device -dev", kValue, kLeft},
    {"--device-draft -devd", kValue, kLeft},
    {"--override-tensor -ot", kValue, kLeft},
    {"--override-tensor-draft -otd", kValue, kLeft},
    {"--cpu-moe -cmoe", kSwitch, kLeft},
    {"--n-cpu-moe -ncmoe", kValue, kLeft},
    {"--cpu-moe-draft -cmoed", kSwitch, kLeft},
    {"--n-cpu-moe-draft -ncmoed", kValue, kLeft},
    {"--rpc", kValue, kLeft},
    {"--mlock", kSwitch, kLeft},
    {"--mmap", kBool, kLeft},
    {"--direct-io -dio", kBool, kLeft},
    {"--repack -nr", kBool, kLeft},
    {"--op-offload", kBool, kLeft},
    {"--no-host", kSwitch, kLeft},
    {"--mmproj -mm", kValue, kLeft},
    {"--mmproj-url -mmu", kValue, kLeft},
    {"--mmproj-offload", kBool, kLeft},
    {"--mmproj-auto", kBool, kLeft},
    {"--lora", kValue, kLeft},
    {"--lora-scaled", kValue, kLeft},
    {"--control-vector", kValue, kLeft},
    {"--fit -fit", kValue, kUnknown},
    {"--fit-target -fitt", kValue, kUnknown},
    {"--fit-ctx -fitc", kValue, kUnknown},
    {"--override-kv", kValue, kUnknown},
    {"--defrag-thold -dt", kValue, kNone},
    {"--grp-attn-n -gan", kValue, kUnknown},
    {"--grp-attn-w -gaw", kValue, kUnknown},

    // Contexts and prompts.
    {"--context-shift", kBool, kNone},
    {"--ctx-checkpoints --swa-checkpoints -ctxcp", kValue, kNone},
    {"--checkpoint-every-n-tokens -cpent", kValue, kNone},
    {"--cache-ram -cram", kValue, kNone},
    {"--cache-reuse", kValue, kNone},
    {"--cache-prompt", kBool, kNone},
    {"--keep", kValue, kNone},
    {"--predict -n --n-predict", kValue, kNone},
    {"--slot-prompt-similarity -sps", kValue, kNone},
    {"--slot-save-path", kValue, kNone},
    {"--cont-batching -cb", kBool, kNone},
    {"--spec-type", kValue, kNone},
    {"--draft-min --draft-n-min --spec-draft-n-min", kValue, kNone},
    {"--draft-p-min --spec-draft-p-min", kValue, kNone},
    {"--draft-p-split", kValue, kNone},
    {"--rope-scaling", kValue, kNone},
    {"--rope-scale", kValue, kNone},
    {"--rope-freq-base", kValue, kNone},
    {"--rope-freq-scale", kValue, kNone},
    {"--yarn-orig-ctx", kValue, kNone},
    {"--yarn-ext-factor", kValue, kNone},
    {"--yarn-attn-factor", kValue, kNone},
    {"--yarn-beta-slow", kValue, kNone},
    {"--yarn-beta-fast", kValue, kNone},
    {"--pooling", kValue, kNone},
    {"--embedding --embeddings", kSwitch, kNone},
    {"--reranking --rerank", kSwitch, kNone},

    // Sampling.
    {"--samplers", kValue, kNone},
    {"--seed -s", kValue, kNone},
    {"--temp --temperature", kValue, kNone},
    {"--top-k", kValue, kNone},
    {"--top-p", kValue, kNone},
    {"--min-p", kValue, kNone},
    {"--repeat-penalty", kValue, kNone},
    {"--repeat-last-n", kValue, kNone},
    {"--presence-penalty", kValue, kNone},
    {"--frequency-penalty", kValue, kNone},
    {"--grammar", kValue, kNone},
    {"--grammar-file", kValue, kNone},
    {"--json-schema -j", kValue, kNone},
    {"--ignore-eos", kSwitch, kNone},

    // The server and the machine.
    {"--threads -t", kValue, kNone},
    {"--threads-batch -tb", kValue, kNone},
    {"--threads-http", kValue, kNone},
    {"--cpu-mask -C", kValue, kNone},
    {"--cpu-range -Cr", kValue, kNone},
    {"--cpu-strict", kValue, kNone},
    {"--prio", kValue, kNone},
    {"--poll", kValue, kNone},
    {"--numa", kValue, kNone},
    {"--model-url -mu", kValue, kNone},
    {"--hf-file -hff", kValue, kNone},
    {"--hf-token -hft", kValue, kNone},
    {"--offline", kSwitch, kNone},
    {"--alias -a", kValue, kNone},
    {"--host", kValue, kNone},
    {"--port", kValue, kNone},
    {"--path", kValue, kNone},
    {"--api-prefix", kValue, kNone},
    {"--api-key", kValue, kNone},
    {"--api-key-file", kValue, kNone},
    {"--ssl-key-file", kValue, kNone},
    {"--ssl-cert-file", kValue, kNone},
    {"--timeout -to", kValue, kNone},
    {"--webui", kBool, kNone},
    {"--metrics", kSwitch, kNone},
    {"--props", kSwitch, kNone},
    {"--slots", kBool, kNone},
    {"--jinja", kBool, kNone},
    {"--chat-template", kValue, kNone},
    {"--chat-template-file", kValue, kNone},
    {"--chat-template-kwargs", kValue, kNone},
    {"--reasoning-format", kValue, kNone},
    {"--reasoning-budget", kValue, kNone},
    {"--warmup", kBool, kNone},
    {"--perf", kBool, kNone},
    {"--check-tensors", kSwitch, kNone},
    {"--escape -e", kBool, kNone},
    {"--verbose -v", kSwitch, kNone},
    {"--verbosity -lv", kValue, kNone},
    {"--log-disable", kSwitch, kNone},
    {"--log-file", kValue, kNone},
    {"--log-colors", kMaybe, kNone},
    {"--log-prefix", kSwitch, kNone},
    {"--log-timestamps", kSwitch, kNone},
};

constexpr absl::string_view kLaunches[] = {"llama-server", "llama-cli",
                                           "llama serve"};

constexpr ServeGrammar kGrammar = {
    .program = "llama-server",
    .flags = kFlags,
    .launches = kLaunches,
    .model_flag = "",
    .config_flag = "",
    .underscores = true,
    .prefixes = false,
};

}  // namespace

const ServeGrammar& LlamaServeGrammar() { return kGrammar; }

}  // namespace kvsim::llama_cpp
