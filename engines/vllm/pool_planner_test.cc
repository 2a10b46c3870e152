// Worked examples on hand-made layers: 40 GiB of KV memory on one rank, vLLM's
// rules of 2026-08-17, two batches of 8,192 tokens in flight, prefix caching
// on. Every figure was obtained from vLLM's own planner modules fed with the
// same layers; the comments derive the bytes.
#include "engines/vllm/pool_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvsim::vllm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Bytes k40GiB = Bytes(42949672960);

KvSpec Full(int64_t block, int64_t row) {
  return {.block_tokens = Tokens(block), .row_bytes = Bytes(row)};
}

KvSpec Mla(int64_t block, int64_t row) {
  return {.kind = SpecKind::kMla,
          .block_tokens = Tokens(block),
          .row_bytes = Bytes(row)};
}

KvSpec Sliding(int64_t block, int64_t row, int64_t window) {
  return {.kind = SpecKind::kSlidingWindow,
          .block_tokens = Tokens(block),
          .row_bytes = Bytes(row),
          .window = Tokens(window)};
}

KvSpec Chunked(int64_t block, int64_t row, int64_t chunk) {
  return {.kind = SpecKind::kChunkedLocal,
          .block_tokens = Tokens(block),
          .row_bytes = Bytes(row),
          .window = Tokens(chunk)};
}

KvSpec State(int64_t block, int64_t state, int64_t page) {
  return {.kind = SpecKind::kState,
          .block_tokens = Tokens(block),
          .state_bytes = Bytes(state),
          .padded_page = Bytes(page)};
}

// A model of `layers` layers, layer i as `spec_of(i)` says; one stage.
template <typename SpecOf>
PoolInput Model(int layers, int64_t max_len, SpecOf spec_of) {
  PoolInput input;
  for (int i = 0; i < layers; ++i)
    input.caches.push_back({i, false, spec_of(i)});
  input.stage_layers = {layers};
  input.kv_memory = {k40GiB};
  input.max_model_len = Tokens(max_len);
  return input;
}

PoolInput Uniform(int layers, int64_t max_len, const KvSpec& spec) {
  return Model(layers, max_len, [&](int) { return spec; });
}

// A DSA model: every layer a latent, `indexed(i)` layers an index key of 132 B.
template <typename Indexed>
PoolInput Sparse(int layers, int64_t max_len, int64_t row, Indexed indexed) {
  PoolInput input = Uniform(layers, max_len, Mla(64, row));
  input.caches.clear();
  for (int i = 0; i < layers; ++i) {
    input.caches.push_back({i, false, Mla(64, row)});
    if (indexed(i)) input.caches.push_back({i, true, Mla(64, 132)});
  }
  return input;
}

struct Expected {
  int64_t bytes_per_block;
  int64_t num_blocks;
  int64_t remainder;
  int64_t blocks_per_request;
  std::string concurrency;
  std::string tokens;
};

void ExpectPlan(const PoolInput& input, const Expected& expected) {
  const absl::StatusOr<PoolPlan> plan = PlanPool(input);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->bytes_per_block.value(), expected.bytes_per_block);
  EXPECT_EQ(plan->num_blocks.value(), expected.num_blocks);
  EXPECT_EQ(plan->ranks[plan->binding_rank].remainder.value(),
            expected.remainder);
  EXPECT_EQ(plan->blocks_per_request.value(), expected.blocks_per_request);
  ASSERT_FALSE(plan->log_lines.empty());
  EXPECT_THAT(plan->log_lines.back(),
              HasSubstr("GPU KV cache size: " + expected.tokens + " tokens"));
  EXPECT_THAT(plan->log_lines.back(),
              HasSubstr("per request: " + expected.concurrency + "x"));
}

// Llama-2-7B: 32 layers, 32 heads x 256 numbers; bf16 16,384 B, fp8 8,192 B.
TEST(PoolPlannerOneGroup, Llama2) {
  ExpectPlan(Uniform(32, 4096, Full(16, 16384)),
             {8388608, 5120, 0, 256, "20.00", "81,920"});
  ExpectPlan(Uniform(32, 4096, Full(16, 8192)),
             {4194304, 10240, 0, 256, "40.00", "163,840"});
}

// All 32 layers slide: one group, ceil((4,095 + 16,384) / 16) + 1 = 1,281.
TEST(PoolPlannerOneGroup, Mistral) {
  ExpectPlan(Uniform(32, 32768, Sliding(16, 4096, 4096)),
             {2097152, 20480, 0, 1281, "15.99", "523,878"});
}

// One of 8 KV heads of 128 on each of 8 ranks, 80 layers. A row is 512 B in
// bf16, 256 in fp8, 2 x (64 + 8) = 144 in nvfp4, 2 x (128 + 4) = 264 in int8
// with scales per token and head.
TEST(PoolPlannerOneGroup, Llama70BOverEightRanks) {
  ExpectPlan(Uniform(80, 131072, Full(16, 512)),
             {655360, 65536, 0, 8192, "8.00", "1,048,576"});
  ExpectPlan(Uniform(80, 131072, Full(16, 256)),
             {327680, 131072, 0, 8192, "16.00", "2,097,152"});
  ExpectPlan(Uniform(80, 131072, Full(16, 144)),
             {184320, 233016, 163840, 8192, "28.44", "3,728,256"});
  ExpectPlan(Uniform(80, 131072, Full(16, 264)),
             {337920, 127100, 40960, 8192, "15.52", "2,033,600"});
}

// DeepSeek-V3: 61 latents of 576 numbers, whole on every rank.
TEST(PoolPlannerOneGroup, DeepSeekV3) {
  ExpectPlan(Uniform(61, 163840, Mla(64, 1152)),
             {4497408, 9549, 3923968, 2560, "3.73", "611,136"});
  ExpectPlan(Uniform(61, 163840, Mla(16, 1152)),
             {1124352, 38199, 550912, 10240, "3.73", "611,184"});
  ExpectPlan(Uniform(61, 163840, Mla(64, 576)),
             {2248704, 19099, 1675264, 2560, "7.46", "1,222,336"});
  ExpectPlan(Uniform(62, 163840, Mla(64, 1152)),
             {4571136, 9395, 3850240, 2560, "3.67", "601,280"});
}

TEST(PoolPlannerOneGroup, DecodeContextRanksShareASequence) {
  PoolInput input = Uniform(61, 163840, Mla(64, 1152));
  input.demand.decode_context = 8;
  ExpectPlan(input, {4497408, 9549, 3923968, 320, "29.84", "4,889,088"});
  EXPECT_EQ(PlanPool(input)->scheduler_block_tokens, Tokens(512));
}

// Main rows of 656 (fp8 with scales and bf16 rope), 1,152 (bf16), 576 (fp8).
TEST(PoolPlannerUniformType, DeepSeekV32) {
  const auto all = [](int) { return true; };
  ExpectPlan(Sparse(61, 163840, 656, all),
             {3076352, 13961, 722688, 2560, "5.45", "893,504"});
  ExpectPlan(Sparse(61, 163840, 1152, all),
             {5012736, 8568, 550912, 2560, "3.35", "548,352"});
  ExpectPlan(Sparse(61, 163840, 576, all),
             {2764032, 15538, 2143744, 2560, "6.07", "994,432"});
  ExpectPlan(Sparse(62, 163840, 656, all),
             {3126784, 13736, 167936, 2560, "5.37", "879,104"});
}

TEST(PoolPlannerUniformType, Glm5) {
  const auto all = [](int) { return true; };
  ExpectPlan(Sparse(78, 202752, 1152, all),
             {6409728, 6700, 4495360, 3168, "2.11", "428,800"});
  ExpectPlan(Sparse(78, 202752, 656, all),
             {3933696, 10918, 1580032, 3168, "3.45", "698,752"});
}

// GLM-5.2 indexes layers 0, 1, 2, 6, 10 ... 74: 21 of 78. One request of 1M
// tokens needs 16,384 blocks: 90.46 GiB, 52.68 GiB.
TEST(PoolPlannerUniformType, Glm52RefusesToStart) {
  const auto every_fourth = [](int i) { return i < 2 || i % 4 == 2; };
  const PoolPlan bf16 = *PlanPool(Sparse(78, 1048576, 1152, every_fourth));
  EXPECT_EQ(bf16.bytes_per_block, Bytes(5928192));
  EXPECT_EQ(bf16.num_blocks, Blocks(7244));
  ASSERT_TRUE(bf16.refused.has_value());
  EXPECT_EQ(bf16.refused->needed, Bytes(5928192) * 16384);
  EXPECT_EQ(bf16.refused->max_len_that_fits, Tokens(463616));
  EXPECT_THAT(bf16.refused->message,
              HasSubstr("max seq len (1048576), (90.46 GiB KV cache is needed, "
                        "which is larger than the available KV cache memory "
                        "(40.0 GiB). Based on the available memory, the "
                        "estimated maximum model length is 463616. "));
  const PoolPlan fp8 = *PlanPool(Sparse(78, 1048576, 656, every_fourth));
  EXPECT_EQ(fp8.num_blocks, Blocks(12441));
  ASSERT_TRUE(fp8.refused.has_value());
  EXPECT_THAT(fp8.refused->message, HasSubstr("(52.68 GiB"));
  EXPECT_EQ(fp8.refused->max_len_that_fits, Tokens(796224));
}

// 7 MLA layers (every fourth and the last) and 20 KDA layers in groups of 7,
// 7, 6. The state: conv 3 x 32 x 128 x 3 x 2 = 73,728 and 32 x 128 x 128 x 4 =
// 2,097,152; the block of 1,920 tokens gives a page of 1,920 x 1,152 =
// 2,211,840, 7 of them 15,482,880. Align mode: 2 blocks a group.
TEST(PoolPlannerHybrid, KimiLinear) {
  PoolInput input = Model(27, 1048576, [](int i) {
    return i % 4 == 3 || i == 26 ? Mla(1920, 1152)
                                 : State(1920, 2170880, 2211840);
  });
  ExpectPlan(input, {15482880, 2774, 163840, 553, "5.02", "5,259,945"});
  const PoolPlan plan = *PlanPool(input);
  ASSERT_EQ(plan.groups.size(), 4u);
  EXPECT_EQ(plan.groups[0].kind, "mamba");
  EXPECT_EQ(plan.groups[0].layers.size(), 7u);
  EXPECT_EQ(plan.groups[2].layers.size(), 6u);
  EXPECT_EQ(plan.groups[3].kind, "mla_attention");
  // 40,960 B of padding a state page; the group of 6 leaves a page unused.
  EXPECT_EQ(plan.groups[2].page_padding, Bytes(6 * 40960));
  EXPECT_EQ(plan.groups[2].slot_padding, Bytes(2211840));
}

// gpt-oss-120b: even layers slide over 128 tokens; 8 heads x 64 x 2 x 2 B =
// 2,048 B a row. Per request 8,192 + 1,033 blocks.
PoolInput GptOss(int64_t row, int layers = 36) {
  return Model(layers, 131072, [row](int i) {
    return i % 2 == 0 && i < 36 ? Sliding(16, row, 128) : Full(16, row);
  });
}

TEST(PoolPlannerHybrid, GptOss) {
  ExpectPlan(GptOss(2048), {589824, 72817, 458752, 9225, "7.89", "1,034,609"});
  ExpectPlan(GptOss(1024),
             {294912, 145635, 163840, 9225, "15.79", "2,069,232"});
  // The windows come first because layer 0 slides.
  EXPECT_EQ(PlanPool(GptOss(2048))->groups[0].kind, "sliding_window");
  // EAGLE-3 adds a 19th full layer; 19 < 1.5 x 18, so one group holds each.
  const PoolPlan eagle = *PlanPool(GptOss(2048, 37));
  EXPECT_EQ(eagle.bytes_per_block, Bytes(622592));
  EXPECT_EQ(eagle.num_blocks, Blocks(68985));
  EXPECT_EQ(eagle.groups.size(), 2u);
}

// The older token line counts blocks: 72,817 // 2 groups x 16 = 582,528.
TEST(PoolPlannerHybrid, OldTokenLineCountsBlocks) {
  PoolInput input = GptOss(2048);
  input.switches = SwitchesFor("2026-04-21")->switches;
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.kv_cache_tokens, Tokens(582528));
  EXPECT_THAT(plan.log_lines,
              ElementsAre("GPU KV cache size: 582,528 tokens",
                          HasSubstr("Maximum concurrency for 131,072 tokens "
                                    "per request: ")));
}

// Gemma-3-27B: five sliding layers to one full; 16 x 128 x 2 x 2 B = 8,192 B.
PoolInput Gemma3() {
  return Model(62, 131072, [](int i) {
    return i % 6 == 5 ? Full(16, 8192) : Sliding(16, 8192, 1024);
  });
}

TEST(PoolPlannerHybrid, Gemma3) {
  ExpectPlan(Gemma3(), {1310720, 32768, 0, 14726, "2.23", "291,658"});
  PoolInput one_batch = Gemma3();
  one_batch.async_scheduling = false;
  ExpectPlan(one_batch, {1310720, 32768, 0, 11654, "2.81", "368,540"});
}

// 52 windows in 6 groups of 9, 9, 9, 9, 8, 8 against 10 slots of 131,072 B.
TEST(PoolPlannerHybrid, GroupsShorterThanTheBlockLeaveSlotsUnused) {
  const PoolPlan plan = *PlanPool(Gemma3());
  ASSERT_EQ(plan.groups.size(), 7u);
  EXPECT_EQ(plan.groups[0].slot_padding, Bytes(131072));
  EXPECT_EQ(plan.groups[4].slot_padding, Bytes(2 * 131072));
  EXPECT_EQ(plan.groups[6].slot_padding, Bytes(0));
}

TEST(PoolPlannerHybrid, Gemma3WithoutTheHybridManagerRefuses) {
  PoolInput input = Gemma3();
  input.hybrid_manager = false;
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.bytes_per_block, Bytes(8126464));
  EXPECT_EQ(plan.num_blocks, Blocks(5285));
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->max_len_that_fits, Tokens(84560));
}

// 31 + 31 layers: the stages hold up to 5 layers of each group, half the block.
// A pipeline of two keeps two batches in flight.
TEST(PoolPlannerHybrid, Gemma3OverTwoStages) {
  PoolInput input = Gemma3();
  input.stage_layers = {31, 31};
  input.kv_memory = {k40GiB, k40GiB};
  ExpectPlan(input, {655360, 65536, 0, 14726, "4.45", "583,317"});
}

TEST(PoolPlannerHybrid, TheSmallestStageBinds) {
  PoolInput input = Gemma3();
  input.stage_layers = {31, 31};
  input.kv_memory = {k40GiB, Bytes(k40GiB.value() / 2)};
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.num_blocks, Blocks(32768));
  EXPECT_EQ(plan.binding_rank, 1u);
  EXPECT_EQ(plan.ranks[0].own_blocks, Blocks(65536));
  EXPECT_EQ(plan.ranks[0].remainder, Bytes(k40GiB.value() / 2));
}

// Llama-4-Scout over 8 ranks: one KV head of 128, 512 B; every fourth layer is
// full, the others see chunks of 8,192: 65,536 + 3 x 1,536 blocks.
TEST(PoolPlannerHybrid, Llama4) {
  PoolInput input = Model(48, 1048576, [](int i) {
    return i % 4 == 3 ? Full(16, 512) : Chunked(16, 512, 8192);
  });
  ExpectPlan(input, {98304, 436906, 65536, 70144, "6.23", "6,531,266"});
  input.hybrid_manager = false;
  ExpectPlan(input, {393216, 109226, 262144, 65536, "1.67", "1,747,616"});
}

// A rank of 8,192 B pages beside one of 16,384: the smaller gets 32 tokens.
TEST(PoolPlannerHybrid, SmallerPagesGetMoreTokens) {
  const PoolInput input = Model(2, 4096, [](int i) {
    return i == 0 ? Sliding(16, 512, 128) : Full(16, 1024);
  });
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.groups[0].demand.block_tokens, Tokens(32));
  EXPECT_EQ(plan.groups[1].demand.block_tokens, Tokens(16));
  EXPECT_EQ(plan.scheduler_block_tokens, Tokens(32));
}

TEST(PoolPlannerErrors, NameFlagAndValue) {
  const auto message = [](const PoolInput& input) {
    return std::string(PlanPool(input).status().message());
  };
  EXPECT_THAT(message(Uniform(2, 4096, Full(0, 512))),
              HasSubstr("--block-size 0"));
  EXPECT_THAT(message(Uniform(2, 0, Full(16, 512))),
              HasSubstr("--max-model-len 0"));
  EXPECT_THAT(message(Uniform(2, (int64_t{1} << 40) + 1, Full(16, 512))),
              HasSubstr("--max-model-len 1099511627777"));
  PoolInput no_batch = Uniform(2, 4096, Full(16, 512));
  no_batch.max_num_batched_tokens = Tokens(-5);
  EXPECT_THAT(message(no_batch), HasSubstr("--max-num-batched-tokens -5"));
  PoolInput no_blocks = Uniform(2, 4096, Full(16, 512));
  no_blocks.num_blocks_override = Blocks(0);
  EXPECT_THAT(message(no_blocks), HasSubstr("--num-gpu-blocks-override 0"));
  PoolInput sharded_window = Uniform(2, 4096, Sliding(16, 512, 128));
  sharded_window.demand.decode_context = 2;
  EXPECT_THAT(message(sharded_window),
              HasSubstr("--decode-context-parallel-size 2: layer 0 "
                        "(sliding_window) cannot be sharded"));
}

TEST(PoolPlannerErrors, NoMemoryIsARefusal) {
  PoolInput input = Uniform(2, 4096, Full(16, 512));
  input.kv_memory = {Bytes(-1000)};
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.num_blocks, Blocks(0));
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_THAT(plan.refused->message, HasSubstr("No available memory"));
  EXPECT_EQ(plan.refused->max_len_that_fits, Tokens(0));
}

// 100 TiB of one-byte rows at 2^40 tokens: nothing overflows.
TEST(PoolPlannerErrors, HugeSizesDoNotOverflow) {
  PoolInput input = Uniform(1, int64_t{1} << 40, Full(1, 1));
  input.kv_memory = {Bytes(109951162777600)};
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.num_blocks, Blocks(109951162777600));
  EXPECT_EQ(plan.max_concurrency, 100.0);
  PoolInput states = Uniform(1, int64_t{1} << 40, State(16, 1, 0));
  states.kv_memory = {Bytes(109951162777600)};
  EXPECT_EQ(PlanPool(states)->kv_cache_tokens, Tokens::Max());
}

TEST(PoolPlanner, OverrideReplacesTheBlocksAlsoInTheCheck) {
  PoolInput input = Uniform(32, 4096, Full(16, 16384));
  input.num_blocks_override = Blocks(256);
  EXPECT_FALSE(PlanPool(input)->refused.has_value());
  EXPECT_EQ(PlanPool(input)->num_blocks, Blocks(256));
  input.num_blocks_override = Blocks(255);
  ASSERT_TRUE(PlanPool(input)->refused.has_value());
  EXPECT_EQ(PlanPool(input)->refused->max_len_that_fits, Tokens(255 * 16));
}

// The check charges all 48 layers against one stage's memory: with pages of
// 16 x 512 B and 262,144 tokens, 16,384 x 48 x 8,192 B.
TEST(PoolPlanner, StartCheckChargesAllLayersUnderPipelines) {
  PoolInput input = Uniform(48, 262144, Full(16, 512));
  input.stage_layers = {16, 32};
  input.kv_memory = {Bytes(5000000000), Bytes(5000000000)};
  const PoolPlan plan = *PlanPool(input);
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->needed, Bytes(int64_t{16384} * 48 * 8192));
}

// Older versions checked the memory, which is not known here.
TEST(PoolPlanner, OlderChecksDoNotSeeTheOverride) {
  PoolInput input = Uniform(32, 4096, Full(16, 16384));
  input.num_blocks_override = Blocks(255);
  input.switches.override_in_check = false;
  EXPECT_FALSE(PlanPool(input)->refused.has_value());
  input.kv_memory.clear();
  EXPECT_FALSE(PlanPool(input)->refused.has_value());
}

// A table without rows of its own takes its blocks, and the whole block is its
// padding: 256 blocks of history and 1.
TEST(PoolPlanner, TablesBesideTheLayersTakeBlocks) {
  PoolInput input = Uniform(32, 4096, Full(16, 16384));
  BlockDemand tail;
  tail.kind = BlockDemand::Kind::kPerSequence;
  tail.constant_worst = tail.constant_steady = Blocks(1);
  input.extra_groups = {{"index_tail", tail}};
  const PoolPlan plan = *PlanPool(input);
  EXPECT_EQ(plan.blocks_per_request, Blocks(257));
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[1].kind, "index_tail");
  EXPECT_EQ(plan.groups[1].slot_padding, plan.bytes_per_block);
}

// 11 layers of windows beside 2 of full history: groups of 2, the last lacks
// one of 11. States of 900 B in pages of 1,000.
TEST(PoolPlanner, TheLogSaysWhatWasPadded) {
  PoolInput input = Model(13, 4096, [](int i) {
    return i % 6 == 5 ? Full(16, 512) : Sliding(16, 512, 128);
  });
  EXPECT_EQ(PlanPool(input)->log_lines[0],
            "Add 1 padding layers, may waste at most 9.09% KV cache memory");
  PoolInput states = Model(2, 4096, [](int i) {
    return i == 0 ? State(32, 900, 1024) : Full(32, 32);
  });
  states.natural_block = Tokens(16);
  const PoolPlan plan = *PlanPool(states);
  EXPECT_EQ(plan.log_lines[0],
            "Setting attention block size to 32 tokens to ensure that "
            "attention page size is >= mamba page size.");
  // 124 / 900.
  EXPECT_EQ(plan.log_lines[1],
            "Padding mamba page size by 13.78% to ensure that mamba page size "
            "and attention page size are exactly equal.");
}

// 32 layers x 16 tokens x 4,096 B = 2 MiB: 2,048 blocks in 4 GiB, here and in
// the swap space; 2,048 x 16 tokens for 20,000.
TEST(PreviousPool, CountsBlocksHereAndOnTheHost) {
  PoolInput input = Uniform(32, 20000, Full(16, 4096));
  input.kv_memory = {GiB(4)};
  input.swap_space = GiB(4);
  input.switches.says_gpu_blocks = true;
  const PoolPlan plan = *PlanPreviousPool(input);
  EXPECT_EQ(plan.num_blocks, Blocks(2048));
  EXPECT_EQ(plan.host_blocks, Blocks(2048));
  EXPECT_THAT(plan.log_lines,
              ElementsAre("# GPU blocks: 2048, # CPU blocks: 2048",
                          "Maximum concurrency for 20000 tokens per request: "
                          "1.64x"));
  EXPECT_FALSE(plan.refused.has_value());
}

TEST(PreviousPool, RefusesLengthsBeyondItsTokens) {
  PoolInput input = Uniform(32, 32769, Full(16, 4096));
  input.kv_memory = {GiB(4)};
  const PoolPlan plan = *PlanPreviousPool(input);
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->max_len_that_fits, Tokens(32768));
  EXPECT_THAT(plan.refused->message,
              HasSubstr("max seq len (32769) is larger than the maximum number "
                        "of tokens that can be stored in KV cache (32768)"));
}

// Windows were stored as full history, so one table serves all layers.
TEST(PreviousPool, StoresWindowsWhole) {
  const PoolInput input = Model(4, 4096, [](int i) {
    return i % 2 == 0 ? Sliding(16, 512, 128) : Full(16, 512);
  });
  EXPECT_EQ(PlanPreviousPool(input)->groups.size(), 1u);
}

}  // namespace
}  // namespace kvsim::vllm
