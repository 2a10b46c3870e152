"""Benchmarks that also run for a moment among the tests."""

def kvsim_cc_benchmark(name, srcs, deps = [], data = []):
    """A Google Benchmark binary and a smoke test of it.

    The binary `name` is what a person runs; `name + "_smoke_test"` runs every
    benchmark of the file once or twice, so a benchmark that no longer works
    fails the tests. Add the binary to the list in //tools:benchmarks.

    Args:
      name: by convention the file's name, `..._benchmark`.
      srcs: the benchmark's source; the main is supplied.
      deps: what it measures.
      data: files it reads.
    """
    native.cc_binary(
        name = name,
        srcs = srcs,
        data = data,
        testonly = True,
        visibility = ["//tools:__pkg__"],
        deps = deps + ["//third_party:benchmark_main"],
    )
    native.sh_test(
        name = name + "_smoke_test",
        size = "small",
        srcs = ["//tools:run_benchmark_once.sh"],
        args = ["$(location :%s)" % name],
        data = [":" + name],
    )
