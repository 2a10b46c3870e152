"""Modules for the distribution's Python, and tests of them.

All of it vanishes where the packages they need are not installed
(third_party/python/configure.bzl), so that C++ builds and tests do without.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@system_python//:defs.bzl", "PYTHON_INCLUDE")

# The distribution's libraries, which labels link statically, as shared ones: their
# archives are not position independent.
def _shared_flags(flags):
    shared = []
    for flag in flags:
        if flag not in ["-Wl,-Bstatic", "-Wl,-Bdynamic"]:
            shared.append(flag.replace("-Wl,-Bstatic,", "").replace(",-Bdynamic", ""))
    return shared

# A module is a shared object of the very objects that the command is linked from. It
# exports its entry alone, so nothing in it meets another module's symbols.
def _shared_module_impl(ctx):
    module = ctx.actions.declare_file(ctx.attr.module + ".so")
    exports = ctx.actions.declare_file(ctx.label.name + ".exports")
    entry = "PyInit_" + ctx.attr.module
    ctx.actions.write(exports, "{ global: %s; local: *; };\n" % entry)
    archives = []
    flags = []
    for dep in ctx.attr.deps:
        for part in dep[CcInfo].linking_context.linker_inputs.to_list():
            flags += _shared_flags(part.user_link_flags)
            for library in part.libraries:
                archives.append(library.pic_static_library or library.static_library)
    toolchain = find_cpp_toolchain(ctx)
    arguments = ctx.actions.args()
    arguments.add_all(["-shared", "-s", "-o", module])
    arguments.add(exports, format = "-Wl,--version-script=%s")
    arguments.add(entry, format = "-Wl,-u,%s")
    arguments.add("-Wl,--start-group")
    arguments.add_all(archives)
    arguments.add("-Wl,--end-group")
    arguments.add_all(flags)
    arguments.add("-lstdc++")
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = [arguments],
        inputs = depset(archives + [exports], transitive = [toolchain.all_files]),
        outputs = [module],
        mnemonic = "PythonModuleLink",
        use_default_shell_env = True,
    )
    return [DefaultInfo(
        files = depset([module]),
        runfiles = ctx.runfiles([module]),
    )]

_shared_module = rule(
    implementation = _shared_module_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "module": attr.string(),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def kvsim_python_module(name, module, srcs, deps = [], visibility = None):
    """The Python module `module`: `import module` finds the built MODULE.so.

    Args:
      name: of the target.
      module: what Python calls it.
      srcs: sources with pybind11 in them, and their headers.
      deps: libraries that know nothing of Python.
      visibility: as everywhere.
    """
    if not PYTHON_INCLUDE:
        return
    native.cc_library(
        name = name + "_sources",
        srcs = srcs,
        copts = [
            "-isystem",
            PYTHON_INCLUDE,
            "-fvisibility=hidden",
        ],
        visibility = ["//visibility:private"],
        deps = deps,
    )
    _shared_module(
        name = name,
        deps = [":%s_sources" % name],
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
