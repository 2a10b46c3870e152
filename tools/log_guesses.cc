#include "tools/log_guesses.h"

namespace kvsim {

std::vector<LogGuess> LogGuesses() {
  return {
      {"vllm", {}, "token-line=blocks"},
      {"vllm", {}, "token-line=concurrency"},
      {"vllm", {}, "batches-in-flight=1"},
      {"vllm", {}, "batches-in-flight=2"},
      {"vllm", {}, "compressed-pool=tuple"},
      {"vllm", {}, "compressed-pool=bucket"},
      {"vllm", {}, "compressed-pool=packed"},
      {"vllm", {}, "hybrid-prefix-caching=on"},
      {"vllm", {}, "hybrid-prefix-caching=off"},
      {"vllm", {"--kv-cache-dtype", "fp8"}, ""},
      {"vllm", {"--no-enable-prefix-caching"}, ""},
      {"vllm", {"--enable-prefix-caching"}, ""},
      {"vllm", {"--disable-hybrid-kv-cache-manager"}, ""},
      {"vllm", {"--no-async-scheduling"}, ""},
      {"vllm", {"--max-num-batched-tokens", "2048"}, ""},
      {"vllm", {"--max-num-batched-tokens", "8192"}, ""},
      {"vllm", {"--max-num-batched-tokens", "16384"}, ""},
      {"vllm", {"--tensor-parallel-size", "2"}, ""},
      {"vllm", {"--tensor-parallel-size", "4"}, ""},
      {"vllm", {"--tensor-parallel-size", "8"}, ""},
      {"vllm", {"--block-size", "32"}, ""},
      {"vllm", {"--block-size", "64"}, ""},
      {"vllm", {"--block-size", "128"}, ""},
      {"vllm", {"--dtype", "float32"}, ""},
      {"sglang", {"--kv-cache-dtype", "fp8_e4m3"}, ""},
      {"sglang", {"--tp-size", "2"}, ""},
      {"sglang", {"--tp-size", "4"}, ""},
      {"sglang", {"--tp-size", "8"}, ""},
      {"sglang", {"--page-size", "64"}, ""},
      {"sglang", {"--disable-radix-cache"}, ""},
      {"sglang", {"--disable-hybrid-swa-memory"}, ""},
      {"llama.cpp", {"--swa-full"}, ""},
      {"llama.cpp", {"--kv-unified"}, ""},
      {"llama.cpp", {"--ubatch-size", "128"}, ""},
      {"llama.cpp", {"--ubatch-size", "256"}, ""},
      {"llama.cpp", {"--ubatch-size", "1024"}, ""},
      {"llama.cpp", {"--ubatch-size", "2048"}, ""},
      {"llama.cpp", {"--flash-attn", "on"}, ""},
      {"llama.cpp", {"--flash-attn", "off"}, ""},
      {"tensorrt-llm", {"--kv-cache-dtype", "fp8"}, ""},
      {"tensorrt-llm", {"--tp-size", "2"}, ""},
      {"tensorrt-llm", {"--tp-size", "4"}, ""},
      {"tensorrt-llm", {"--tp-size", "8"}, ""},
  };
}

}  // namespace kvsim
