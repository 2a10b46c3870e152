#include "kernels/kernel_set.h"

namespace kvsim {

const KernelSet* CudaKernels() { return nullptr; }

}  // namespace kvsim
