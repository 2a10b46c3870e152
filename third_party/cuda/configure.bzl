"""Whether CUDA's compiler is installed, and where."""

def _local_cuda_impl(ctx):
    found = []
    if ctx.os.environ.get("KVSIM_CUDA") != "off":
        found = ctx.execute([ctx.path(ctx.attr._find)]).stdout.split("\n")
    root = found[0] if len(found) > 2 else ""
    lib = found[1] if root else ""
    build = ['package(default_visibility = ["//visibility:public"])']
    if root:
        ctx.symlink(root + "/include", "include")
        build += [
            "cc_library(",
            '    name = "cudart",',
            '    hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/*", "include/nv/**"]),',
            '    includes = ["include"],',
            '    linkopts = ["-L%s", "-lcudart_static", "-ldl", "-lrt", "-pthread"],' % lib,
            ")",
        ]
    ctx.file("BUILD.bazel", "\n".join(build) + "\n")
    ctx.file("defs.bzl", "CUDA_ROOT = %s\n" % repr(root))

# Repository with defs.bzl: CUDA_ROOT is the folder of CUDA, or empty when nvcc, the
# runtime's headers and libcudart_static.a are not all there. With them the library
# :cudart is the static CUDA runtime and its headers.
#
# Bazel asks again when its server starts and when CUDA_HOME changes; by hand:
# `bazel sync --only=local_cuda`. `--repo_env=KVSIM_CUDA=off` builds as if there were
# no CUDA.
local_cuda = repository_rule(
    implementation = _local_cuda_impl,
    attrs = {"_find": attr.label(default = "//third_party/cuda:find_cuda.sh")},
    configure = True,
    environ = [
        "CUDA_HOME",
        "KVSIM_CUDA",
        "PATH",
    ],
    local = True,
)
