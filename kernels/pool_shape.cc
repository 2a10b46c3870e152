#include "kernels/pool_shape.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

absl::Status Wrong(const PoolShape& shape, const char* field, int64_t found,
                   const std::string& accepted) {
  return absl::InvalidArgumentError(absl::StrCat("pool \"", shape.name,
                                                 "\": ", field, " is ", found,
                                                 ", must be ", accepted));
}

constexpr int64_t kSmallestRow = 8;

bool FirstOfArena(std::span<const PoolShape> shapes, size_t at) {
  return std::none_of(
      shapes.begin(), shapes.begin() + static_cast<std::ptrdiff_t>(at),
      [&](const PoolShape& s) { return s.arena == shapes[at].arena; });
}

int64_t BlocksOf(const PoolShape& shape) {
  return int64_t{shape.num_blocks} + shape.num_host_blocks;
}

// What an arena's blocks must hold when rows are as small as can be.
int64_t SmallestBlock(std::span<const PoolShape> shapes, int32_t arena) {
  int64_t bytes = 0;
  for (const PoolShape& shape : shapes) {
    if (shape.arena != arena) continue;
    bytes = std::max(
        bytes, std::min(shape.row_bytes, kSmallestRow) * shape.block_tokens);
  }
  return bytes;
}

}  // namespace

absl::Status ValidatePoolShape(const PoolShape& shape) {
  if (shape.num_blocks < 0) {
    return Wrong(shape, "num_blocks", shape.num_blocks, "at least 0");
  }
  if (shape.num_host_blocks < 0) {
    return Wrong(shape, "num_host_blocks", shape.num_host_blocks, "at least 0");
  }
  if (shape.block_tokens < 1) {
    return Wrong(shape, "block_tokens", shape.block_tokens, "at least 1");
  }
  if (shape.contents == PoolContents::kStates && shape.block_tokens != 1) {
    return Wrong(shape, "block_tokens", shape.block_tokens,
                 "1 in a pool of states");
  }
  if (shape.row_bytes < 1) {
    return Wrong(shape, "row_bytes", shape.row_bytes, "at least 1");
  }
  int64_t rows_bytes = 0;
  if (__builtin_mul_overflow(shape.row_bytes, int64_t{shape.block_tokens},
                             &rows_bytes) ||
      shape.block_bytes < rows_bytes) {
    return Wrong(shape, "block_bytes", shape.block_bytes,
                 absl::StrCat("at least block_tokens * row_bytes, ",
                              shape.block_tokens, " * ", shape.row_bytes));
  }
  return absl::OkStatus();
}

absl::Status ValidatePoolShapes(std::span<const PoolShape> shapes) {
  for (const PoolShape& shape : shapes) {
    const absl::Status status = ValidatePoolShape(shape);
    if (!status.ok()) return status;
    for (const PoolShape& other : shapes) {
      if (other.arena == shape.arena &&
          (other.num_blocks != shape.num_blocks ||
           other.num_host_blocks != shape.num_host_blocks ||
           other.block_bytes != shape.block_bytes)) {
        return absl::InvalidArgumentError(
            absl::StrCat("pools \"", shape.name, "\" and \"", other.name,
                         "\" share memory but their blocks differ"));
      }
    }
  }
  return absl::OkStatus();
}

Bytes MemoryOf(std::span<const PoolShape> shapes) {
  Bytes sum;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!FirstOfArena(shapes, i)) continue;
    sum += Bytes(shapes[i].block_bytes) * BlocksOf(shapes[i]);
  }
  return sum;
}

absl::Status ScalePools(Bytes limit, std::vector<PoolShape>* shapes) {
  if (MemoryOf(*shapes) <= limit) return absl::OkStatus();
  // Each arena gets its share of the limit, in proportion to its size.
  const std::vector<PoolShape> full = *shapes;
  const int64_t whole = MemoryOf(full).value();
  for (PoolShape& shape : *shapes) {
    const auto share = static_cast<int64_t>(
        static_cast<__int128>(shape.block_bytes) * limit.value() / whole);
    shape.block_bytes = share / kSmallestRow * kSmallestRow;
    const int64_t least = SmallestBlock(full, shape.arena);
    if (shape.block_bytes < least) {
      return absl::InvalidArgumentError(absl::StrCat(
          BlocksOf(shape), " blocks take ", least * BlocksOf(shape),
          " B with the smallest rows, of ", kSmallestRow,
          " B; accepted: at least that"));
    }
    shape.row_bytes =
        std::min(shape.row_bytes, shape.block_bytes / shape.block_tokens /
                                      kSmallestRow * kSmallestRow);
  }
  return absl::OkStatus();
}

}  // namespace kvsim
