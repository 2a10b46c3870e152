#include "kernels/paging_bench.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"

namespace kvsim {
namespace {

constexpr const char* kOperations[] = {
    "copy_blocks",  "gather_sequence", "write_tokens",  "swap_out",
    "swap_in",      "save_state",      "restore_state", "slot_mapping",
    "block_tables", "verify_blocks",   "hash_prefixes"};

constexpr int64_t kMaxCalls = 200;
constexpr int32_t kRowsPerPage = 16;
constexpr int64_t kSequencePages = 64;
constexpr int64_t kSequenceTokens = 4096;
constexpr int32_t kHashBlock = 16;

// As stored by a model with 8 KV heads of 128, and by latent-attention models.
struct Format {
  const char* name;
  PageFormat pages;
};
const std::vector<Format>& AllFormats() {
  static const auto& formats = *new std::vector<Format>{
      {"bf16", DenseBf16Pages(8, 128, kRowsPerPage)},
      {"fp8", DenseFp8Pages(8, 128, kRowsPerPage)},
      {"fp8_per_token_head",
       PerTokenHeadPages(ElementCode::kFp8, 8, 128, kRowsPerPage)},
      {"mla", LatentBf16Pages(512, 64, kRowsPerPage)},
      {"fp8_ds_mla", Fp8DsMla656Pages(kRowsPerPage)},
      {"v4", Fp8DsMla584Pages(kRowsPerPage)},
      {"index_key", IndexKeyPages(128, kRowsPerPage)}};
  return formats;
}

constexpr std::pair<const char*, StateEncoding> kStateEncodings[] = {
    {"fp32", StateEncoding::kFloat32},
    {"bf16", StateEncoding::kBfloat16},
    {"int8", StateEncoding::kInt8}};

absl::Status UnknownDtype(const BenchCase& bench) {
  return absl::InvalidArgumentError(absl::StrCat(
      "dtype '", bench.dtype, "' of ", bench.operation, ": accepted: ",
      absl::StrJoin(PagingBench::DtypesOf(bench.operation), ", ")));
}

std::vector<BlockId> Shuffled(int64_t first, int64_t count, const char* name) {
  std::vector<BlockId> blocks(static_cast<size_t>(count));
  std::iota(blocks.begin(), blocks.end(), static_cast<BlockId>(first));
  RandomStream random(1, name);
  for (size_t i = blocks.size(); i > 1; --i) {
    std::swap(blocks[i - 1], blocks[random.Below(i)]);
  }
  return blocks;
}

int64_t Median(std::vector<int64_t> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int64_t SourceBytes(const PageFormat& format) {
  int64_t bytes = 0;
  for (int p = 0; p < format.num_parts; ++p) {
    bytes += format.parts[p].SourceRowBytes();
  }
  return bytes;
}

}  // namespace

double BenchResult::BytesPerSecond() const {
  return static_cast<double>(bytes) * 1e9 / std::max(1e-3, call_ns);
}

double BenchResult::Ratio() const { return plain_ns / std::max(1e-3, call_ns); }

PagingBench::PagingBench(const KernelSet& kernels, DeviceMemory* memory,
                         const BenchOptions& options)
    : kernels_(kernels),
      memory_(memory),
      options_(options),
      pool_(memory),
      swap_(memory, DeviceMemory::Kind::kSwap) {}

absl::StatusOr<std::unique_ptr<PagingBench>> PagingBench::Create(
    const KernelSet& kernels, DeviceMemory* memory,
    const BenchOptions& options) {
  std::unique_ptr<PagingBench> bench(new PagingBench(kernels, memory, options));
  absl::Status status = bench->pool_.Reserve(2 * options.memory_bytes);
  if (!status.ok()) return status;
  status = bench->Touch(bench->pool_, 2 * options.memory_bytes);
  if (!status.ok()) return status;
  return bench;
}

// Memory that was never written is not there yet; as rows it is valid bf16.
absl::Status PagingBench::Touch(const DeviceBuffer& buffer, int64_t size) {
  const std::vector<std::byte> piece(size_t{1} << 20, std::byte{0x3c});
  for (int64_t at = 0; at < size;) {
    const int64_t bytes =
        std::min<int64_t>(static_cast<int64_t>(piece.size()), size - at);
    const absl::Status status =
        memory_->Upload(buffer.data() + at, piece.data(), bytes);
    if (!status.ok()) return status;
    at += bytes;
  }
  return absl::OkStatus();
}

absl::Status PagingBench::ReserveSwap() {
  if (swap_.data() != nullptr) return absl::OkStatus();
  const absl::Status status = swap_.Reserve(options_.memory_bytes);
  if (!status.ok()) return status;
  return Touch(swap_, options_.memory_bytes);
}

std::span<const char* const> PagingBench::Operations() { return kOperations; }

std::vector<std::string> PagingBench::DtypesOf(const std::string& operation) {
  std::vector<std::string> names;
  if (operation == "write_tokens") {
    for (const Format& format : AllFormats()) names.push_back(format.name);
  } else if (operation == "save_state" || operation == "restore_state") {
    for (const auto& [name, encoding] : kStateEncodings) names.push_back(name);
  }
  return names;
}

// --- running ----------------------------------------------------------------------

absl::StatusOr<BenchResult> PagingBench::Run(const BenchCase& bench) {
  BenchResult result{.bench = bench};
  arrays_.clear();
  const absl::StatusOr<Prepared> prepared = Prepare(&result.bench);
  if (!prepared.ok()) return prepared.status();
  result.bytes = prepared->bytes;
  const auto all = [&] {
    LaunchStatus status = LaunchStatus::Ok();
    for (int64_t c = 0; c < prepared->calls && status.ok(); ++c) {
      status = prepared->call(c);
    }
    return status;
  };
  const int64_t plain_bytes =
      std::min(options_.memory_bytes, prepared->bytes * prepared->calls);
  const auto plain = [&] {
    return memory_->Copy(prepared->plain_to, prepared->plain_from, plain_bytes);
  };
  std::vector<int64_t> times, plains;
  for (int i = 0; i <= options_.repeats; ++i) {
    const absl::StatusOr<int64_t> plain_ns = memory_->TimeNs(plain);
    if (!plain_ns.ok()) return plain_ns.status();
    const absl::StatusOr<int64_t> ns = memory_->TimeNs(all);
    if (!ns.ok()) return ns.status();
    if (i == 0) continue;  // the first touch
    plains.push_back(*plain_ns);
    times.push_back(*ns);
  }
  result.call_ns =
      static_cast<double>(Median(times)) / static_cast<double>(prepared->calls);
  result.plain_ns = static_cast<double>(Median(plains)) *
                    static_cast<double>(prepared->bytes) /
                    static_cast<double>(plain_bytes);
  return result;
}

absl::StatusOr<double> PagingBench::PlainBytesPerSecond() {
  const absl::StatusOr<BenchResult> copy =
      Run({.operation = "copy_blocks", .unit_bytes = 1 << 20});
  if (!copy.ok()) return copy.status();
  return static_cast<double>(copy->bytes) * 1e9 /
         std::max(1e-3, copy->plain_ns);
}

absl::StatusOr<PagingBench::Prepared> PagingBench::Prepare(BenchCase* bench) {
  if (bench->layers < 1 || bench->batch < 0 || bench->unit_bytes < 0) {
    return absl::InvalidArgumentError("sizes must be positive");
  }
  using Member = absl::StatusOr<Prepared> (PagingBench::*)(BenchCase*);
  constexpr Member kMembers[] = {
      &PagingBench::PrepareCopy,   &PagingBench::PrepareGather,
      &PagingBench::PrepareWrite,  &PagingBench::PrepareSwap,
      &PagingBench::PrepareSwap,   &PagingBench::PrepareStates,
      &PagingBench::PrepareStates, &PagingBench::PrepareSlots,
      &PagingBench::PrepareTables, &PagingBench::PrepareVerify,
      &PagingBench::PrepareHash};
  static_assert(std::size(kMembers) == std::size(kOperations));
  for (size_t i = 0; i < std::size(kOperations); ++i) {
    if (bench->operation != kOperations[i]) continue;
    absl::StatusOr<Prepared> prepared = (this->*kMembers[i])(bench);
    if (prepared.ok() && prepared->plain_to == nullptr) {
      prepared->plain_to = pool_.data() + options_.memory_bytes;
      prepared->plain_from = pool_.data();
    }
    return prepared;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("operation '", bench->operation,
                   "': accepted: ", absl::StrJoin(kOperations, ", ")));
}

int64_t PagingBench::UnitsOf(const BenchCase& bench, int64_t bytes) const {
  constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max() / 2;
  if (bytes == 0) return 0;
  return std::min(kMostBlocks, options_.memory_bytes / (bench.layers * bytes));
}

absl::StatusOr<int64_t> PagingBench::CallsOf(int64_t units, BenchCase* bench) {
  if (units < 1 || bench->batch > units) {
    return absl::OutOfRangeError(absl::StrCat(
        bench->operation, bench->dtype.empty() ? "" : " ", bench->dtype, ": ",
        std::max<int64_t>(1, bench->batch), " units in ", bench->layers,
        " layers do not fit; accepted: more memory, or up to ", units));
  }
  if (bench->batch == 0) bench->batch = units;
  return std::min(kMaxCalls, units / bench->batch);
}

template <typename T>
absl::StatusOr<T*> PagingBench::Array(const std::vector<T>& values,
                                      DeviceMemory::Kind kind) {
  arrays_.emplace_back(memory_, kind);
  const absl::Status status = arrays_.back().Upload(std::span<const T>(values));
  if (!status.ok()) return status;
  return arrays_.back().template as<T>();
}

absl::StatusOr<PagedLayers> PagingBench::Pages(std::byte* base, int32_t layers,
                                               int64_t num_blocks, int64_t page,
                                               int32_t block_tokens,
                                               DeviceMemory::Kind kind) {
  std::vector<std::byte*> bases;
  for (int32_t l = 0; l < layers; ++l) {
    bases.push_back(base + l * num_blocks * page);
  }
  const absl::StatusOr<std::byte**> array = Array(bases, kind);
  if (!array.ok()) return array.status();
  return PagedLayers{*array, layers, static_cast<int32_t>(num_blocks),
                     block_tokens, page};
}

// --- the operations ---------------------------------------------------------------

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareCopy(
    BenchCase* bench) {
  const int64_t page = bench->unit_bytes;
  const int64_t units = UnitsOf(*bench, page);
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const std::vector<BlockId> from = Shuffled(0, units, "from");
  const std::vector<BlockId> to = Shuffled(units, units, "to");
  std::vector<BlockPair> pairs;
  for (size_t i = 0; i < from.size(); ++i) pairs.push_back({from[i], to[i]});
  const absl::StatusOr<PagedLayers> pages =
      Pages(pool_.data(), bench->layers, 2 * units, page, 1);
  if (!pages.ok()) return pages.status();
  const absl::StatusOr<BlockPair*> list = Array(pairs);
  if (!list.ok()) return list.status();
  const int64_t batch = bench->batch;
  return Prepared{.call =
                      [=, this](int64_t c) {
                        return kernels_.copy_blocks(
                            {*pages, *list + c * batch, batch, page}, {});
                      },
                  .calls = *calls,
                  .bytes = bench->layers * batch * page};
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareGather(
    BenchCase* bench) {
  const int64_t page = bench->unit_bytes;
  const int32_t rows = page % kRowsPerPage == 0 ? kRowsPerPage : 1;
  const int64_t units = UnitsOf(*bench, page);
  absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const int64_t stride = std::min(kSequencePages, bench->batch);
  const int64_t sequences = bench->batch / stride;
  bench->batch = sequences * stride;
  std::vector<int64_t> firsts(static_cast<size_t>(sequences), 0);
  std::vector<int64_t> ends(static_cast<size_t>(sequences), stride * rows);
  std::vector<int64_t> starts;
  for (int64_t s = 0; s <= sequences; ++s) starts.push_back(s * stride * rows);
  GatherSequenceArgs args;
  const absl::StatusOr<PagedLayers> pages =
      Pages(pool_.data(), bench->layers, units, page, rows);
  const auto tables = Array(Shuffled(0, units, "from"));
  const auto first = Array(firsts);
  const auto end = Array(ends);
  const auto out = Array(starts);
  for (const absl::Status& status :
       {pages.status(), tables.status(), first.status(), end.status(),
        out.status()}) {
    if (!status.ok()) return status;
  }
  args.pages = *pages;
  args.share.block_tokens = rows;
  args.row_stride = args.row_bytes = page / rows;
  args.num_sequences = static_cast<int32_t>(sequences);
  args.table_stride = stride;
  args.first_positions = *first;
  args.end_positions = *end;
  args.out_starts = *out;
  args.output = pool_.data() + options_.memory_bytes;
  args.out_rows = bench->batch * rows;
  const BlockId* const table = *tables;
  const int64_t batch = bench->batch;
  return Prepared{.call =
                      [=, this](int64_t c) mutable {
                        args.block_tables = table + c * batch;
                        return kernels_.gather_sequence(args, {});
                      },
                  .calls = *calls,
                  .bytes = bench->layers * batch * page};
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareWrite(
    BenchCase* bench) {
  const auto format =
      std::find_if(AllFormats().begin(), AllFormats().end(),
                   [&](const Format& f) { return f.name == bench->dtype; });
  if (format == AllFormats().end()) return UnknownDtype(*bench);
  WriteTokensArgs args;
  args.format = format->pages;
  bench->unit_bytes = args.format.row_bytes;
  const int64_t source = SourceBytes(args.format);
  const int64_t page = args.format.PageBytes();
  const int64_t units =
      UnitsOf(*bench, std::max(source, args.format.row_bytes)) / kRowsPerPage *
      kRowsPerPage;
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const absl::StatusOr<PagedLayers> pages = Pages(
      pool_.data(), bench->layers, units / kRowsPerPage, page, kRowsPerPage);
  if (!pages.ok()) return pages.status();
  args.pages = *pages;
  // Rows of a layer's parts lie behind one another.
  std::byte* from = pool_.data() + options_.memory_bytes;
  const absl::StatusOr<float*> scales =
      Array(std::vector<float>(static_cast<size_t>(bench->layers), 1.0f));
  if (!scales.ok()) return scales.status();
  for (int p = 0; p < args.format.num_parts; ++p) {
    const int64_t row = args.format.parts[p].SourceRowBytes();
    std::vector<const std::byte*> bases;
    for (int32_t l = 0; l < bench->layers; ++l) {
      bases.push_back(from);
      from += row * bench->batch;
    }
    const absl::StatusOr<const std::byte**> array = Array(bases);
    if (!array.ok()) return array.status();
    args.sources[p] = {*array, row, *scales};
  }
  std::vector<int64_t> slots;
  for (const BlockId slot : Shuffled(0, units, "slots")) slots.push_back(slot);
  const absl::StatusOr<int64_t*> list = Array(slots);
  if (!list.ok()) return list.status();
  const int64_t batch = bench->batch;
  args.num_tokens = batch;
  return Prepared{
      .call =
          [=, this](int64_t c) mutable {
            args.slots = *list + c * batch;
            return kernels_.write_tokens(args, {});
          },
      .calls = *calls,
      .bytes = bench->layers * batch * (source + args.format.row_bytes) / 2};
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareSwap(
    BenchCase* bench) {
  const int64_t page = bench->unit_bytes;
  const int64_t units = UnitsOf(*bench, page);
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const absl::Status status = ReserveSwap();
  if (!status.ok()) return status;
  const std::vector<BlockId> from = Shuffled(0, units, "from");
  const std::vector<BlockId> to = Shuffled(0, units, "to");
  std::vector<BlockPair> pairs;
  for (size_t i = 0; i < from.size(); ++i) pairs.push_back({from[i], to[i]});
  // These are read by the host too.
  constexpr auto kSwap = DeviceMemory::Kind::kSwap;
  const auto device = Pages(pool_.data(), bench->layers, units, page, 1, kSwap);
  const auto host = Pages(swap_.data(), bench->layers, units, page, 1, kSwap);
  const auto list = Array(pairs, kSwap);
  for (const absl::Status& s :
       {device.status(), host.status(), list.status()}) {
    if (!s.ok()) return s;
  }
  const bool out = bench->operation == "swap_out";
  const int64_t batch = bench->batch;
  SwapBlocksArgs args;
  args.device = *device;
  args.host = *host;
  args.direction = out ? SwapDirection::kToHost : SwapDirection::kToDevice;
  args.num_pairs = batch;
  const BlockPair* const first = *list;
  Prepared prepared{.call =
                        [=, this](int64_t c) mutable {
                          args.pairs = first + c * batch;
                          return kernels_.swap_blocks(args, {});
                        },
                    .calls = *calls,
                    .bytes = bench->layers * batch * page};
  prepared.plain_to = out ? swap_.data() : pool_.data();
  prepared.plain_from = out ? pool_.data() : swap_.data();
  return prepared;
}

// As Kimi Linear keeps them: 32 heads, and 3 rows of three convolutions.
absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareStates(
    BenchCase* bench) {
  const auto* encoding =
      std::find_if(std::begin(kStateEncodings), std::end(kStateEncodings),
                   [&](const auto& e) { return e.first == bench->dtype; });
  if (encoding == std::end(kStateEncodings)) return UnknownDtype(*bench);
  StateCheckpointArgs args;
  args.format = {.heads = 32,
                 .key_dim = 128,
                 .value_dim = 128,
                 .conv_bytes = int64_t{3} * 3 * 32 * 128 * 2,
                 .encoding = encoding->second};
  const int64_t page = (args.format.PageBytes() + 255) / 256 * 256;
  args.state_stride = args.format.heads * args.format.HeadElements();
  args.conv_stride = args.format.conv_bytes;
  const int64_t state = 4 * args.state_stride + args.conv_stride;
  bench->unit_bytes = args.format.PageBytes();
  const int64_t units = UnitsOf(*bench, std::max(page, state));
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  std::vector<float*> states;
  std::vector<std::byte*> convolutions;
  std::byte* at = pool_.data() + options_.memory_bytes;
  for (int32_t l = 0; l < bench->layers; ++l, at += units * state) {
    states.push_back(reinterpret_cast<float*>(at));
    convolutions.push_back(at + units * 4 * args.state_stride);
  }
  const std::vector<BlockId> slots = Shuffled(0, units, "from");
  const std::vector<BlockId> blocks = Shuffled(0, units, "to");
  std::vector<StatePair> pairs;
  for (size_t i = 0; i < slots.size(); ++i) {
    pairs.push_back({slots[i], blocks[i]});
  }
  const auto pages = Pages(pool_.data(), bench->layers, units, page, 1);
  const auto state_bases = Array(states);
  const auto conv_bases = Array(convolutions);
  const auto list = Array(pairs);
  for (const absl::Status& status : {pages.status(), state_bases.status(),
                                     conv_bases.status(), list.status()}) {
    if (!status.ok()) return status;
  }
  args.pages = *pages;
  args.states = *state_bases;
  args.convolutions = *conv_bases;
  args.num_slots = units;
  args.num_pairs = bench->batch;
  const StatePair* const first = *list;
  const auto operation = bench->operation == "save_state"
                             ? kernels_.save_state
                             : kernels_.restore_state;
  return Prepared{.call =
                      [=](int64_t c) mutable {
                        args.pairs = first + c * args.num_pairs;
                        return operation(args, {});
                      },
                  .calls = *calls,
                  .bytes = bench->layers * bench->batch *
                           (state + args.format.PageBytes()) / 2};
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareSlots(
    BenchCase* bench) {
  bench->unit_bytes = 8;
  const int64_t units =
      std::min<int64_t>(options_.memory_bytes / 64, int64_t{1} << 22);
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const int64_t batch = bench->batch;
  std::vector<int64_t> positions;
  std::vector<int32_t> starts = {0};
  for (int64_t i = 0; i < batch; ++i) {
    positions.push_back(i % kSequenceTokens);
    if (i % kSequenceTokens == kSequenceTokens - 1 || i == batch - 1) {
      starts.push_back(static_cast<int32_t>(i + 1));
    }
  }
  SlotMappingArgs args;
  args.share.block_tokens = kRowsPerPage;
  args.num_sequences = static_cast<int32_t>(starts.size() - 1);
  args.table_stride = kSequenceTokens / kRowsPerPage;
  args.num_tokens = args.num_padded = batch;
  const auto start = Array(starts);
  const auto position = Array(positions);
  const auto tables =
      Array(Shuffled(1, args.num_sequences * args.table_stride, "tables"));
  for (const absl::Status& status :
       {start.status(), position.status(), tables.status()}) {
    if (!status.ok()) return status;
  }
  args.query_starts = *start;
  args.positions = *position;
  args.block_tables = *tables;
  args.slots = reinterpret_cast<int64_t*>(pool_.data());
  return Prepared{
      .call = [=, this](int64_t) { return kernels_.slot_mapping(args, {}); },
      .calls = *calls,
      .bytes = 8 * batch};
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareTables(
    BenchCase* bench) {
  bench->unit_bytes = 4;
  const absl::StatusOr<int64_t> calls =
      CallsOf(options_.memory_bytes / 4, bench);
  if (!calls.ok()) return calls.status();
  const absl::Status status = ReserveSwap();
  if (!status.ok()) return status;
  const int64_t bytes = 4 * bench->batch;
  Prepared prepared{.call =
                        [=, this](int64_t c) {
                          return memory_->Copy(pool_.data() + c * bytes,
                                               swap_.data() + c * bytes, bytes);
                        },
                    .calls = *calls,
                    .bytes = bytes};
  prepared.plain_to = pool_.data();
  prepared.plain_from = swap_.data();
  return prepared;
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareVerify(
    BenchCase* bench) {
  const int64_t page = bench->unit_bytes;
  const int64_t units = UnitsOf(*bench, page);
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const auto count = static_cast<size_t>(units);
  const auto pages = Pages(pool_.data(), bench->layers, units, page, 1);
  const auto tags = Array(std::vector<BlockTag>(count));
  const auto blocks = Array(Shuffled(0, units, "from"));
  const auto zeros = Array(std::vector<uint64_t>(count));
  const auto verdicts = Array(std::vector<BlockVerdict>(count));
  for (const absl::Status& status :
       {pages.status(), tags.status(), blocks.status(), zeros.status(),
        verdicts.status()}) {
    if (!status.ok()) return status;
  }
  const int64_t batch = bench->batch;
  return Prepared{.call =
                      [=, this](int64_t c) {
                        return kernels_.verify_blocks(
                            {*pages, *tags, *blocks + c * batch, *zeros, *zeros,
                             batch, page, *verdicts},
                            {});
                      },
                  .calls = *calls,
                  .bytes = bench->layers * batch * page};
}

absl::StatusOr<PagingBench::Prepared> PagingBench::PrepareHash(
    BenchCase* bench) {
  bench->unit_bytes = 4;
  const int64_t units =
      std::min<int64_t>(options_.memory_bytes / 16, int64_t{1} << 24) /
      kSequenceTokens * kSequenceTokens;
  const absl::StatusOr<int64_t> calls = CallsOf(units, bench);
  if (!calls.ok()) return calls.status();
  const int64_t prompts = std::max<int64_t>(1, bench->batch / kSequenceTokens);
  bench->batch = std::min(bench->batch, prompts * kSequenceTokens);
  const int64_t tokens = bench->batch / prompts;
  std::vector<int32_t> ids;
  RandomStream random(1, "tokens");
  for (int64_t i = 0; i < bench->batch; ++i) {
    ids.push_back(static_cast<int32_t>(random.Below(1 << 20)));
  }
  std::vector<int64_t> token_starts, key_starts;
  for (int64_t p = 0; p <= prompts; ++p) {
    token_starts.push_back(p * tokens);
    key_starts.push_back(p * (tokens / kHashBlock));
  }
  HashPrefixesArgs args;
  args.block_tokens = kHashBlock;
  args.num_prompts = prompts;
  const auto id = Array(ids);
  const auto token_start = Array(token_starts);
  const auto key_start = Array(key_starts);
  const auto salts = Array(std::vector<uint64_t>(static_cast<size_t>(prompts)));
  for (const absl::Status& status : {id.status(), token_start.status(),
                                     key_start.status(), salts.status()}) {
    if (!status.ok()) return status;
  }
  args.token_ids = *id;
  args.token_starts = *token_start;
  args.key_starts = *key_start;
  args.salts = *salts;
  args.keys = reinterpret_cast<uint64_t*>(pool_.data());
  return Prepared{
      .call = [=, this](int64_t) { return kernels_.hash_prefixes(args, {}); },
      .calls = *calls,
      .bytes = 4 * bench->batch};
}

}  // namespace kvsim
