// What the tokens after a prompt's last full hash block are.
#ifndef KVSIM_TRACES_PARTIAL_TAIL_H_
#define KVSIM_TRACES_PARTIAL_TAIL_H_

#include <cstdint>

namespace kvsim {

enum class PartialTail : uint8_t {
  kUnique,  // the request's own: they occupy blocks and never hit. What an
            // engine that hashes whole blocks sees
  kShared,  // the last id's first tokens, when the trace gives the partial
            // block an id (Mooncake); unique otherwise
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_PARTIAL_TAIL_H_
