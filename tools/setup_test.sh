#!/bin/bash
# tools/setup with stand-ins for dpkg-query, apt-get, sudo and id, which write
# down how they were called.
set -euo pipefail

setup="$PWD/tools/setup"
stubs="$TEST_TMPDIR/stubs"
log="$TEST_TMPDIR/log"
mkdir -p "$stubs"

stub() {  # name, body
  printf '#!/bin/bash\n%s\n' "$2" >"$stubs/$1"
  chmod +x "$stubs/$1"
}

# Packages named in MISSING are absent.
stub dpkg-query 'package="${@: -1}"
if [[ "$*" == *Version* ]]; then echo "${BAZEL_VERSION:-4.2.3+ds-11}"; exit; fi
if [[ " $MISSING " == *" $package "* ]]; then exit 1; fi
echo installed'
# Installing fails for a list that holds UNKNOWN.
stub apt-get 'echo "apt-get $*" >>"$TEST_TMPDIR/log"
[[ "$1" == update ]] && exit "${UPDATE_CODE:-0}"
[[ " $* " != *" ${UNKNOWN:-none} "* ]]'
stub id 'echo "${USER_ID:-0}"'
for tool in bash env dirname; do ln -s "$(command -v $tool)" "$stubs/$tool"; done

# A CUDA toolkit, as far as it is looked at.
mkdir -p "$stubs/cuda/bin" "$stubs/cuda/include" "$stubs/cuda/lib64"
touch "$stubs/cuda/include/cuda_runtime_api.h" "$stubs/cuda/lib64/libcudart_static.a"
stub cuda/bin/nvcc 'exit 0'

fail() {
  echo "$1; output and calls were:"
  cat "$TEST_TMPDIR/output" "$log"
  exit 1
}

# Runs tools/setup $OPTIONS under the given settings; fails unless it exits with
# $1.
OPTIONS=""
run() {
  local expected="$1" code=0
  shift
  : >"$log"
  env -i PATH="$stubs" TEST_TMPDIR="$TEST_TMPDIR" MISSING="" \
    CUDA_HOME="$stubs/cuda" "$@" \
    bash "$setup" $OPTIONS >"$TEST_TMPDIR/output" 2>&1 || code=$?
  [[ "$code" == "$expected" ]] || fail "exit code $code, expected $expected ($*)"
}
silent() { [[ ! -s "$TEST_TMPDIR/output" && ! -s "$log" ]] || fail "was not silent"; }
says() { grep -qF -- "$1" "$TEST_TMPDIR/output" || fail "did not say: $1"; }
calls() { grep -qxF -- "$1" "$log" || fail "did not call: $1"; }

# Everything is there: silent, and apt is left alone.
run 0
silent

# Root: says what, then installs exactly what is missing.
run 0 MISSING="g++ libzstd-dev"
says "will run, as root: apt-get update, then apt-get install --yes --no-install-recommends g++ libzstd-dev"
calls "apt-get update"
calls "apt-get install --yes --no-install-recommends g++ libzstd-dev"

# Lists that cannot be updated are no reason to give up.
run 0 MISSING="g++" UPDATE_CODE=1
says "trying with the lists at hand"
run 1 MISSING="g++" UNKNOWN="g++"
says "apt could not install: g++"

# An ordinary user without sudo is told what to run.
run 1 MISSING="g++" USER_ID=1000
says "As root, run: apt-get install --yes --no-install-recommends g++"
[[ ! -s "$log" ]] || fail "called apt-get without being root"

# The Python module's packages are installed by themselves.
run 0 MISSING="g++ python3-numpy"
calls "apt-get install --yes --no-install-recommends g++"
calls "apt-get install --yes --no-install-recommends python3-numpy"

# Without them the set-up succeeds and says in one line what is left out.
left_out="the Python module is left out. With it, as root: apt-get install --yes --no-install-recommends pybind11-dev python3-dev"
run 0 MISSING="python3-dev pybind11-dev" UNKNOWN="pybind11-dev"
says "$left_out"
run 0 MISSING="python3-dev pybind11-dev" USER_ID=1000
says "$left_out"
[[ "$(<"$TEST_TMPDIR/output")" != *$'\n'* ]] || fail "said more than one line"
[[ ! -s "$log" ]] || fail "called apt-get without being root"

# The command alone does not ask for them.
OPTIONS="--command" run 0 MISSING="python3-dev pybind11-dev"
silent
OPTIONS="--command" run 0 MISSING="g++ python3-dev"
calls "apt-get install --yes --no-install-recommends g++"

# With sudo it goes through sudo.
stub sudo 'echo "sudo $*" >>"$TEST_TMPDIR/log"; exec "$@"'
run 0 MISSING="g++" USER_ID=1000
calls "sudo apt-get update"
calls "sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends g++"

# Another Bazel, no apt at all.
run 1 BAZEL_VERSION=6.0.0
says "needs bazel-bootstrap 4.2.3, found 6.0.0"
rm "$stubs/apt-get"
run 1
says "this system has no apt."
