#include "kernels/paging_device.h"

#include <algorithm>

#include "base/check.h"

namespace kvsim {
namespace {

template <typename T>
int64_t SizeOf(const T& values) {
  return static_cast<int64_t>(values.size());
}

}  // namespace

PagingDevice::PagingDevice(std::vector<PoolShape> pools,
                           const KernelSet& kernels,
                           std::unique_ptr<DeviceMemory> memory)
    : pools_(std::move(pools)),
      kernels_(kernels),
      memory_(std::move(memory)),
      swap_pairs_(memory_.get(), DeviceMemory::Kind::kSwap) {
  for (int use = 0; use < kNumUses; ++use) scratch_.emplace_back(memory_.get());
}

absl::StatusOr<std::unique_ptr<PagingDevice>> PagingDevice::Create(
    std::vector<PoolShape> pools, const KernelSet& kernels,
    std::unique_ptr<DeviceMemory> memory) {
  const absl::Status valid = ValidatePoolShapes(pools);
  KVSIM_CHECK(valid.ok()) << valid.message();
  std::unique_ptr<PagingDevice> device(
      new PagingDevice(std::move(pools), kernels, std::move(memory)));
  const absl::Status allocated = device->AllocateArenas();
  if (!allocated.ok()) return allocated;
  return device;
}

absl::Status PagingDevice::AllocateArenas() {
  for (const PoolShape& pool : pools_) {
    while (SizeOf(arenas_) <= pool.arena) arenas_.emplace_back(memory_.get());
    Arena& arena = ArenaOf(static_cast<PoolIndex>(&pool - pools_.data()));
    if (arena.block_bytes > 0) continue;  // another view of it
    arena.num_blocks = pool.num_blocks;
    arena.num_host_blocks = pool.num_host_blocks;
    arena.block_bytes = pool.block_bytes;
    absl::Status status =
        arena.pages.Reserve(int64_t{pool.num_blocks} * pool.block_bytes);
    status.Update(arena.host_pages.Reserve(int64_t{pool.num_host_blocks} *
                                           pool.block_bytes));
    status.Update(arena.tags.Reserve(pool.num_blocks *
                                     static_cast<int64_t>(sizeof(BlockTag))));
    if (!status.ok()) return status;
    std::byte* const bases[] = {arena.pages.data(), arena.host_pages.data()};
    status = arena.bases.Upload(std::span<std::byte* const>(bases));
    status.Update(arena.swap_bases.Upload(std::span<std::byte* const>(bases)));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

PagedLayers PagingDevice::Pages(PoolIndex pool) {
  const Arena& arena = ArenaOf(pool);
  return {arena.bases.as<std::byte*>(), 1, arena.num_blocks,
          Pool(pool).block_tokens, arena.block_bytes};
}

PagedLayers PagingDevice::HostPages(PoolIndex pool) {
  const Arena& arena = ArenaOf(pool);
  return {arena.swap_bases.as<std::byte*>() + 1, 1, arena.num_host_blocks,
          Pool(pool).block_tokens, arena.block_bytes};
}

absl::Status PagingDevice::Done(const LaunchStatus& status) {
  if (!status.ok()) return ToStatus(status);
  return memory_->Wait();
}

// --- rows -------------------------------------------------------------------------

absl::Status PagingDevice::WriteRows(PoolIndex pool,
                                     std::span<const int64_t> slots,
                                     std::span<const Stamp> stamps) {
  KVSIM_CHECK_EQ(slots.size(), stamps.size());
  const int64_t row_bytes = Pool(pool).row_bytes;
  const int64_t rows = SizeOf(slots);
  absl::Status status = Scratch(kRows).Reserve(rows * row_bytes);
  status.Update(Scratch(kStamps).Upload(stamps));
  status.Update(Scratch(kIndices).Upload(slots));
  const std::byte* const base = Scratch(kRows).data();
  status.Update(
      Scratch(kBases).Upload(std::span<const std::byte* const>(&base, 1)));
  if (!status.ok()) return status;
  status = ToStatus(kernels_.fill_rows(
      {Scratch(kRows).data(), row_bytes, Scratch(kStamps).as<uint64_t>(), rows},
      {}));
  if (!status.ok()) return status;
  WriteTokensArgs args;
  args.pages = Pages(pool);
  args.format =
      RawPages(static_cast<int32_t>(row_bytes), Pool(pool).block_tokens);
  args.sources[0].layers = Scratch(kBases).as<const std::byte*>();
  args.sources[0].token_stride = row_bytes;
  args.slots = Scratch(kIndices).as<int64_t>();
  args.num_tokens = rows;
  return Done(kernels_.write_tokens(args, {}));
}

absl::StatusOr<std::optional<RowFault>> PagingDevice::ReadRows(
    PoolIndex pool, Blocks block_table, int64_t first, int64_t end,
    std::span<const Stamp> stamps) {
  const int64_t rows = end - first;
  if (rows == 0) return std::nullopt;
  const int64_t row_bytes = Pool(pool).row_bytes;
  const int64_t sequence[] = {first, end, 0,
                              rows};  // and its rows of the output
  auto fault = static_cast<unsigned long long>(rows);
  absl::Status status = Scratch(kRows).Reserve(rows * row_bytes);
  status.Update(Scratch(kIndices).Upload(block_table));
  status.Update(Scratch(kOwners).Upload(std::span<const int64_t>(sequence)));
  status.Update(Scratch(kStamps).Upload(stamps));
  status.Update(
      Scratch(kResults).Upload(std::span<const unsigned long long>(&fault, 1)));
  if (!status.ok()) return status;
  GatherSequenceArgs args;
  args.pages = Pages(pool);
  args.row_stride = args.row_bytes = row_bytes;
  args.share.block_tokens = Pool(pool).block_tokens;
  args.block_tables = Scratch(kIndices).as<BlockId>();
  args.table_stride = SizeOf(block_table);
  args.num_sequences = 1;
  args.first_positions = Scratch(kOwners).as<int64_t>();
  args.end_positions = args.first_positions + 1;
  args.out_starts = args.first_positions + 2;
  args.out_rows = rows;
  args.output = Scratch(kRows).data();
  status = ToStatus(kernels_.gather_sequence(args, {}));
  if (!status.ok()) return status;
  if (stamps.empty()) {
    status = memory_->Wait();
    if (!status.ok()) return status;
    return std::nullopt;
  }
  KVSIM_CHECK_EQ(SizeOf(stamps), rows);
  status = Done(kernels_.check_rows(
      {Scratch(kRows).data(), row_bytes, Scratch(kStamps).as<uint64_t>(), rows,
       Scratch(kResults).as<unsigned long long>()},
      {}));
  status.Update(
      memory_->Download(&fault, Scratch(kResults).data(), sizeof(fault)));
  if (!status.ok()) return status;
  if (fault == static_cast<unsigned long long>(rows)) return std::nullopt;
  RowFault found{.row = static_cast<int64_t>(fault)};
  status = memory_->Download(&found.found,
                             Scratch(kRows).data() + found.row * row_bytes,
                             std::min<int64_t>(8, row_bytes));
  if (!status.ok()) return status;
  return found;
}

// --- blocks -----------------------------------------------------------------------

absl::Status PagingDevice::CopyBlocks(PoolIndex pool, BlockPairs pairs,
                                      int64_t bytes) {
  std::vector<BlockPair> list;
  for (const auto& [from, to] : pairs) list.push_back({from, to});
  const absl::Status status =
      Scratch(kIndices).Upload(std::span<const BlockPair>(list));
  if (!status.ok()) return status;
  return Done(kernels_.copy_blocks(
      {Pages(pool), Scratch(kIndices).as<BlockPair>(), SizeOf(list), bytes},
      {}));
}

// By way of a place of their own, since any target may be a source.
absl::Status PagingDevice::MoveBlocks(PoolIndex pool, BlockPairs moves) {
  const int64_t block_bytes = Pool(pool).block_bytes;
  const Arena& arena = ArenaOf(pool);
  absl::Status status = Scratch(kRows).Reserve(SizeOf(moves) * block_bytes);
  for (size_t i = 0; i < moves.size() && status.ok(); ++i) {
    status = ToStatus(memory_->Copy(
        Scratch(kRows).data() + static_cast<int64_t>(i) * block_bytes,
        arena.pages.data() + moves[i].first * block_bytes, block_bytes));
  }
  for (size_t i = 0; i < moves.size() && status.ok(); ++i) {
    status = ToStatus(memory_->Copy(
        arena.pages.data() + moves[i].second * block_bytes,
        Scratch(kRows).data() + static_cast<int64_t>(i) * block_bytes,
        block_bytes));
  }
  if (!status.ok()) return status;
  return memory_->Wait();
}

absl::Status PagingDevice::SwapBlocks(PoolIndex pool, BlockPairs blocks,
                                      SwapDirection direction) {
  std::vector<BlockPair> list;
  const bool out = direction == SwapDirection::kToHost;
  for (const auto& [device, host] : blocks) {
    list.push_back(out ? BlockPair{device, host} : BlockPair{host, device});
  }
  // What decides the copies is read by the host as well.
  const absl::Status status =
      swap_pairs_.Upload(std::span<const BlockPair>(list));
  if (!status.ok()) return status;
  SwapBlocksArgs args;
  args.device = Pages(pool);
  args.host = HostPages(pool);
  args.device.layers = ArenaOf(pool).swap_bases.as<std::byte*>();
  args.host.layers = args.device.layers + 1;
  args.direction = direction;
  args.pairs = swap_pairs_.as<BlockPair>();
  args.num_pairs = SizeOf(list);
  return Done(kernels_.swap_blocks(args, {}));
}

absl::Status PagingDevice::StampBlocks(PoolIndex pool, Blocks blocks,
                                       std::span<const uint64_t> owners,
                                       std::span<const uint64_t> generations) {
  absl::Status status = Scratch(kIndices).Upload(blocks);
  status.Update(Scratch(kOwners).Upload(owners));
  status.Update(Scratch(kGenerations).Upload(generations));
  if (!status.ok()) return status;
  return Done(kernels_.stamp_blocks(
      {Pages(pool), ArenaOf(pool).tags.as<BlockTag>(),
       Scratch(kIndices).as<BlockId>(), Scratch(kOwners).as<uint64_t>(),
       Scratch(kGenerations).as<uint64_t>(), SizeOf(blocks),
       Pool(pool).block_bytes},
      {}));
}

absl::StatusOr<std::vector<BlockVerdict>> PagingDevice::VerifyBlocks(
    PoolIndex pool, Blocks blocks, std::span<const uint64_t> owners,
    std::span<const uint64_t> generations) {
  std::vector<BlockVerdict> verdicts(blocks.size());
  absl::Status status = Scratch(kIndices).Upload(blocks);
  status.Update(Scratch(kOwners).Upload(owners));
  status.Update(Scratch(kGenerations).Upload(generations));
  status.Update(Scratch(kResults).Reserve(SizeOf(verdicts)));
  if (!status.ok()) return status;
  status = Done(kernels_.verify_blocks(
      {Pages(pool), ArenaOf(pool).tags.as<BlockTag>(),
       Scratch(kIndices).as<BlockId>(), Scratch(kOwners).as<uint64_t>(),
       Scratch(kGenerations).as<uint64_t>(), SizeOf(blocks),
       Pool(pool).block_bytes, Scratch(kResults).as<BlockVerdict>()},
      {}));
  status.Update(memory_->Download(verdicts.data(), Scratch(kResults).data(),
                                  SizeOf(verdicts)));
  if (!status.ok()) return status;
  return verdicts;
}

// --- keys -------------------------------------------------------------------------

absl::StatusOr<std::vector<uint64_t>> PagingDevice::HashPrefix(
    int32_t block_tokens, uint64_t salt, std::span<const int32_t> token_ids) {
  std::vector<uint64_t> keys(token_ids.size() /
                             static_cast<size_t>(block_tokens));
  if (keys.empty()) return keys;
  const int64_t starts[] = {0, SizeOf(token_ids), 0, SizeOf(keys)};
  absl::Status status = Scratch(kRows).Upload(token_ids);
  status.Update(Scratch(kOwners).Upload(std::span<const int64_t>(starts)));
  status.Update(Scratch(kStamps).Upload(std::span<const uint64_t>(&salt, 1)));
  status.Update(Scratch(kResults).Reserve(SizeOf(keys) * 8));
  if (!status.ok()) return status;
  HashPrefixesArgs args;
  args.block_tokens = block_tokens;
  args.token_ids = Scratch(kRows).as<int32_t>();
  args.token_starts = Scratch(kOwners).as<int64_t>();
  args.key_starts = args.token_starts + 2;
  args.salts = Scratch(kStamps).as<uint64_t>();
  args.num_prompts = 1;
  args.keys = Scratch(kResults).as<uint64_t>();
  status = Done(kernels_.hash_prefixes(args, {}));
  status.Update(memory_->Download(keys.data(), Scratch(kResults).data(),
                                  SizeOf(keys) * 8));
  if (!status.ok()) return status;
  return keys;
}

}  // namespace kvsim
