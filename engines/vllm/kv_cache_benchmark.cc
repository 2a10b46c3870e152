// One-million-token requests at block 16 on a pool of 200,000 cached blocks.
//
// LongPrompt: all allocator calls of one request in chunks of 8,192 tokens:
// cold (every block is taken from another prompt's cache), as a full hit, and
// giving the blocks back; with full attention alone, with nine windows of 128 tokens
// beside it, and with nine recurrent groups. BlockedHead: a whole engine step while a request of
// one million tokens cannot be admitted and nothing it depends on changes.
// The counter `per_block_ns` divides by the 65,536 blocks; `result` is a hash
// of the block tables and queues that came out.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/key_chain.h"
#include "base/random.h"
#include "engines/vllm/engine.h"
#include "engines/vllm/kv_cache_manager.h"

namespace kvsim::vllm {
namespace {

constexpr int64_t kBlock = 16;
constexpr int64_t kPool = 200'000;
constexpr int64_t kPrompt = 1 << 20;
constexpr int64_t kChunk = 8192;

// Keys of a prompt nobody shares: a random stream of its own.
class PrivateKeys final : public KeyChain {
 public:
  PrivateKeys(uint64_t prompt, int64_t blocks) {
    RandomStream random(prompt, "keys");
    for (int64_t i = 0; i < blocks; ++i) keys_.push_back(random.Next());
  }
  std::span<const uint64_t> Prefix(int64_t num_blocks) override {
    return std::span(keys_).first(static_cast<size_t>(num_blocks));
  }

 private:
  std::vector<uint64_t> keys_;
};

enum Others { kAlone, kWindows, kStates };

Settings LongSettings(Others others = kAlone) {
  Settings settings;
  if (others != kAlone) {
    CacheGroup group = {.kind = GroupKind::kSlidingWindow, .window = 128};
    if (others == kStates) group = {.kind = GroupKind::kRecurrent};
    settings.groups.assign(10, group);
    settings.groups[0] = CacheGroup();
  }
  settings.num_gpu_blocks = kPool;
  settings.block_size = kBlock;
  settings.max_model_len = 2 * kPrompt;
  settings.max_num_batched_tokens = kChunk;
  return settings;
}

uint64_t Mixed(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001B3u;
}

void Take(KvCacheManager* cache, RequestBlocks* request, int64_t tokens) {
  request->num_prompt = tokens;
  cache->StartStep();
  int64_t at = cache->FindHit(*request, tokens).tokens;
  int64_t n = std::min(kChunk, tokens - at);
  KVSIM_CHECK(cache->Admit(request, tokens, n, 0) == Refusal::kNone);
  cache->CompleteRows(request, n);
  for (at += n; at < tokens; at += n) {
    n = std::min(kChunk, tokens - at);
    KVSIM_CHECK(cache->Extend(request, tokens, at, at, n) == Refusal::kNone);
    cache->CompleteRows(request, n);
  }
}

// Fills the pool with cached blocks of short prompts, released in random order,
// so that the free queue jumps about in memory.
void Churn(KvCacheManager* cache, uint64_t seed) {
  constexpr int64_t kShort = 64;  // blocks
  const auto num_groups = static_cast<int64_t>(cache->num_groups());
  const int64_t num_requests = kPool / kShort / num_groups;
  RandomStream random(seed, "churn");
  std::vector<std::unique_ptr<PrivateKeys>> keys;
  std::vector<RequestBlocks> requests(static_cast<size_t>(num_requests));
  for (int64_t i = 0; i < num_requests; ++i) {
    keys.push_back(std::make_unique<PrivateKeys>(
        seed * 1000003 + static_cast<uint64_t>(i), kShort));
    RequestBlocks& request = requests[static_cast<size_t>(i)];
    request.id = i;
    request.keys = keys.back().get();
    if (i + 1 < num_requests) Take(cache, &request, kShort * kBlock);
  }
  std::vector<RequestBlocks*> order;
  for (RequestBlocks& request : requests) order.push_back(&request);
  random.Shuffle(std::span(order));
  for (RequestBlocks* request : order) cache->Free(request);
}

enum Phase { kCold, kHit, kFree };

void BM_LongPrompt(benchmark::State& state) {
  const Phase phase = static_cast<Phase>(state.range(0));
  const auto others = static_cast<Others>(state.range(1));
  KvCacheManager cache(LongSettings(others));
  // A state can be hit where a chunk ended, and a token must be left to compute.
  const int64_t tokens = others == kStates ? kPrompt + 1 : kPrompt;
  uint64_t prompt = 1, result = 0;
  PrivateKeys repeated(prompt, kPrompt / kBlock);
  for (auto _ : state) {
    state.PauseTiming();
    Churn(&cache, ++prompt);
    PrivateKeys fresh(prompt << 32, kPrompt / kBlock);
    RequestBlocks request;
    request.id = -2;
    request.keys = phase == kHit ? static_cast<KeyChain*>(&repeated) : &fresh;
    if (phase == kHit) {  // cached once, then released
      Take(&cache, &request, tokens);
      cache.Free(&request);
    }
    if (phase == kFree) Take(&cache, &request, tokens);
    state.ResumeTiming();
    if (phase != kFree) Take(&cache, &request, tokens);
    if (phase == kFree) cache.Free(&request);
    state.PauseTiming();
    if (prompt == 2) {  // of the first round: later ones vary in number
      for (BlockId id : cache.pool().FreeQueue()) result = Mixed(result, id);
      for (const GroupBlocks& group : request.groups) {
        for (BlockId id : group.table) result = Mixed(result, id);
      }
    }
    if (phase != kFree) cache.Free(&request);
    state.ResumeTiming();
  }
  state.counters["per_block_ns"] = benchmark::Counter(
      kPrompt / kBlock, benchmark::Counter::kIsIterationInvariantRate |
                            benchmark::Counter::kInvert);
  state.counters["result"] = static_cast<double>(result & 0xFFFFFF);
}
BENCHMARK(BM_LongPrompt)
    ->ArgNames({"cold0_hit1_free2", "alone0_windows1_states2"})
    ->ArgsProduct({{kCold, kHit, kFree}, {kAlone, kWindows, kStates}})
    ->Unit(benchmark::kMillisecond);

// One decode runs; behind it a prompt that needs more blocks than are free.
void BM_BlockedHead(benchmark::State& state) {
  Settings settings = LongSettings();
  settings.remember_refusal = state.range(0) != 0;
  auto engine = VllmEngine::Create(settings);
  KVSIM_CHECK(engine.ok());
  PrivateKeys running(1, 2 * kPrompt / kBlock);
  PrivateKeys blocked(2, 2 * kPrompt / kBlock);
  StepPlan plan;
  std::vector<RequestId> finished;
  const auto step = [&] {
    (*engine)->Schedule(&plan);
    std::vector<int32_t> sampled;
    for (const ScheduledRequest& work : plan.scheduled) {
      sampled.push_back(work.samples ? 1 : 0);
    }
    (*engine)->Complete(plan, sampled, &finished);
  };
  // The first request caches the blocked prompt's first half and ends; then one
  // of 1.9 M tokens holds 118,750 blocks for good.
  (*engine)->Add({.id = 0,
                  .num_prompt_tokens = kPrompt / 2,
                  .max_tokens = 1,
                  .keys = &blocked});
  while ((*engine)->HasUnfinished()) step();
  (*engine)->Add({.id = 1,
                  .num_prompt_tokens = 1'900'000,
                  .max_tokens = kPrompt,
                  .keys = &running});
  do step();
  while (!plan.scheduled.back().samples);
  (*engine)->Add({.id = 2,
                  .num_prompt_tokens = 2 * kPrompt - kBlock,
                  .max_tokens = 1,
                  .keys = &blocked});
  step();
  KVSIM_CHECK_EQ((*engine)->Counts().waiting, 1)
      << (*engine)->Counts().running << " running, "
      << (*engine)->Counts().free_blocks << " blocks free";
  // Decodes that stay inside their block: nothing the head depends on moves.
  for (auto _ : state) step();
  state.counters["result"] =
      static_cast<double>((*engine)->Counts().free_blocks);
}
BENCHMARK(BM_BlockedHead)
    ->ArgName("remember")
    ->Arg(1)
    ->Arg(0)
    ->Iterations(10'000)
    ->Unit(benchmark::kMicrosecond);

void BM_PoolMemory(benchmark::State& state) {
  BlockPool pool(state.range(0), true, FreeOrder::kPrependUnkeyed);
  for (auto _ : state) benchmark::DoNotOptimize(pool.num_free());
  state.counters["bytes_per_block"] = static_cast<double>(pool.MemoryBytes()) /
                                      static_cast<double>(pool.num_blocks());
}
BENCHMARK(BM_PoolMemory)->Arg(38'000)->Arg(200'000)->Arg(1'048'583);

}  // namespace
}  // namespace kvsim::vllm
