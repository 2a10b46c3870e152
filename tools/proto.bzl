"""C++ from .proto files with the distribution's protoc."""

def kvsim_cc_proto_library(name, srcs, deps = [], visibility = None, testonly = False):
    """A cc_library of the messages in `srcs`.

    A message file is named from the root of the project, in `import` and in
    `#include` alike: `import "sim/report.proto"`, `#include
    "sim/report.pb.h"`.

    Args:
      name: the library; `name + "_srcs"` holds the .proto files themselves.
      srcs: .proto files of this package.
      deps: other kvsim_cc_proto_library targets whose files `srcs` import.
      visibility: of the library and of the files.
      testonly: as everywhere.
    """
    native.filegroup(
        name = name + "_srcs",
        srcs = srcs + [_sources_of(dep) for dep in deps],
        testonly = testonly,
        visibility = visibility,
    )
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + ".pb.h" for stem in stems]
    sources = [stem + ".pb.cc" for stem in stems]
    native.genrule(
        name = name + "_protoc",
        srcs = srcs + [name + "_srcs"],
        outs = headers + sources,
        cmd = "protoc --proto_path=. --cpp_out=$(GENDIR) " +
              " ".join(["$(location %s)" % src for src in srcs]),
        message = "Generating C++ of",
        testonly = testonly,
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        testonly = testonly,
        visibility = visibility,
        deps = deps + ["//third_party:protobuf"],
    )

def _sources_of(dep):
    """The label of the file group that belongs to the library `dep`."""
    if ":" in dep:
        return dep + "_srcs"
    return "%s:%s_srcs" % (dep, dep.split("/")[-1])
