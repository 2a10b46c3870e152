"""CUDA sources, where nvcc is installed (third_party/cuda/configure.bzl)."""

load("@local_cuda//:defs.bzl", "CUDA_ROOT")

# Machine code for Ampere, Hopper and Blackwell, and PTX for what comes later.
_ARCHITECTURES = [
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_100,code=[sm_100,compute_100]",
]

_FLAGS = [
    "-std=c++20",
    "-O3",
    # As everywhere in kvsim: results must not depend on a*b+c being fused.
    "--fmad=false",
    "-Werror=all-warnings",
    "-Xcompiler=-fPIC,-O2,-Wall,-Wextra,-Wno-missing-field-initializers,-ffp-contract=off",
    "-Xptxas=-v",
]

def _cuda_object_impl(ctx):
    object = ctx.actions.declare_file(ctx.label.name + ".o")
    report = ctx.actions.declare_file(ctx.label.name + ".ptxas.txt")
    headers = depset(transitive = [
        dep[CcInfo].compilation_context.headers
        for dep in ctx.attr.deps
    ])
    ctx.actions.run_shell(
        outputs = [object, report],
        inputs = depset([ctx.file.src] + ctx.files.hdrs, transitive = [headers]),
        # The report is what ptxas says of every kernel; shown when nvcc fails.
        command = "%s/bin/nvcc -I. -ccbin gcc %s -c %s -o %s >%s 2>&1 || { cat %s; exit 1; }" % (
            CUDA_ROOT,
            " ".join(["'%s'" % flag for flag in _FLAGS + _ARCHITECTURES]),
            ctx.file.src.path,
            object.path,
            report.path,
            report.path,
        ),
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s" % ctx.file.src.short_path,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([object])),
        OutputGroupInfo(report = depset([report])),
    ]

_cuda_object = rule(
    implementation = _cuda_object_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".cu"]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh"]),
        "deps": attr.label_list(providers = [CcInfo]),
    },
)

def kvsim_cuda_library(name, src, deps, hdrs = []):
    """Kernels and their launchers; an empty library where nvcc is not installed.

    What ptxas says of them is the file of `name + "_report"`.

    Args:
      name: of the library.
      src: the .cu file.
      deps: libraries whose headers it includes.
      hdrs: .cuh files it includes.
    """
    if not CUDA_ROOT:
        native.cc_library(name = name, deps = deps)
        native.filegroup(name = name + "_report")
        return
    _cuda_object(
        name = name + "_object",
        src = src,
        hdrs = hdrs,
        deps = deps,
    )
    native.filegroup(
        name = name + "_report",
        srcs = [":%s_object" % name],
        output_group = "report",
    )
    native.cc_library(
        name = name,
        srcs = [":%s_object" % name],
        deps = deps + ["@local_cuda//:cudart"],
    )

def kvsim_with_cuda(then, otherwise):
    """`then` where nvcc is installed, else `otherwise`."""
    return then if CUDA_ROOT else otherwise
