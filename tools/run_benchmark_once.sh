#!/bin/bash
# Runs every benchmark of one binary for about a millisecond.
# Usage: run_benchmark_once.sh BINARY
set -eu
exec "$1" --benchmark_min_time=0.001
