#include "kernels/hash_prefixes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace kvsim {
namespace {

// Keys are stored as they stand in memory.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
static_assert(sizeof(XXH128_hash_t) == 16 &&
              offsetof(XXH128_hash_t, high64) == 8);

void Hash(const std::byte* message, size_t bytes, uint64_t* key) {
  *key = XXH3_64bits(message, bytes);
}
void Hash(const std::byte* message, size_t bytes, XXH128_hash_t* key) {
  *key = XXH3_128bits(message, bytes);
}

// `message` has room for a key and the tokens of a block.
template <typename Key>
void HashPrompt(const HashPrefixesArgs& args, int64_t prompt,
                std::byte* message) {
  const size_t token_bytes = size_t{4} * static_cast<size_t>(args.block_tokens);
  Key key = {};
  std::memcpy(&key, &args.salts[prompt], sizeof(uint64_t));
  const int64_t num_keys = args.NumKeys(prompt);
  for (int64_t block = 0; block < num_keys; ++block) {
    std::memcpy(message, &key, sizeof(Key));
    std::memcpy(message + sizeof(Key), args.Block(prompt, block), token_bytes);
    Hash(message, sizeof(Key) + token_bytes, &key);
    std::memcpy(args.Key(prompt, block), &key, sizeof(Key));
  }
}

}  // namespace

LaunchStatus CheckHashPrefixes(const HashPrefixesArgs& args) {
  if (args.block_tokens < 1) {
    return LaunchStatus::BadArgument("block_tokens must be positive");
  }
  if (args.num_prompts < 0) {
    return LaunchStatus::BadArgument("num_prompts is negative");
  }
  if (args.width != KeyWidth::k64Bits && args.width != KeyWidth::k128Bits) {
    return LaunchStatus::BadArgument("width must be 64 or 128 bits");
  }
  return LaunchStatus::Ok();
}

LaunchStatus HashPrefixesOnHost(const HashPrefixesArgs& args) {
  const LaunchStatus status = CheckHashPrefixes(args);
  if (!status.ok()) return status;
  std::vector<std::byte> message(static_cast<size_t>(args.MessageBytes()));
  for (int64_t prompt = 0; prompt < args.num_prompts; ++prompt) {
    if (args.width == KeyWidth::k64Bits) {
      HashPrompt<uint64_t>(args, prompt, message.data());
    } else {
      HashPrompt<XXH128_hash_t>(args, prompt, message.data());
    }
  }
  return status;
}

}  // namespace kvsim
