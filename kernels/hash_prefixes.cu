#include "kernels/hash_prefixes.h"
#include "kernels/launch.cuh"

namespace kvsim {
namespace {

constexpr int kWarp = 32;
constexpr uint32_t kAllLanes = 0xFFFFFFFF;

// Finishes the blocks that the lanes have begun, lane by lane, and has every lane
// write its own key. `key` is the one before and becomes the last one.
template <KeyWidth kWidth>
__device__ void FinishInOrder(const HashPrefixesArgs& args, int64_t prompt,
                              int64_t first, int count, int lane,
                              const typename ChainStep<kWidth>::Rest& rest,
                              ChainKey* key) {
  const int32_t* tokens = args.Block(prompt, first + lane);
  ChainKey mine;
  for (int turn = 0; turn < count; ++turn) {
    if (lane == turn) {
      mine = ChainStep<kWidth>::Finish(rest, *key, tokens, args.MessageBytes());
    }
    key->low = __shfl_sync(kAllLanes, mine.low, turn);
    if (kWidth == KeyWidth::k128Bits) {
      key->high = __shfl_sync(kAllLanes, mine.high, turn);
    }
  }
  if (lane >= count) return;
  uint64_t* to = args.Key(prompt, first + lane);
  to[0] = mine.low;
  if (kWidth == KeyWidth::k128Bits) to[1] = mine.high;
}

// One warp per prompt.
template <KeyWidth kWidth>
__global__ void __launch_bounds__(kThreadsPerBlock)
    HashPrefixesKernel(HashPrefixesArgs args) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int64_t prompt = GlobalThread() / kWarp; prompt < args.num_prompts;
       prompt += GlobalThreads() / kWarp) {
    const int64_t num_keys = args.NumKeys(prompt);
    ChainKey key = {args.salts[prompt], 0};
    for (int64_t first = 0; first < num_keys; first += kWarp) {
      const int64_t left = num_keys - first;
      const int count = left < kWarp ? static_cast<int>(left) : kWarp;
      typename ChainStep<kWidth>::Rest rest;
      if (lane < count) {
        rest = ChainStep<kWidth>::Begin(args.Block(prompt, first + lane),
                                        args.MessageBytes());
      }
      FinishInOrder<kWidth>(args, prompt, first, count, lane, rest, &key);
    }
  }
}

}  // namespace

LaunchStatus LaunchHashPrefixes(const HashPrefixesArgs& args,
                                DeviceStream stream) {
  const LaunchStatus status = CheckHashPrefixes(args);
  if (!status.ok() || args.num_prompts == 0) return status;
  const auto kernel = args.width == KeyWidth::k64Bits
                          ? HashPrefixesKernel<KeyWidth::k64Bits>
                          : HashPrefixesKernel<KeyWidth::k128Bits>;
  return LaunchKernel(kernel,
                      GridBlocks(args.num_prompts, kThreadsPerBlock / kWarp),
                      kThreadsPerBlock, args, stream);
}

}  // namespace kvsim
