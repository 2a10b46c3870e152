// Pages of a cache group in host memory, for tests of kernels.
//
// Model:      one GuardedBuffer for each layer, at the same offset from an aligned
//             address; PagedLayers that point into them.
#ifndef KVSIM_KERNELS_PAGED_BUFFER_H_
#define KVSIM_KERNELS_PAGED_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"
#include "kernels/paged_layers.h"

namespace kvsim {

class PagedBuffer {
 public:
  struct Shape {
    int32_t num_layers = 1;
    int32_t num_blocks = 1;
    int32_t block_tokens = 1;
    int64_t block_stride = 1;
    int64_t misalignment = 0;
  };

  explicit PagedBuffer(const Shape& shape) : shape_(shape) {
    for (int32_t layer = 0; layer < shape.num_layers; ++layer) {
      buffers_.push_back(std::make_unique<GuardedBuffer>(
          shape.num_blocks * shape.block_stride, shape.misalignment));
      layers_.push_back(buffers_.back()->data());
    }
  }

  PagedLayers pages() const {
    return {layers_.data(), shape_.num_layers, shape_.num_blocks,
            shape_.block_tokens, shape_.block_stride};
  }

  void Fill(RandomStream& random) {
    for (const auto& buffer : buffers_) {
      for (std::byte& byte : buffer->bytes()) {
        byte = static_cast<std::byte>(random.Next());
      }
    }
  }

  // Bytes of all layers.
  std::vector<std::vector<std::byte>> Contents() const {
    std::vector<std::vector<std::byte>> contents;
    for (const auto& buffer : buffers_) {
      contents.emplace_back(buffer->bytes().begin(), buffer->bytes().end());
    }
    return contents;
  }

 private:
  Shape shape_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  std::vector<std::byte*> layers_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGED_BUFFER_H_
