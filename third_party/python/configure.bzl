"""Whether the distribution's Python can have a module, and where its headers are."""

# Prints the folder of Python.h when everything is there: Python's headers,
# pybind11's (which the compiler finds by itself) and numpy.
_PROBE = """
import importlib.util, os, sysconfig
include = sysconfig.get_path("include")
headers = [include + "/Python.h", "/usr/include/pybind11/pybind11.h"]
if all(map(os.path.exists, headers)) and importlib.util.find_spec("numpy"):
    print(include)
"""

def _system_python_impl(ctx):
    # -I: neither the caller's environment nor their packages.
    found = ctx.execute(["/usr/bin/python3", "-I", "-c", _PROBE])
    include = found.stdout.strip() if found.return_code == 0 else ""
    ctx.file("BUILD.bazel", "")
    ctx.file("defs.bzl", "PYTHON_INCLUDE = %s\n" % repr(include))

# Repository with defs.bzl: PYTHON_INCLUDE is the folder of Python.h, or empty
# when the distribution's packages for a Python module are not all installed.
#
# Bazel asks again when its server starts and when KVSIM_PYTHON changes, which
# tools/bazel_env.sh sets to what is installed. By hand:
# `bazel sync --only=system_python`.
system_python = repository_rule(
    implementation = _system_python_impl,
    configure = True,
    environ = ["KVSIM_PYTHON"],
    local = True,
)
