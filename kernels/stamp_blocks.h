// Who owns a block, since when, and what it holds: written, and checked by readers.
//
// Model:      every block of a cache group has a tag beside its pages. Whoever has
//             filled a block stamps it with its name, with the generation of the
//             block (one more each time that it is given out) and with a checksum
//             of the leading `bytes` of its page in all layers. A reader states
//             owner and generation of what its table promised and gets a verdict:
//               wrong owner       another sequence was given this block as well,
//               stale generation  the table is older than the block's contents,
//               torn contents     a copy did not arrive whole or in its place.
// Checksum:   the sum mod 2^64 of Mix(word, index) over the 8-byte little-endian
//             words of the pages, plus Mix(bytes, -2). The words of a layer are
//             numbered on from those of the layer before; the last word of a page
//             is filled up with zero bytes. Mix is a bijection of words for every
//             index, so a change inside one word is always found, any other one
//             but for one in 2^64. Sums may be added in any order: the device adds
//             up the same number as the host. The block's id is not part of it; a
//             tag may move with its pages.
// Shapes:     pages as in paged_layers.h, tags [pages.num_blocks]; blocks, owners,
//             generations and verdicts [num_blocks].
// Units:      bytes.
// Costs:      reads num_blocks · num_layers · bytes; a verdict of wrong owner or
//             stale generation reads no page.
// Errors:     BadArgument naming the argument; ids must lie in the pool, which is
//             not checked. Entries of the null block are passed over and are ok.
//             A block that is stamped twice at once keeps one owner of the two, so
//             at least one of them will be told.
#ifndef KVSIM_KERNELS_STAMP_BLOCKS_H_
#define KVSIM_KERNELS_STAMP_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/block_id.h"
#include "kernels/host_device.h"
#include "kernels/launch.h"
#include "kernels/paged_layers.h"

namespace kvsim {

struct BlockTag {
  uint64_t owner = 0;
  uint64_t generation = 0;
  uint64_t checksum = 0;

  friend bool operator==(const BlockTag&, const BlockTag&) = default;
};

// The first that applies, in this order after kOk.
enum class BlockVerdict : uint8_t {
  kOk,
  kWrongOwner,
  kStaleGeneration,
  kTornContents,
};

// What is read of a block, in parts that may be added up in any order.
struct BlockContents {
  // A part is so much of one layer's page, or what is left of it.
  static constexpr int64_t kPartBytes = 4096;

  PagedLayers pages;
  int64_t bytes = 0;

  KVSIM_HOST_DEVICE int64_t PartsPerLayer() const {
    return (bytes + kPartBytes - 1) / kPartBytes;
  }
  KVSIM_HOST_DEVICE int64_t NumParts() const {
    return PartsPerLayer() * pages.num_layers;
  }

  // Of splitmix64 (Steele, Lea, Flood 2014): steps that can each be undone.
  KVSIM_HOST_DEVICE static uint64_t Mix(uint64_t word, int64_t index) {
    uint64_t x = word + (static_cast<uint64_t>(index) + 1) * 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  // What a checksum of any contents starts with.
  KVSIM_HOST_DEVICE uint64_t Seed() const {
    return Mix(static_cast<uint64_t>(bytes), -2);
  }

  // The share of `lane` among `lanes` in a part of a block's checksum.
  KVSIM_HOST_DEVICE uint64_t SumOfPart(int64_t block, int64_t part, int lane,
                                       int lanes) const {
    const auto layer = static_cast<int32_t>(part / PartsPerLayer());
    const int64_t begin = part % PartsPerLayer() * kPartBytes;
    const int64_t left = bytes - begin;
    const int64_t size = left < kPartBytes ? left : kPartBytes;
    const std::byte* from = pages.Page(layer, block) + begin;
    const int64_t index = layer * ((bytes + 7) / 8) + begin / 8;
    const int64_t whole = IsAligned(from, 16) ? size / 16 * 16 : 0;
    uint64_t sum = 0;
    for (int64_t i = int64_t{16} * lane; i < whole; i += int64_t{16} * lanes) {
      const Pair words = AlignedPair(from + i);
      sum += Mix(words.first, index + i / 8) +
             Mix(words.second, index + i / 8 + 1);
    }
    for (int64_t i = whole + int64_t{8} * lane; i < size;
         i += int64_t{8} * lanes) {
      sum += Mix(Word(from + i, size - i), index + i / 8);
    }
    return sum;
  }

 private:
  struct alignas(16) Pair {
    uint64_t first;
    uint64_t second;
  };

  KVSIM_HOST_DEVICE static bool IsAligned(const void* address, uintptr_t to) {
    return reinterpret_cast<uintptr_t>(address) % to == 0;
  }
  KVSIM_HOST_DEVICE static Pair AlignedPair(const std::byte* from) {
    Pair pair;
    memcpy(&pair, __builtin_assume_aligned(from, 16), sizeof(pair));
    return pair;
  }
  KVSIM_HOST_DEVICE static uint64_t Word(const std::byte* from, int64_t left) {
    uint64_t word = 0;
    if (left >= 8 && IsAligned(from, 8)) {
      memcpy(&word, __builtin_assume_aligned(from, 8), sizeof(word));
      return word;
    }
    for (int i = 0; i < 8 && i < left; ++i) {
      word |= static_cast<uint64_t>(from[i]) << (8 * i);
    }
    return word;
  }
};

struct StampBlocksArgs {
  PagedLayers pages;
  BlockTag* tags = nullptr;
  const BlockId* blocks = nullptr;
  const uint64_t* owners = nullptr;
  const uint64_t* generations = nullptr;
  int64_t num_blocks = 0;
  int64_t bytes = 0;  // leading bytes of a page, at most pages.block_stride

  KVSIM_HOST_DEVICE BlockContents Contents() const { return {pages, bytes}; }
  KVSIM_HOST_DEVICE void Stamp(int64_t i, uint64_t checksum) const {
    tags[blocks[i]] = {owners[i], generations[i], checksum};
  }
};

struct VerifyBlocksArgs {
  PagedLayers pages;
  const BlockTag* tags = nullptr;
  const BlockId* blocks = nullptr;
  const uint64_t* owners = nullptr;       // expected
  const uint64_t* generations = nullptr;  // expected
  int64_t num_blocks = 0;
  int64_t bytes = 0;
  BlockVerdict* verdicts = nullptr;

  KVSIM_HOST_DEVICE BlockContents Contents() const { return {pages, bytes}; }
  // What the tag says; its checksum is still to be compared if that is ok.
  KVSIM_HOST_DEVICE BlockVerdict VerdictOfTag(int64_t i) const {
    const BlockTag& tag = tags[blocks[i]];
    if (tag.owner != owners[i]) return BlockVerdict::kWrongOwner;
    if (tag.generation != generations[i]) return BlockVerdict::kStaleGeneration;
    return BlockVerdict::kOk;
  }
  KVSIM_HOST_DEVICE BlockVerdict VerdictOfContents(int64_t i,
                                                   uint64_t checksum) const {
    return tags[blocks[i]].checksum == checksum ? BlockVerdict::kOk
                                                : BlockVerdict::kTornContents;
  }
};

// What both check.
LaunchStatus CheckStampBlocks(const StampBlocksArgs& args);
LaunchStatus CheckVerifyBlocks(const VerifyBlocksArgs& args);

LaunchStatus StampBlocksOnHost(const StampBlocksArgs& args);
LaunchStatus LaunchStampBlocks(const StampBlocksArgs& args,
                               DeviceStream stream);

LaunchStatus VerifyBlocksOnHost(const VerifyBlocksArgs& args);
LaunchStatus LaunchVerifyBlocks(const VerifyBlocksArgs& args,
                                DeviceStream stream);

}  // namespace kvsim

#endif  // KVSIM_KERNELS_STAMP_BLOCKS_H_
