// The keys under which full blocks of prompts are found again.
//
// Model:      keys of a prompt are a chain: key i is the hash of key i − 1 and the
//             tokens of block i, so it stands for all tokens up to there. The part
//             behind the last full block has no key.
//               64 bits:  key i = XXH3_64bits(key i − 1 ‖ tokens), 8 bytes before
//                         the tokens; the key before the first is the salt.
//               128 bits: key i = XXH3_128bits(key i − 1 ‖ tokens), 16 bytes before
//                         the tokens; the key before the first is the salt and 8
//                         zero bytes.
//             Tokens are 4 bytes, numbers are little endian, there is no seed. A key
//             of 128 bits is stored as its low and its high word, which is the
//             library's canonical form read from its last byte to its first.
// Shapes:     token_starts, key_starts [num_prompts + 1], salts [num_prompts],
//             token_ids [token_starts[num_prompts]], keys
//             [key_starts[num_prompts]][WordsPerKey(width)]. Prompt p's keys are
//             those from key_starts[p]; room beyond its full blocks is left alone.
// Units:      tokens, keys.
// Costs:      4 bytes read per token, a key written per block. The chain is serial:
//             on the device a warp has one prompt, its lanes do for 32 blocks at
//             once what does not need the key before (kernels/xxh3.h), then finish
//             them one after another. Prompts are independent.
// Errors:     BadArgument naming the argument; key_starts must leave room for every
//             full block, which is not checked.
// Source:     xxHash 0.8.1: the library on the host, kernels/xxh3.h on the device.
#ifndef KVSIM_KERNELS_HASH_PREFIXES_H_
#define KVSIM_KERNELS_HASH_PREFIXES_H_

#include <cstdint>

#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/xxh3.h"

namespace kvsim {

enum class KeyWidth : uint8_t { k64Bits, k128Bits };

KVSIM_HOST_DEVICE constexpr int WordsPerKey(KeyWidth width) {
  return width == KeyWidth::k64Bits ? 1 : 2;
}

// The second word is only of keys of 128 bits.
using ChainKey = xxh3::Hash128;

struct HashPrefixesArgs {
  KeyWidth width = KeyWidth::k64Bits;
  int32_t block_tokens = 0;
  const int32_t* token_ids = nullptr;
  const int64_t* token_starts = nullptr;
  const uint64_t* salts = nullptr;
  int64_t num_prompts = 0;
  const int64_t* key_starts = nullptr;
  uint64_t* keys = nullptr;

  KVSIM_HOST_DEVICE int64_t NumKeys(int64_t prompt) const {
    return (token_starts[prompt + 1] - token_starts[prompt]) / block_tokens;
  }
  KVSIM_HOST_DEVICE const int32_t* Block(int64_t prompt, int64_t block) const {
    return token_ids + token_starts[prompt] + block * block_tokens;
  }
  KVSIM_HOST_DEVICE uint64_t* Key(int64_t prompt, int64_t block) const {
    return keys + (key_starts[prompt] + block) * WordsPerKey(width);
  }
  // Bytes that are hashed for a key.
  KVSIM_HOST_DEVICE int64_t MessageBytes() const {
    return 8 * WordsPerKey(width) + int64_t{4} * block_tokens;
  }
};

// What is hashed: a key and tokens, as if they stood behind one another.
template <KeyWidth kWidth>
struct ChainMessage {
  ChainKey before;
  const int32_t* tokens = nullptr;

  // REQUIRES: offset is a multiple of 4.
  KVSIM_HOST_DEVICE uint64_t Word(int64_t offset) const {
    return Half(offset) | uint64_t{Half(offset + 4)} << 32;
  }

 private:
  KVSIM_HOST_DEVICE uint32_t Half(int64_t offset) const {
    constexpr int64_t kKeyBytes = 8 * WordsPerKey(kWidth);
    if (offset >= kKeyBytes) {
      return static_cast<uint32_t>(tokens[(offset - kKeyBytes) / 4]);
    }
    const uint64_t word = offset < 8 ? before.low : before.high;
    return static_cast<uint32_t>(word >> (offset % 8 * 8));
  }
};

// A key in two steps: Begin for any block at any time, Finish once the key before
// is there. Blocks so short that the steps overlap are left to Finish.
template <KeyWidth kWidth>
struct ChainStep;

template <>
struct ChainStep<KeyWidth::k64Bits> {
  using Message = ChainMessage<KeyWidth::k64Bits>;
  using Rest = xxh3::Rest64;

  KVSIM_HOST_DEVICE static Rest Begin(const int32_t* tokens, int64_t bytes) {
    if (xxh3::RestBegin64(bytes) < 8) return {};
    return xxh3::RestOf64(Message{{}, tokens}, bytes);
  }
  KVSIM_HOST_DEVICE static ChainKey Finish(Rest rest, const ChainKey& before,
                                           const int32_t* tokens,
                                           int64_t bytes) {
    const Message message = {before, tokens};
    if (xxh3::RestBegin64(bytes) < 8) rest = xxh3::RestOf64(message, bytes);
    return {xxh3::Finish64(rest, message, bytes), 0};
  }
};

template <>
struct ChainStep<KeyWidth::k128Bits> {
  using Message = ChainMessage<KeyWidth::k128Bits>;
  using Rest = xxh3::Rest128;

  KVSIM_HOST_DEVICE static Rest Begin(const int32_t* tokens, int64_t bytes) {
    if (xxh3::RestBegin128(bytes) < 16) return {};
    return xxh3::RestOf128(Message{{}, tokens}, bytes);
  }
  KVSIM_HOST_DEVICE static ChainKey Finish(Rest rest, const ChainKey& before,
                                           const int32_t* tokens,
                                           int64_t bytes) {
    const Message message = {before, tokens};
    if (xxh3::RestBegin128(bytes) < 16) rest = xxh3::RestOf128(message, bytes);
    return xxh3::Finish128(rest, message, bytes);
  }
};

// What both check.
LaunchStatus CheckHashPrefixes(const HashPrefixesArgs& args);

LaunchStatus HashPrefixesOnHost(const HashPrefixesArgs& args);
LaunchStatus LaunchHashPrefixes(const HashPrefixesArgs& args,
                                DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_HASH_PREFIXES_H_
