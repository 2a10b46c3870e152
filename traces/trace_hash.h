// A fingerprint of a trace, for a report's manifest.
#ifndef KVSIM_TRACES_TRACE_HASH_H_
#define KVSIM_TRACES_TRACE_HASH_H_

#include <string>

#include "absl/status/statusor.h"

namespace kvsim {

// XXH3-64 of the file's bytes as stored, 16 hex digits. Of a folder: of the
// names and bytes of its regular files, in the order of their names. Errors
// name the file. Costs: one read of everything, some GB/s.
absl::StatusOr<std::string> TraceHash(const std::string& path);

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_HASH_H_
