// What the build knows about itself. Defined by a stamped file that Bazel
// writes, so only the program names it, not the libraries that tests link.

#ifndef KVSIM_TOOLS_BUILD_INFO_H_
#define KVSIM_TOOLS_BUILD_INFO_H_

namespace kvsim {

// The commit the program was built from: "85030e8a1b2c", with "-modified" behind
// it when files differed from the commit; "unknown" outside a checkout.
extern const char kBuildCommit[];

}  // namespace kvsim

#endif  // KVSIM_TOOLS_BUILD_INFO_H_
