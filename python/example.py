"""Planning a service with kvsim: four questions, one cell each.

Runs as a script; editors that know `# %%` run it cell by cell.
"""

# %%
import pathlib

import numpy as np

import kvsim

TRACE = pathlib.Path(__file__).parent.parent / "traces" / "sample" / "agents.jsonl"
GIB = 2**30

# %% How many requests of 1M tokens fit, and what would double that?
print("kimi-linear-48b, requests of 1M tokens")
print(f"{'':24}{'KV cache':>12}{'resident':>10}{'admitted':>10}")
for gpus in (1, 2, 4):
    for dtype in ("auto", "fp8"):
        plan = kvsim.capacity(
            "kimi-linear-48b",
            contexts="1M",
            gpu="H200",
            tensor_parallel_size=gpus,
            kv_cache_dtype=dtype,
        )
        at_1m = plan["contexts"][0]
        print(
            f"  {gpus} x H200, cache {dtype:6}"
            f"{plan['kv_memory_bytes'] / GIB:8.2f} GiB"
            f"{at_1m['resident']:10}{at_1m['admitted']:10}"
        )

# %% What could a cache hit at most? Of the trace alone, no engine yet.
trace = kvsim.read_trace(TRACE)
ids, offsets = trace["block_ids"], trace["block_offsets"]
row_of_id = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
_, first = np.unique(ids, return_index=True)
seen_before = np.ones(len(ids), dtype=bool)
seen_before[first] = False
new_per_row = np.bincount(row_of_id, weights=~seen_before, minlength=len(offsets) - 1)
print()
print(f"{len(offsets) - 1} requests name {len(ids):,} blocks, {len(first):,} of them new")
print(f"  seen before         {seen_before.mean():8.1%} of all blocks")
print(f"  new in a request    {np.median(new_per_row):8.0f} blocks in the median")
print(f"  prompt              {np.percentile(trace['input_tokens'], 99):8,.0f} tokens at p99")

# %% How large a pool is worth its memory?
print()
print("llama-3.1-8b, by pool")
print(f"{'':10}{'hit rate':>10}{'preempted':>11}{'ttft p99':>11}{'a queue':>10}")
for gib in (16, 20, 24, 28, 32, 40, 48):
    report = kvsim.replay(
        TRACE, model="llama-3.1-8b", kv_memory=f"{gib}GiB", timeline=True
    )
    steps = report["timeline"]
    time_ns = steps["end_ns"] - steps["start_ns"]
    print(
        f"  {gib} GiB  "
        f"{report['hit_tokens'] / report['prompt_tokens']:10.1%}"
        f"{report['preemptions']:11}"
        f"{report['ttft']['p99_ns'] / 1e9:9.2f} s"
        f"{np.average(steps['waiting'] > 0, weights=time_ns):10.1%}"
    )

# %% Which block size?
print()
print("llama-3.1-8b on 28 GiB, by block size")
print(f"{'':14}{'hit rate':>10}{'evictions':>11}{'tail slack':>12}{'e2e p50':>10}")
for tokens in (16, 32, 64, 128):
    report = kvsim.replay(
        TRACE,
        model="llama-3.1-8b",
        kv_memory="28GiB",
        block_size=tokens,
        timeline=True,
    )
    steps = report["timeline"]
    time_ns = steps["end_ns"] - steps["start_ns"]
    slack = np.average(steps["tail_slack"], weights=time_ns) / report["pool_bytes"]
    print(
        f"  {tokens:3} tokens  "
        f"{report['hit_tokens'] / report['prompt_tokens']:10.1%}"
        f"{report['evictions']:11,}"
        f"{slack:12.2%}"
        f"{report['e2e']['p50_ns'] / 1e9:8.2f} s"
    )
