"""The list of benchmarks that //tools:benchmarks runs, in this order."""

BENCHMARKS = [
    "//base:random_benchmark",
    "//engines/vllm:kv_cache_benchmark",
    "//kernels:copy_blocks_benchmark",
    "//kernels:gather_sequence_benchmark",
    "//kernels:hash_prefixes_benchmark",
    "//kernels:write_tokens_benchmark",
    "//sim:hits_benchmark",
    "//sim:metrics_benchmark",
    "//sim:replay_benchmark",
    "//traces:mooncake_benchmark",
    "//traces:request_keys_benchmark",
]
