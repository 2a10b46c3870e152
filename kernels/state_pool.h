// Running recurrent states in host memory, for tests of state_checkpoint.
#ifndef KVSIM_KERNELS_STATE_POOL_H_
#define KVSIM_KERNELS_STATE_POOL_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "kernels/guarded_buffer.h"
#include "kernels/paged_layers.h"
#include "kernels/state_checkpoint.h"

namespace kvsim {

class StatePool {
 public:
  // Slots are a float and a byte further apart than they must be.
  StatePool(const StateFormat& format, int32_t layers, int32_t slots)
      : format_(format),
        slots_(slots),
        state_stride_(format.heads * format.HeadElements() + 1),
        conv_stride_(format.conv_bytes + 1) {
    for (int32_t layer = 0; layer < layers; ++layer) {
      states_.push_back(
          std::make_unique<GuardedBuffer>(slots * state_stride_ * 4));
      convs_.push_back(std::make_unique<GuardedBuffer>(slots * conv_stride_));
      state_pointers_.push_back(states_.back()->as<float>());
      conv_pointers_.push_back(convs_.back()->data());
    }
  }

  // Magnitudes differ from head to head and within each, over some binary orders.
  void Fill(RandomStream& random) {
    for (const auto& buffer : states_) {
      for (int64_t i = 0; i < slots_ * state_stride_; ++i) {
        const auto order = static_cast<int>(i / format_.HeadElements() % 40);
        buffer->as<float>()[i] =
            static_cast<float>(std::ldexp(random.Uniform() - 0.5, order - 20));
      }
    }
    for (const auto& buffer : convs_) {
      for (std::byte& byte : buffer->bytes()) {
        byte = static_cast<std::byte>(random.Next());
      }
    }
  }

  float* State(int32_t layer, int64_t slot) const {
    return state_pointers_[static_cast<size_t>(layer)] + slot * state_stride_;
  }
  std::byte* Convolutions(int32_t layer, int64_t slot) const {
    return conv_pointers_[static_cast<size_t>(layer)] + slot * conv_stride_;
  }
  bool Untouched(int32_t layer, int64_t slot) const {
    const auto at = static_cast<size_t>(layer);
    return states_[at]->Untouched(slot * state_stride_ * 4,
                                  state_stride_ * 4) &&
           convs_[at]->Untouched(slot * conv_stride_, conv_stride_);
  }
  // The whole of a layer.
  std::span<std::byte> StateBytes(int32_t layer) const {
    return states_[static_cast<size_t>(layer)]->bytes();
  }
  std::span<std::byte> ConvolutionBytes(int32_t layer) const {
    return convs_[static_cast<size_t>(layer)]->bytes();
  }

  StateCheckpointArgs Args(const PagedLayers& pages,
                           const std::vector<StatePair>& pairs) const {
    StateCheckpointArgs args;
    args.format = format_;
    args.pages = pages;
    args.states = state_pointers_.data();
    args.state_stride = state_stride_;
    args.convolutions = conv_pointers_.data();
    args.conv_stride = conv_stride_;
    args.num_slots = slots_;
    args.pairs = pairs.data();
    args.num_pairs = static_cast<int64_t>(pairs.size());
    return args;
  }

 private:
  StateFormat format_;
  int64_t slots_;
  int64_t state_stride_;
  int64_t conv_stride_;
  std::vector<std::unique_ptr<GuardedBuffer>> states_;
  std::vector<std::unique_ptr<GuardedBuffer>> convs_;
  std::vector<float*> state_pointers_;
  std::vector<std::byte*> conv_pointers_;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_STATE_POOL_H_
