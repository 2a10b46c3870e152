// Pages of a cache group on a CUDA device, for tests of kernels.
//
// Model:   a copy of a PagedBuffer: one array for each layer, at an offset from an
//          aligned address.
#ifndef KVSIM_KERNELS_DEVICE_PAGES_H_
#define KVSIM_KERNELS_DEVICE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/device_array.h"
#include "kernels/paged_buffer.h"
#include "kernels/paged_layers.h"

namespace kvsim {

class DevicePages {
 public:
  explicit DevicePages(const PagedBuffer& host, int64_t misalignment = 0)
      : pages_(host.pages()), misalignment_(misalignment) {
    std::vector<std::byte*> layers;
    for (const std::vector<std::byte>& bytes : host.Contents()) {
      size_ = static_cast<int64_t>(bytes.size());
      buffers_.emplace_back(size_ + misalignment);
      buffers_.back().Upload(bytes.data(), size_, misalignment);
      layers.push_back(buffers_.back().data() + misalignment);
    }
    layers_.emplace(layers);
    pages_.layers = layers_->data();
  }

  PagedLayers pages() const { return pages_; }

  // The array that pages().layers is, for the host.
  std::vector<std::byte*> Layers() const { return layers_->Download(); }

  std::vector<std::vector<std::byte>> Contents() const {
    std::vector<std::vector<std::byte>> contents;
    for (const DeviceBytes& buffer : buffers_) {
      contents.emplace_back(static_cast<size_t>(size_));
      buffer.Download(contents.back().data(), size_, misalignment_);
    }
    return contents;
  }

 private:
  PagedLayers pages_;
  int64_t misalignment_;
  int64_t size_ = 0;
  std::vector<DeviceBytes> buffers_;
  std::optional<DeviceArray<std::byte*>> layers_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_DEVICE_PAGES_H_
