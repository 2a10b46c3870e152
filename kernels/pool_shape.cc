#include "kernels/pool_shape.h"

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

absl::Status Wrong(const PoolShape& shape, const char* field, int64_t found,
                   const std::string& accepted) {
  return absl::InvalidArgumentError(absl::StrCat("pool \"", shape.name,
                                                 "\": ", field, " is ", found,
                                                 ", must be ", accepted));
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

}  // namespace kvsim
