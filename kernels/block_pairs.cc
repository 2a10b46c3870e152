#include "kernels/block_pairs.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kvsim {
namespace {

PairsCheck Refuse(size_t index, const char* message) {
  return {LaunchStatus::BadArgument(message), static_cast<int64_t>(index)};
}

constexpr char kFromOutside[] = "a source block is outside its pool";
constexpr char kToOutside[] = "a target block is outside its pool";
constexpr char kTwice[] = "a block is the target of two pairs";
constexpr char kBoth[] = "a block is both a source and a target";

// What a block has been in the list so far.
enum Role : uint8_t { kUnnamed, kSource, kTarget };

// One for every block up to the largest that the pairs name: lists of a hundred
// thousand pairs must cost little beside the copy.
std::vector<Role> NoRoles(std::span<const BlockPair> pairs) {
  size_t largest = 0;
  for (const auto& [from, to] : pairs) {
    largest = std::max<size_t>({largest, from, to});
  }
  return std::vector<Role>(largest + 1, kUnnamed);
}

// The first pair that names a block outside its pool, or Ok.
PairsCheck CheckBounds(std::span<const BlockPair> pairs,
                       int64_t num_from_blocks, int64_t num_to_blocks) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].from >= num_from_blocks) return Refuse(i, kFromOutside);
    if (pairs[i].to >= num_to_blocks) return Refuse(i, kToOutside);
  }
  return {};
}

}  // namespace

PairsCheck CheckCopyPairs(std::span<const BlockPair> pairs,
                          int64_t num_blocks) {
  const PairsCheck bounds = CheckBounds(pairs, num_blocks, num_blocks);
  if (!bounds.ok()) return bounds;
  std::vector<Role> roles = NoRoles(pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [from, to] = pairs[i];
    if (roles[to] == kTarget) return Refuse(i, kTwice);
    if (roles[to] == kSource || roles[from] == kTarget || from == to) {
      return Refuse(i, kBoth);
    }
    roles[from] = kSource;
    roles[to] = kTarget;
  }
  return {};
}

PairsCheck CheckSwapPairs(std::span<const BlockPair> pairs,
                          int64_t num_from_blocks, int64_t num_to_blocks) {
  const PairsCheck bounds = CheckBounds(pairs, num_from_blocks, num_to_blocks);
  if (!bounds.ok()) return bounds;
  std::vector<Role> roles = NoRoles(pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (roles[pairs[i].to] == kTarget) return Refuse(i, kTwice);
    roles[pairs[i].to] = kTarget;
  }
  return {};
}

int64_t RunLength(std::span<const BlockPair> pairs) {
  size_t length = pairs.empty() ? 0 : 1;
  while (length < pairs.size() &&
         pairs[length].from == pairs[length - 1].from + 1 &&
         pairs[length].to == pairs[length - 1].to + 1) {
    ++length;
  }
  return static_cast<int64_t>(length);
}

std::vector<BlockRun> MergeRuns(std::span<const BlockPair> pairs) {
  std::vector<BlockRun> runs;
  while (!pairs.empty()) {
    const int64_t count = RunLength(pairs);
    runs.push_back({pairs[0].from, pairs[0].to, count});
    pairs = pairs.subspan(static_cast<size_t>(count));
  }
  return runs;
}

}  // namespace kvsim
