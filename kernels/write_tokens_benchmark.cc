// What the host twin of write_tokens costs, beside one memcpy of the same bytes: the
// ratio of bytes per second is the figure to quote.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "kernels/page_format.h"
#include "kernels/write_tokens.h"

namespace kvsim {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int32_t kLayers = 4;
constexpr int64_t kSourceBytes = int64_t{64} << 20;  // of all layers and parts

int64_t SourceRowBytes(const PageFormat& format) {
  int64_t bytes = 0;
  for (int p = 0; p < format.num_parts; ++p) {
    bytes += format.parts[p].SourceRowBytes();
  }
  return bytes;
}

// bf16 numbers between 2^-3 and 2, either sign.
Bytes Numbers(int64_t bytes, RandomStream& random) {
  Bytes numbers(static_cast<size_t>(bytes));
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    const uint64_t draw = random.Next();
    const auto code =
        static_cast<uint16_t>((draw & 0x807f) | (124 + draw % 4) << 7);
    std::memcpy(&numbers[i], &code, sizeof(code));
  }
  return numbers;
}

// A batch of kSourceBytes, to slots in a random order.
class Batch {
 public:
  explicit Batch(const PageFormat& format) {
    RandomStream random(1, "write tokens benchmark");
    args_.format = format;
    args_.num_tokens = kSourceBytes / kLayers / SourceRowBytes(format);
    const auto num_blocks =
        static_cast<int32_t>(args_.num_tokens / format.block_tokens + 1);
    args_.pages = {nullptr, kLayers, num_blocks, format.block_tokens,
                   format.PageBytes()};
    for (int32_t layer = 0; layer < kLayers; ++layer) {
      pages_.emplace_back(static_cast<size_t>(num_blocks * format.PageBytes()));
      page_pointers_.push_back(pages_.back().data());
    }
    for (int p = 0; p < format.num_parts; ++p) AddSource(p, random);
    for (int64_t i = 0; i < args_.num_tokens; ++i) slots_.push_back(i);
    random.Shuffle(std::span(slots_));
    args_.pages.layers = page_pointers_.data();
    args_.slots = slots_.data();
  }

  const WriteTokensArgs& args() const { return args_; }

  // Of what the last write left in the pages.
  double Hash() const {
    uint64_t hash = 0;
    for (const Bytes& page : pages_) {
      for (const std::byte byte : page) {
        hash = (hash ^ static_cast<uint64_t>(byte)) * 1'099'511'628'211u;
      }
    }
    return static_cast<double>(hash % 1'000'000'007);
  }

 private:
  void AddSource(int part, RandomStream& random) {
    const int64_t stride = args_.format.parts[part].SourceRowBytes();
    for (int32_t layer = 0; layer < kLayers; ++layer) {
      rows_.push_back(Numbers(args_.num_tokens * stride, random));
      row_pointers_[part].push_back(rows_.back().data());
    }
    args_.sources[part] = {row_pointers_[part].data(), stride, scales_.data()};
  }

  WriteTokensArgs args_;
  std::vector<Bytes> pages_;
  std::vector<Bytes> rows_;
  std::vector<std::byte*> page_pointers_;
  std::vector<const std::byte*> row_pointers_[kMaxPageParts];
  std::vector<float> scales_ = std::vector<float>(kLayers, 0.5f);
  std::vector<int64_t> slots_;
};

void Write(benchmark::State& state, const PageFormat& format) {
  const Batch batch(format);
  for (auto _ : state) KVSIM_CHECK(WriteTokensOnHost(batch.args()).ok());
  state.SetBytesProcessed(state.iterations() * kLayers *
                          batch.args().num_tokens * SourceRowBytes(format));
  state.counters["hash"] = batch.Hash();
}

void BM_Memcpy(benchmark::State& state) {
  const Bytes from(static_cast<size_t>(kSourceBytes), std::byte{1});
  Bytes to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kSourceBytes);
}
BENCHMARK(BM_Memcpy);

BENCHMARK_CAPTURE(Write, dense_bf16_8x128, DenseBf16Pages(8, 128, 16));
BENCHMARK_CAPTURE(Write, latent_bf16, LatentBf16Pages(512, 64, 64));
BENCHMARK_CAPTURE(Write, raw_4096, RawPages(4096, 16));
BENCHMARK_CAPTURE(Write, dense_fp8_8x128, DenseFp8Pages(8, 128, 16));
BENCHMARK_CAPTURE(Write, fp8_per_token_head_8x128,
                  PerTokenHeadPages(ElementCode::kFp8, 8, 128, 16));
BENCHMARK_CAPTURE(Write, fp8_ds_mla_656, Fp8DsMla656Pages(64));
BENCHMARK_CAPTURE(Write, fp8_ds_mla_584, Fp8DsMla584Pages(64));

}  // namespace
}  // namespace kvsim
