#!/bin/bash
# Runs a file of unittests with the distribution's Python, which finds modules
# beside it. Usage: run_python_test.sh TEST.py
set -euo pipefail

PYTHONPATH="$PWD/$(dirname "$1")" exec /usr/bin/python3 -B "$1" --verbose
