#include "kernels/kernel_set.h"

namespace kvsim {
namespace {

template <auto kOperation, typename Args>
LaunchStatus OnHost(const Args& args, DeviceStream) {
  return kOperation(args);
}

constexpr KernelSet kHost = {
    .name = "host",
    .slot_mapping = OnHost<SlotMappingOnHost, SlotMappingArgs>,
    .write_tokens = OnHost<WriteTokensOnHost, WriteTokensArgs>,
    .gather_sequence = OnHost<GatherSequenceOnHost, GatherSequenceArgs>,
    .copy_blocks = OnHost<CopyBlocksOnHost, CopyBlocksArgs>,
    .swap_blocks = OnHost<SwapBlocksOnHost, SwapBlocksArgs>,
    .save_state = OnHost<SaveStateOnHost, StateCheckpointArgs>,
    .restore_state = OnHost<RestoreStateOnHost, StateCheckpointArgs>,
    .stamp_blocks = OnHost<StampBlocksOnHost, StampBlocksArgs>,
    .verify_blocks = OnHost<VerifyBlocksOnHost, VerifyBlocksArgs>,
    .hash_prefixes = OnHost<HashPrefixesOnHost, HashPrefixesArgs>,
    .fill_rows = OnHost<FillRowsOnHost, FillRowsArgs>,
    .check_rows = OnHost<CheckRowsOnHost, CheckRowsArgs>,
};

}  // namespace

const KernelSet& HostKernels() { return kHost; }

}  // namespace kvsim
