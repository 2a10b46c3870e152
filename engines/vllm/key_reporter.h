// Says on whose behalf keys appear in the pool and vanish from it.
#ifndef KVSIM_ENGINES_VLLM_KEY_REPORTER_H_
#define KVSIM_ENGINES_VLLM_KEY_REPORTER_H_

#include <cstddef>
#include <cstdint>

#include "allocator/key_listener.h"
#include "engines/cache_listener.h"
#include "engines/engine.h"
#include "engines/vllm/prefix_lookup.h"

namespace kvsim::vllm {

struct KeyReporter final : public KeyListener {
  CacheListener* listener = nullptr;  // null: the pool does not call
  RequestId acting = 0;               // the request that takes or keys blocks

  void OnKeyed(int group, BlockKey key) override {
    listener->OnKeyed(acting, group, ChainKey(key, static_cast<size_t>(group)));
  }
  void OnDropped(int group, BlockKey key) override {
    listener->OnEvicted(acting, group,
                        ChainKey(key, static_cast<size_t>(group)));
  }
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_KEY_REPORTER_H_
