// The version that `kvsim --version` and every report's manifest print.

#ifndef KVSIM_TOOLS_VERSION_H_
#define KVSIM_TOOLS_VERSION_H_

namespace kvsim {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace kvsim

#endif  // KVSIM_TOOLS_VERSION_H_
