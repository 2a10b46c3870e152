// Block hashes that logs write as text.
#ifndef KVSIM_TRACES_HASH_NAME_H_
#define KVSIM_TRACES_HASH_NAME_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kvsim {

inline constexpr char kAcceptedHashName[] =
    "hexadecimal digits, with or without 0x, or an integer of 64 bits";

// The id of a hash in hexadecimal digits, in any case, with or without 0x: its
// number when that has at most 64 bits, else a 64-bit hash of it, so that equal
// hashes have equal ids and others differ but for collisions of 64 bits.
// Nothing when it is no such text.
std::optional<uint64_t> HashNameToId(absl::string_view name);

}  // namespace kvsim

#endif  // KVSIM_TRACES_HASH_NAME_H_
