// BlockId under the allocator's own name.
#ifndef KVSIM_ALLOCATOR_BLOCK_ID_H_
#define KVSIM_ALLOCATOR_BLOCK_ID_H_

#include "base/block_id.h"  // IWYU pragma: export

#endif  // KVSIM_ALLOCATOR_BLOCK_ID_H_
