"""What tools/gpu_check does once the binaries are there."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

# At least so fast, as a share of a plain copy in the same run: operation, format,
# smallest page it holds for, ratio.
TARGETS = [
    ("copy_blocks", "", 4096, 0.75),
    ("copy_blocks", "", 16384, 0.90),
    ("gather_sequence", "", 4096, 0.75),
    ("gather_sequence", "", 16384, 0.90),
    ("write_tokens", "bf16", 0, 0.80),
    ("save_state", "fp32", 0, 0.90),
    ("swap_out", "", 65536, 0.90),
    ("swap_in", "", 65536, 0.90),
]

SANITIZERS = ["memcheck", "racecheck"]


def run(command, timeout):
    """Exit status, output and seconds; 124 when it took longer than timeout."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, timeout=timeout, text=True,
            errors="replace")
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = 124, str(late.stdout or "")
    return status, output, round(time.monotonic() - start, 1)


def why_no_device(kvsim):
    """Nothing when a device answers, else what kvsim says."""
    status, output, _ = run(
        [kvsim, "paging", "bench", "--backend", "cuda", "--memory", "1MiB",
         "--operations", "block_tables", "--batch", "1", "--repeats", "1"], 60)
    return None if status == 0 else output.strip()


def kernel_tests(binaries, scratch):
    report = os.path.join(scratch, "tests.json")
    status, output, seconds = run(
        [os.path.join(binaries, "gpu_tests"), "--require_gpu",
         "--gtest_output=json:" + report], 180)
    tests = {"exit": status, "seconds": seconds, "passed": 0, "failed": []}
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            suites = json.load(file)["testsuites"]
        for suite in suites:
            for test in suite["testsuite"]:
                if test.get("failures"):
                    tests["failed"].append(suite["name"] + "." + test["name"])
                else:
                    tests["passed"] += 1
    elif status == 0:
        tests["exit"] = 1
    if tests["exit"] != 0:
        tests["output"] = output[-4000:]
    return tests


def sanitized(binaries, tool):
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        return {"ran": False, "why": "compute-sanitizer is not installed"}
    status, output, seconds = run(
        [sanitizer, "--tool", tool, "--error-exitcode", "9",
         os.path.join(binaries, "gpu_tests"), "--require_gpu"], 120)
    result = {"ran": status != 124, "clean": status == 0, "seconds": seconds}
    if status != 0:
        result["output"] = output[-4000:]
    return result


def paged_replay(binaries, root):
    """A sample trace whose page operations the GPU performs, forks and swaps too."""
    status, output, seconds = run(
        [os.path.join(binaries, "kvsim"), "replay", "--trace",
         os.path.join(root, "traces", "sample", "agents.jsonl"),
         "--num-gpu-blocks", "3000", "--kv-bytes-per-token", "8192", "--groups",
         "full;swa:1024;mamba", "--preemption-mode", "swap", "--swap-bandwidth",
         "25GB/s", "--backend", "cuda", "--backend-pool", "1GiB", "--json"], 120)
    if status != 0:
        return {"exit": status, "seconds": seconds, "output": output[-4000:]}
    paging = json.loads(output)["paging_run"]
    return {"exit": 0, "seconds": seconds,
            "rows_verified": int(paging["rows_verified"]),
            "states_verified": int(paging["states_verified"])}


def bandwidths(binaries, memory):
    status, output, seconds = run(
        [os.path.join(binaries, "kvsim"), "paging", "bench", "--backend", "cuda",
         "--memory", memory, "--json"], 240)
    if status != 0:
        return {"exit": status, "seconds": seconds, "output": output[-4000:]}
    return dict(json.loads(output), exit=0, seconds=seconds)


def against_targets(bench):
    """Each target, and the slowest of the large batches that it speaks of."""
    rows = []
    for operation, dtype, page, target in TARGETS:
        others = [t[2] for t in TARGETS
                  if t[:2] == (operation, dtype) and t[2] > page]
        ratios = [
            r["plain_copy_ratio"] for r in bench.get("results", [])
            if r["operation"] == operation and r["dtype"] == dtype
            and r["unit_bytes"] >= page
            and (not others or r["unit_bytes"] < min(others))
            and r["bytes"] >= 256 << 20]
        rows.append({"operation": operation, "dtype": dtype, "from_page": page,
                     "target": target,
                     "measured": min(ratios) if ratios else None,
                     "met": bool(ratios) and min(ratios) >= target})
    return rows


def say(result):
    tests = result["tests"]
    print("GPU check on %s, commit %s" % (result["device"] or "a device",
                                          result["commit"]))
    print("  kernel tests     %d passed, %d failed, %.1f s"
          % (tests["passed"], len(tests["failed"]), tests["seconds"]))
    for tool in SANITIZERS:
        one = result["sanitizers"][tool]
        print("  %-16s %s" % (tool, one["why"] if not one["ran"] and "why" in one
                              else "clean" if one.get("clean") else "not clean"))
    replay = result["replay"]
    if replay["exit"] == 0:
        print("  replay           %d rows and %d states read back right, %.1f s"
              % (replay["rows_verified"], replay["states_verified"],
                 replay["seconds"]))
    else:
        print("  replay           failed")
    for row in result["targets"]:
        print("  %-16s %-5s pages from %6d B: %s of a plain copy, target %.2f%s"
              % (row["operation"], row["dtype"], row["from_page"],
                 "not measured" if row["measured"] is None
                 else "%.2f" % row["measured"], row["target"],
                 "" if row["met"] else "  MISSED"))
    for part in (tests, replay, result["bench"]):
        if part.get("output"):
            print(part["output"], file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--out", default="gpu_check.json")
    parser.add_argument("--quick", action="store_true")
    flags = parser.parse_args()
    kvsim = os.path.join(flags.binaries, "kvsim")
    commit = " ".join(run([kvsim, "--version"], 10)[1].split())
    why = why_no_device(kvsim)
    if why:
        sys.exit("tools/gpu_check: " + why)
    with tempfile.TemporaryDirectory() as scratch:
        tests = kernel_tests(flags.binaries, scratch)
    left_out = {"ran": False, "why": "left out by --quick"}
    result = {
        "commit": commit,
        "tests": tests,
        "sanitizers": {
            tool: left_out if flags.quick else sanitized(flags.binaries, tool)
            for tool in SANITIZERS},
        "replay": paged_replay(flags.binaries, flags.root),
        "bench": bandwidths(flags.binaries, "1GiB" if flags.quick else "4GiB"),
    }
    result["device"] = result["bench"].get("measured_on", "")
    result["targets"] = against_targets(result["bench"])
    with open(flags.out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    say(result)
    print("written to %s" % flags.out)
    clean = all(not s["ran"] or s.get("clean")
                for s in result["sanitizers"].values())
    good = (tests["exit"] == 0 and clean and result["replay"]["exit"] == 0
            and all(row["met"] for row in result["targets"]))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
