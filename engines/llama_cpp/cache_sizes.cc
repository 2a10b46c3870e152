#include "engines/llama_cpp/cache_sizes.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim::llama_cpp {
namespace {

constexpr int64_t kCellStep = 256;
constexpr int64_t kStateBytes = 4;  // fp32, whatever the cache's types

absl::Status CheckBlocks(absl::string_view flag, CacheType type,
                         int64_t elements) {
  if (elements % BlockElements(type) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", Name(type), ": blocks of ", BlockElements(type),
                   " do not fill rows of ", elements, " elements"));
}

}  // namespace

CellCounts CountCells(const Settings& settings, int64_t ctx_size) {
  const int64_t context = RoundUp(ctx_size, kCellStep);
  if (settings.kv_unified || settings.parallel == 1) {
    return {.streams = 1, .cells = context};
  }
  return {.streams = settings.parallel,
          .cells = RoundUp(context / settings.parallel, kCellStep)};
}

int64_t WindowCells(const Settings& settings, const CellCounts& counts,
                    int64_t window) {
  if (settings.swa_full) return counts.cells;
  const int64_t sequences = settings.parallel / counts.streams;
  const int64_t batch = std::min(settings.ubatch_size, settings.batch_size);
  return std::min(counts.cells, RoundUp(window * sequences + batch, kCellStep));
}

absl::StatusOr<CellBytes> CellOf(const RankLayer& layer, CacheType k,
                                 CacheType v) {
  absl::Status status = CheckBlocks("--cache-type-k", k, layer.k);
  if (status.ok()) status = CheckBlocks("--cache-type-v", v, layer.v);
  if (!status.ok()) return status;
  return CellBytes{.k = Bytes(BytesOf(k, layer.k)),
                   .v = Bytes(BytesOf(v, layer.v))};
}

StateBytes StateOf(const RankLayer& layer) {
  return {.r = Bytes(layer.conv * kStateBytes),
          .s = Bytes(layer.state * kStateBytes)};
}

}  // namespace kvsim::llama_cpp
