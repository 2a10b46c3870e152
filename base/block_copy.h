// One block copied onto another of the same cache group: copy on write.
#ifndef KVSIM_BASE_BLOCK_COPY_H_
#define KVSIM_BASE_BLOCK_COPY_H_

#include "base/block_id.h"

namespace kvsim {

struct BlockCopy {
  int group = 0;
  BlockId from = kNullBlock;
  BlockId to = kNullBlock;

  friend bool operator==(const BlockCopy&, const BlockCopy&) = default;
};

}  // namespace kvsim

#endif  // KVSIM_BASE_BLOCK_COPY_H_
