// SipHash-2-4: a keyed hash of 64 bits that cannot be undone, and whose values
// cannot be guessed, without the key.
//
// Source:     Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).
#ifndef KVSIM_TRACES_SIP_HASH_H_
#define KVSIM_TRACES_SIP_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace kvsim {

struct SipKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

uint64_t SipHash(const SipKey& key, absl::string_view bytes);

}  // namespace kvsim

#endif  // KVSIM_TRACES_SIP_HASH_H_
