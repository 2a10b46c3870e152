#include "kernels/block_pairs.h"

#include <cstddef>
#include <unordered_set>

namespace kvsim {
namespace {

PairsCheck Refuse(size_t index, const char* message) {
  return {LaunchStatus::BadArgument(message), static_cast<int64_t>(index)};
}

constexpr char kFromOutside[] = "a source block is outside its pool";
constexpr char kToOutside[] = "a target block is outside its pool";
constexpr char kTwice[] = "a block is the target of two pairs";
constexpr char kBoth[] = "a block is both a source and a target";

}  // namespace

PairsCheck CheckCopyPairs(std::span<const BlockPair> pairs,
                          int64_t num_blocks) {
  std::unordered_set<BlockId> sources;
  std::unordered_set<BlockId> targets;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [from, to] = pairs[i];
    if (from >= num_blocks) return Refuse(i, kFromOutside);
    if (to >= num_blocks) return Refuse(i, kToOutside);
    sources.insert(from);
    if (!targets.insert(to).second) return Refuse(i, kTwice);
    if (targets.contains(from) || sources.contains(to)) return Refuse(i, kBoth);
  }
  return {};
}

PairsCheck CheckSwapPairs(std::span<const BlockPair> pairs,
                          int64_t num_from_blocks, int64_t num_to_blocks) {
  std::unordered_set<BlockId> targets;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].from >= num_from_blocks) return Refuse(i, kFromOutside);
    if (pairs[i].to >= num_to_blocks) return Refuse(i, kToOutside);
    if (!targets.insert(pairs[i].to).second) return Refuse(i, kTwice);
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
