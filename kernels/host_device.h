// Marks functions that a kernel and its host twin both call.
//
// The index arithmetic of an operation is one such function in its header: the
// CUDA kernel and the host twin cannot disagree about where a byte belongs. It
// uses fixed-width integers, no library and no exception.
#ifndef KVSIM_KERNELS_HOST_DEVICE_H_
#define KVSIM_KERNELS_HOST_DEVICE_H_

#ifdef __CUDACC__
#define KVSIM_HOST_DEVICE __host__ __device__
#else
#define KVSIM_HOST_DEVICE
#endif

#endif  // KVSIM_KERNELS_HOST_DEVICE_H_
