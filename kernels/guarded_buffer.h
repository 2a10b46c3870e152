// Host memory for tests of kernels: poisoned, with canaries on both sides.
//
// Model:      `size` bytes that start at any offset from a 64-byte boundary, filled
//             with a poison that depends on the place; 64 canary bytes or more in
//             front and behind. Untouched() finds what an operation had to leave
//             alone; the canaries are checked when the buffer dies.
#ifndef KVSIM_KERNELS_GUARDED_BUFFER_H_
#define KVSIM_KERNELS_GUARDED_BUFFER_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kvsim {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(int64_t size, int64_t misalignment = 0)
      : size_(static_cast<size_t>(size)),
        storage_(size_ + static_cast<size_t>(misalignment) + 3 * kGuard) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    begin_ = kGuard + (kGuard - address % kGuard) % kGuard +
             static_cast<size_t>(misalignment);
    for (size_t i = 0; i < storage_.size(); ++i) storage_[i] = Poison(i);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer() {
    for (size_t i = 0; i < storage_.size(); ++i) {
      if (i == begin_) i += size_;
      if (i >= storage_.size()) break;
      if (storage_[i] == Poison(i)) continue;
      ADD_FAILURE() << "byte " << static_cast<int64_t>(i - begin_)
                    << " of a buffer of " << size_ << " was overwritten";
      return;
    }
  }

  std::byte* data() { return storage_.data() + begin_; }
  std::span<std::byte> bytes() { return {data(), size_}; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data());
  }

  // Whether [begin, begin + count) still holds its poison.
  bool Untouched(int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) {
      const size_t at = begin_ + static_cast<size_t>(i);
      if (storage_[at] != Poison(at)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;

  static std::byte Poison(size_t at) {
    return static_cast<std::byte>(0xA5 ^ (at * 37));
  }

  size_t size_;
  std::vector<std::byte> storage_;
  size_t begin_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_GUARDED_BUFFER_H_
