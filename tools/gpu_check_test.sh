#!/bin/bash
# tools/gpu_check.py with programs that say what a GPU might say.
# Usage: gpu_check_test.sh tools/gpu_check.py
set -euo pipefail

check="$(realpath "$1")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# $1: the ratio of every operation to a plain copy.
make_programs() {
  cat >"$folder/kvsim" <<PROGRAM
#!/usr/bin/env python3
import json, sys
words = sys.argv[1:]
if words[0] == "--version":
    print("kvsim 0.1.0 (commit abc)")
elif words[0] == "replay":
    print(json.dumps({"paging_run": {"rows_verified": "70", "states_verified": "7"}}))
else:
    results = [{"operation": op, "dtype": dtype, "unit_bytes": page, "layers": 1,
                "batch": 9, "bytes": 1 << 30, "call_ns": 1, "bytes_per_second": 1e12,
                "plain_copy_ratio": $1}
               for op, dtype, page in
               [(op, "", page) for op in ("copy_blocks", "gather_sequence", "swap_out", "swap_in")
                for page in (4096, 16384, 65536)]
               + [("write_tokens", "bf16", 4096), ("save_state", "fp32", 2170880)]]
    print(json.dumps({"measured_on": "a device", "results": results}))
PROGRAM
  cat >"$folder/gpu_tests" <<'PROGRAM'
#!/usr/bin/env python3
import json, sys
out = [w.split(":", 1)[1] for w in sys.argv if w.startswith("--gtest_output=")]
if out:
    with open(out[0], "w") as file:
        json.dump({"testsuites": [{"name": "A", "testsuite": [{"name": "B"}, {"name": "C"}]}]}, file)
PROGRAM
  chmod +x "$folder/kvsim" "$folder/gpu_tests"
}

run_check() {
  python3 "$check" --binaries "$folder" --root / --out "$folder/out.json" "$@"
}

make_programs 0.95
run_check --quick >"$folder/said" || fail "all targets are met: $(cat "$folder/said")"
grep -q "GPU check on a device, commit kvsim 0.1.0 (commit abc)" "$folder/said" || fail "no device"
grep -q "kernel tests     2 passed, 0 failed" "$folder/said" || fail "no tests"
grep -q "70 rows and 7 states read back right" "$folder/said" || fail "no replay"
grep -q "MISSED" "$folder/said" && fail "nothing was missed"
python3 - "$folder/out.json" <<'CHECK' || fail "the JSON"
import json, sys
with open(sys.argv[1]) as file:
    result = json.load(file)
assert result["device"] == "a device"
assert len(result["targets"]) == 8 and all(t["measured"] == 0.95 for t in result["targets"])
CHECK

make_programs 0.80
run_check --quick >"$folder/said" && fail "0.80 is below a target"
[[ "$(grep -c MISSED "$folder/said")" == 5 ]] || fail "five targets are 0.90: $(cat "$folder/said")"

echo "gpu_check: all as expected"
