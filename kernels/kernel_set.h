// All operations of kernels/ for one kind of memory, as functions of one form.
//
// Model:      the host's twins or the CUDA launchers. What is written once against
//             this table (kernels/paging_device.h, kernels/paging_bench.h) runs on
//             both. The host's ignore the stream and have finished when they return.
#ifndef KVSIM_KERNELS_KERNEL_SET_H_
#define KVSIM_KERNELS_KERNEL_SET_H_

#include "kernels/copy_blocks.h"
#include "kernels/gather_sequence.h"
#include "kernels/hash_prefixes.h"
#include "kernels/launch.h"
#include "kernels/row_stamps.h"
#include "kernels/slot_mapping.h"
#include "kernels/stamp_blocks.h"
#include "kernels/state_checkpoint.h"
#include "kernels/swap_blocks.h"
#include "kernels/write_tokens.h"

namespace kvsim {

struct KernelSet {
  template <typename Args>
  using Operation = LaunchStatus (*)(const Args&, DeviceStream);

  const char* name;  // "host", "cuda"
  Operation<SlotMappingArgs> slot_mapping;
  Operation<WriteTokensArgs> write_tokens;
  Operation<GatherSequenceArgs> gather_sequence;
  Operation<CopyBlocksArgs> copy_blocks;
  Operation<SwapBlocksArgs> swap_blocks;
  Operation<StateCheckpointArgs> save_state;
  Operation<StateCheckpointArgs> restore_state;
  Operation<StampBlocksArgs> stamp_blocks;
  Operation<VerifyBlocksArgs> verify_blocks;
  Operation<HashPrefixesArgs> hash_prefixes;
  Operation<FillRowsArgs> fill_rows;
  Operation<CheckRowsArgs> check_rows;
};

const KernelSet& HostKernels();
// Null where this program was built without CUDA.
const KernelSet* CudaKernels();

}  // namespace kvsim

#endif  // KVSIM_KERNELS_KERNEL_SET_H_
