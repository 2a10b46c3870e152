// How fast the paging operations are on a kind of memory, beside a plain copy.
//
// Model:      a case is one call of an operation: `batch` units (pages, rows, states,
//             tokens) in each of `layers`, units of a pool drawn in random order. What
//             is measured is repeated calls that touch different units, timed together;
//             right before, one plain copy of as many bytes. Medians of `repeats`.
//   copy_blocks      pages within the pool
//   gather_sequence  pages of sequences of 64 pages each into contiguous memory
//   write_tokens     rows into random slots, by the format that dtype names
//   swap_out, swap_in  pages to pinned host memory and back
//   save_state, restore_state  states of 32 heads of 128 x 128 floats and their
//                    convolutions' rows, to and from pages in fp32, bf16 or int8
//   slot_mapping     tokens of sequences of 4,096; 8 B each
//   block_tables     entries of 4 B from host memory
//   verify_blocks    check sums of pages
//   hash_prefixes    prompts of 4,096 tokens in blocks of 16; 4 B a token
// Units:      bytes are half of those read and written, so that a copy's count once
//             (hash_prefixes: those of the tokens; verify_blocks: those read);
//             nanoseconds of one call.
// Costs:      about 2 · memory_bytes of memory, and as much of swap memory for swaps;
//             a case moves memory_bytes some ten times.
// Ownership:  keeps pointers to the kernels and the memory.
// Errors:     InvalidArgument for a case that is none, OutOfRange for one that does not
//             fit into the memory, saying why; what the device says.
#ifndef KVSIM_KERNELS_PAGING_BENCH_H_
#define KVSIM_KERNELS_PAGING_BENCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device_buffer.h"
#include "kernels/device_memory.h"
#include "kernels/kernel_set.h"

namespace kvsim {

struct BenchCase {
  std::string operation;
  std::string
      dtype;  // of write_tokens: "bf16", "fp8", "mla", "fp8_ds_mla", "v4"
  int64_t unit_bytes = 0;  // of pages; others have their own
  int32_t layers = 1;
  int64_t batch = 0;  // units of a layer in one call; 0: as many as there are
};

struct BenchResult {
  BenchCase bench;    // with unit_bytes and batch as they were
  int64_t bytes = 0;  // of one call
  double call_ns = 0;
  double plain_ns = 0;  // of one plain copy of `bytes`, as part of a large one

  double BytesPerSecond() const;
  // Of the plain copy's speed.
  double Ratio() const;
};

struct BenchOptions {
  int64_t memory_bytes = int64_t{256} << 20;
  int repeats = 5;
};

class PagingBench {
 public:
  static absl::StatusOr<std::unique_ptr<PagingBench>> Create(
      const KernelSet& kernels, DeviceMemory* memory,
      const BenchOptions& options);

  // The operations there are, in the order of the list above.
  static std::span<const char* const> Operations();
  // What an operation accepts as dtype; empty when it has none.
  static std::vector<std::string> DtypesOf(const std::string& operation);

  absl::StatusOr<BenchResult> Run(const BenchCase& bench);
  // One plain copy of memory_bytes.
  absl::StatusOr<double> PlainBytesPerSecond();

 private:
  // A case ready to run.
  struct Prepared {
    std::function<LaunchStatus(int64_t)> call;  // of a number below `calls`
    int64_t calls = 1;
    int64_t bytes = 0;  // of one
    // What it is compared with: a copy between these.
    std::byte* plain_to = nullptr;
    const std::byte* plain_from = nullptr;
  };

  PagingBench(const KernelSet& kernels, DeviceMemory* memory,
              const BenchOptions& options);
  static constexpr auto kDevice = DeviceMemory::Kind::kDevice;
  absl::Status Touch(const DeviceBuffer& buffer, int64_t size);
  absl::Status ReserveSwap();

  absl::StatusOr<Prepared> Prepare(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareCopy(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareGather(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareWrite(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareSwap(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareStates(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareSlots(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareTables(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareVerify(BenchCase* bench);
  absl::StatusOr<Prepared> PrepareHash(BenchCase* bench);

  // Layers of `num_blocks` pages each, from `base` on.
  absl::StatusOr<PagedLayers> Pages(std::byte* base, int32_t layers,
                                    int64_t num_blocks, int64_t page,
                                    int32_t block_tokens,
                                    DeviceMemory::Kind kind = kDevice);
  // A buffer of the case with these values.
  template <typename T>
  absl::StatusOr<T*> Array(const std::vector<T>& values,
                           DeviceMemory::Kind kind = kDevice);
  // Units of so many bytes in each layer that fit into memory_bytes.
  int64_t UnitsOf(const BenchCase& bench, int64_t bytes) const;
  // Sets the batch, at most `units`, and returns how many calls these make.
  static absl::StatusOr<int64_t> CallsOf(int64_t units, BenchCase* bench);

  const KernelSet& kernels_;
  DeviceMemory* memory_;
  BenchOptions options_;
  DeviceBuffer pool_;                 // two halves of memory_bytes
  DeviceBuffer swap_;                 // memory_bytes, once a case swaps
  std::vector<DeviceBuffer> arrays_;  // of the case
};

}  // namespace kvsim

#endif  // KVSIM_KERNELS_PAGING_BENCH_H_
