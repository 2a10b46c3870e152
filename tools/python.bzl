"""Modules for the distribution's Python, and tests of them.

All of it vanishes where the packages they need are not installed
(third_party/python/configure.bzl), so that C++ builds and tests do without.
"""

load("@system_python//:defs.bzl", "PYTHON_INCLUDE")

# A module is a shared object. Its objects are position independent, and the
# distribution's libraries are linked as shared ones, since their archives are
# not. Hidden symbols are called directly and meet no other module's.
def _shared_transition_impl(settings, attr):
    copt = "//command_line_option:copt"
    return {
        "//third_party:shared": True,
        copt: settings[copt] + ["-fvisibility=hidden"],
    }

_shared_transition = transition(
    implementation = _shared_transition_impl,
    inputs = ["//command_line_option:copt"],
    outputs = ["//command_line_option:copt", "//third_party:shared"],
)

def _shared_module_impl(ctx):
    module = ctx.actions.declare_file(ctx.attr.module + ".so")
    ctx.actions.symlink(output = module, target_file = ctx.file.binary)
    return [DefaultInfo(
        files = depset([module]),
        runfiles = ctx.runfiles([module]),
    )]

_shared_module = rule(
    implementation = _shared_module_impl,
    attrs = {
        "binary": attr.label(allow_single_file = True, cfg = _shared_transition),
        "module": attr.string(),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

def kvsim_python_module(name, module, srcs, deps = [], visibility = None):
    """The Python module `module`: `import module` finds the built MODULE.so.

    Everything below it is compiled a second time, position independent.

    Args:
      name: of the target.
      module: what Python calls it.
      srcs: sources with pybind11 in them, and their headers.
      deps: libraries that know nothing of Python.
      visibility: as everywhere.
    """
    if not PYTHON_INCLUDE:
        return
    native.cc_binary(
        name = name + "_binary.so",
        srcs = srcs,
        copts = ["-isystem", PYTHON_INCLUDE],
        linkshared = True,
        tags = ["manual"],
        visibility = ["//visibility:private"],
        deps = deps,
    )
    _shared_module(
        name = name,
        binary = ":%s_binary.so" % name,
        module = module,
        tags = ["no-sanitizer"],
        visibility = visibility,
    )

def kvsim_python_test(name, src, module, size, data = []):
    """Runs the unittests of `src` with the distribution's Python.

    Args:
      name: of the test.
      src: the file of tests.
      module: target of kvsim_python_module that it imports, of this package.
      size: as everywhere.
      data: files that the tests read, by their paths in the project.
    """
    if not PYTHON_INCLUDE:
        return
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools:run_python_test.sh"],
        args = ["$(location %s)" % src],
        data = data + [src, module],
        # Python itself is not instrumented.
        tags = ["no-sanitizer"],
    )
