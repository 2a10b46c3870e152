#include "kernels/kernel_set.h"

namespace kvsim {

const KernelSet* CudaKernels() {
  static constexpr KernelSet kCuda = {
      .name = "cuda",
      .slot_mapping = LaunchSlotMapping,
      .write_tokens = LaunchWriteTokens,
      .gather_sequence = LaunchGatherSequence,
      .copy_blocks = LaunchCopyBlocks,
      .swap_blocks = LaunchSwapBlocks,
      .save_state = LaunchSaveState,
      .restore_state = LaunchRestoreState,
      .stamp_blocks = LaunchStampBlocks,
      .verify_blocks = LaunchVerifyBlocks,
      .hash_prefixes = LaunchHashPrefixes,
      .fill_rows = LaunchFillRows,
      .check_rows = LaunchCheckRows,
  };
  return &kCuda;
}

}  // namespace kvsim
