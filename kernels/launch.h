// What a launcher of CUDA kernels takes beside its arguments, and what it answers.
//
// Model:   a launcher checks what the host can know of its arguments, queues its
//          kernels on a stream and returns. It allocates nothing and waits for
//          nothing: pointers must stay valid, and results are not there, until the
//          stream has been waited for. What device memory holds (slots, block
//          tables) is not checked; see kernels/page_op_check.h.
//          The host twin of an operation takes the same arguments, with pointers
//          into host memory, and has finished when it returns.
// Errors:  a LaunchStatus; `message` names the argument and is a literal.
#ifndef KVSIM_KERNELS_LAUNCH_H_
#define KVSIM_KERNELS_LAUNCH_H_

namespace kvsim {

// A cudaStream_t, which this header does not want to know; null: the default one.
struct DeviceStream {
  void* handle = nullptr;
};

struct [[nodiscard]] LaunchStatus {
  enum class Code : unsigned char {
    kOk,
    kBadArgument,  // nothing was queued
    kDevice,       // the CUDA runtime refused; device_error is its cudaError_t
  };
  Code code = Code::kOk;
  int device_error = 0;
  const char* message = "";

  bool ok() const { return code == Code::kOk; }

  static LaunchStatus Ok() { return {}; }
  static LaunchStatus BadArgument(const char* message) {
    return {Code::kBadArgument, 0, message};
  }
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_LAUNCH_H_
