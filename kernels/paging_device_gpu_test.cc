#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu_test.h"
#include "kernels/memory_paging_backend.h"
#include "kernels/paging_bench.h"
#include "kernels/paging_device.h"
#include "kernels/paging_programs.h"

namespace kvsim {
namespace {

using PagingDeviceGpuTest = GpuTest;

TEST_F(PagingDeviceGpuTest, RandomPrograms) {
  RunPagingPrograms(20, []() -> std::unique_ptr<PagingBackend> {
    auto memory = MakeCudaMemory();
    EXPECT_TRUE(memory.ok()) << memory.status();
    auto device = PagingDevice::Create(PagingProgramPools(), *CudaKernels(),
                                       *std::move(memory));
    EXPECT_TRUE(device.ok()) << device.status();
    return std::make_unique<MemoryPagingBackend>(PagingProgramPools(),
                                                 *std::move(device));
  });
}

TEST_F(PagingDeviceGpuTest, StatesAndKeys) {
  auto device = PagingDevice::Create(PagingProgramPools(), *CudaKernels(),
                                     *MakeCudaMemory());
  ASSERT_TRUE(device.ok()) << device.status();
  auto host = PagingDevice::Create(PagingProgramPools(), HostKernels(),
                                   MakeHostMemory());
  ASSERT_TRUE(host.ok()) << host.status();
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 1000; ++i) tokens.push_back(i * i);
  for (const int32_t block : {1, 16, 64}) {
    const auto keys = (*device)->HashPrefix(block, 7, tokens);
    ASSERT_TRUE(keys.ok()) << keys.status();
    EXPECT_EQ(*keys, *(*host)->HashPrefix(block, 7, tokens));
  }
  MemoryPagingBackend backend(PagingProgramPools(), *std::move(device));
  const std::vector<PageOp> ops = {
      UpdateState{.pool = 1, .position = 4, .running = 1, .after = 7},
      SaveState{.pool = 1, .position = 4, .running = 1, .checkpoint = 2},
      RestoreState{
          .pool = 1, .position = 4, .checkpoint = 2, .running = 3, .stamp = 7}};
  const absl::Status status = backend.Execute(ops);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(PagingDeviceGpuTest, BenchMeasuresEveryOperation) {
  const auto memory = MakeCudaMemory();
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto bench = PagingBench::Create(*CudaKernels(), memory->get(),
                                         {.memory_bytes = 64 << 20});
  ASSERT_TRUE(bench.ok()) << bench.status();
  for (const char* operation : PagingBench::Operations()) {
    std::vector<std::string> dtypes = PagingBench::DtypesOf(operation);
    if (dtypes.empty()) dtypes.push_back("");
    for (const std::string& dtype : dtypes) {
      const auto result = (*bench)->Run({.operation = operation,
                                         .dtype = dtype,
                                         .unit_bytes = 4096,
                                         .layers = 2,
                                         .batch = 2});
      ASSERT_TRUE(result.ok())
          << operation << " " << dtype << ": " << result.status();
      EXPECT_GT(result->call_ns, 0) << operation;
    }
  }
}

}  // namespace
}  // namespace kvsim
