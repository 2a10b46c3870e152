// Is told when a prefix becomes hittable in a block pool and when it ceases to be.
//
// Model:      for whoever explains a miss. One block that gets a key is one OnKeyed;
//             the block's being taken for other tokens is one OnDropped. Several
//             blocks may carry one key: it is gone when all of them have dropped it.
#ifndef KVSIM_ALLOCATOR_KEY_LISTENER_H_
#define KVSIM_ALLOCATOR_KEY_LISTENER_H_

#include "allocator/prefix_index.h"

namespace kvsim {

class KeyListener {
 public:
  virtual ~KeyListener() = default;
  // `group` is the one that holds, or held, the block.
  virtual void OnKeyed(int group, BlockKey key) = 0;
  virtual void OnDropped(int group, BlockKey key) = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ALLOCATOR_KEY_LISTENER_H_
