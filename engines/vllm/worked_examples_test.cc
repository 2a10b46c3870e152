// Whole models against vLLM's planner: config in, block size, groups, blocks
// and log line out. 40 GiB of KV memory on one rank, H100 server defaults
// (8,192 tokens a batch, two batches in flight), prefix caching on, main of
// 2026-08-17. The figures were obtained from vLLM's own planner modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engines/vllm/model_planner.h"
#include "models/model_config.h"
#include "models/model_loader.h"

namespace kvsim::vllm {
namespace {

using ::testing::HasSubstr;

constexpr Bytes k40GiB{42949672960};

ModelSpec Catalogued(const std::string& name, const std::string& changes = "") {
  absl::StatusOr<ModelSpec> model = LoadModel(name, changes);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// A deployment: what is not set is the engine's default on an H100.
struct Deployed {
  ModelSpec model;
  CapacityQuestion question;
  ParallelPlan parallel;

  explicit Deployed(ModelSpec spec) : model(std::move(spec)) {
    question.kv_memory = k40GiB;
    question.gpu = *FindGpu("H100");
  }

  Deployed& Tensor(int64_t ranks) {
    parallel.tensor = ranks;
    return *this;
  }
  Deployed& Context(int64_t ranks) {
    parallel.decode_context = ranks;
    return *this;
  }
  Deployed& Stages(int64_t stages) {
    parallel.pipeline = stages;
    return *this;
  }
  Deployed& Dtype(KvCacheDtype dtype) {
    question.kv_cache_dtype = dtype;
    return *this;
  }
  Deployed& Block(int64_t tokens) {
    question.block_size = Tokens(tokens);
    return *this;
  }
  Deployed& Length(int64_t tokens) {
    question.max_model_len = Tokens(tokens);
    return *this;
  }
  Deployed& Drafts(int64_t tokens) {
    question.speculative_tokens = tokens;
    return *this;
  }
  Deployed& On(const std::string& gpu) {
    question.gpu = *FindGpu(gpu);
    question.max_num_batched_tokens = 8192;
    return *this;
  }

  PoolPlan Plan() {
    question.model = &model;
    const absl::StatusOr<Resolved> resolved = ResolveFlags(question);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    absl::StatusOr<PlannedModel> planned =
        PlanModel(question, *resolved, parallel);
    EXPECT_TRUE(planned.ok()) << planned.status();
    return planned->pool;
  }
};

struct Row {
  int64_t block_tokens;
  int64_t bytes_per_block;
  int64_t num_blocks;
  int64_t remainder;
  int64_t blocks_per_request;
  std::string concurrency;
  std::string tokens;
};

void Expect(const PoolPlan& plan, const Row& row) {
  EXPECT_EQ(plan.block_tokens.value(), row.block_tokens);
  EXPECT_EQ(plan.bytes_per_block.value(), row.bytes_per_block);
  EXPECT_EQ(plan.num_blocks.value(), row.num_blocks);
  EXPECT_EQ(plan.ranks[plan.binding_rank].remainder.value(), row.remainder);
  EXPECT_EQ(plan.blocks_per_request.value(), row.blocks_per_request);
  ASSERT_FALSE(plan.log_lines.empty());
  EXPECT_THAT(plan.log_lines.back(),
              HasSubstr("GPU KV cache size: " + row.tokens + " tokens"));
  EXPECT_THAT(plan.log_lines.back(),
              HasSubstr("per request: " + row.concurrency + "x"));
  EXPECT_FALSE(plan.refused.has_value());
}

void ExpectRefused(const PoolPlan& plan, int64_t bytes_per_block,
                   int64_t num_blocks, const std::string& needed_gib,
                   int64_t fits) {
  EXPECT_EQ(plan.bytes_per_block.value(), bytes_per_block);
  EXPECT_EQ(plan.num_blocks.value(), num_blocks);
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_THAT(plan.refused->message, HasSubstr(needed_gib));
  EXPECT_EQ(plan.refused->max_len_that_fits, Tokens(fits));
}

TEST(WorkedExamples, Llama2) {
  Expect(Deployed(Catalogued("llama-2-7b")).Plan(),
         {16, 8388608, 5120, 0, 256, "20.00", "81,920"});
  Expect(Deployed(Catalogued("llama-2-7b")).Dtype(KvCacheDtype::kFp8).Plan(),
         {16, 4194304, 10240, 0, 256, "40.00", "163,840"});
}

TEST(WorkedExamples, Mistral) {
  Expect(Deployed(Catalogued("mistral-7b")).Plan(),
         {16, 2097152, 20480, 0, 1281, "15.99", "523,878"});
}

TEST(WorkedExamples, Llama70B) {
  const auto with = [](KvCacheDtype dtype, int64_t ranks) {
    return Deployed(Catalogued("llama-3.1-70b"))
        .Tensor(ranks)
        .Dtype(dtype)
        .Plan();
  };
  const Row bf16 = {16, 655360, 65536, 0, 8192, "8.00", "1,048,576"};
  Expect(with(KvCacheDtype::kAuto, 8), bf16);
  // Eight heads on 16 ranks: each is stored twice, a rank holds the same.
  Expect(with(KvCacheDtype::kAuto, 16), bf16);
  Expect(with(KvCacheDtype::kFp8, 8),
         {16, 327680, 131072, 0, 8192, "16.00", "2,097,152"});
  Expect(with(KvCacheDtype::kNvfp4, 8),
         {16, 184320, 233016, 163840, 8192, "28.44", "3,728,256"});
  Expect(with(KvCacheDtype::kInt8PerTokenHead, 8),
         {16, 337920, 127100, 40960, 8192, "15.52", "2,033,600"});
}

TEST(WorkedExamples, DeepSeekV3) {
  const auto v3 = [] { return Deployed(Catalogued("deepseek-v3")); };
  const Row bf16 = {64, 4497408, 9549, 3923968, 2560, "3.73", "611,136"};
  Expect(v3().Block(64).Plan(), bf16);
  // The latent is whole on every rank.
  Expect(v3().Block(64).Tensor(8).Plan(), bf16);
  Expect(v3().Plan(), {16, 1124352, 38199, 550912, 10240, "3.73", "611,184"});
  Expect(v3().Block(64).Dtype(KvCacheDtype::kFp8).Plan(),
         {64, 2248704, 19099, 1675264, 2560, "7.46", "1,222,336"});
  Expect(v3().Block(64).Drafts(1).Plan(),
         {64, 4571136, 9395, 3850240, 2560, "3.67", "601,280"});
  Expect(v3().Block(64).Tensor(8).Context(8).Plan(),
         {64, 4497408, 9549, 3923968, 320, "29.84", "4,889,088"});
}

TEST(WorkedExamples, DeepSeekV32) {
  const auto v32 = [] { return Deployed(Catalogued("deepseek-v3.2")); };
  const Row packed = {64, 3076352, 13961, 722688, 2560, "5.45", "893,504"};
  Expect(v32().Dtype(KvCacheDtype::kFp8DsMla).Plan(), packed);
  // FlashMLA on Hopper turns fp8 into its packed rows; FlashInfer on data-centre
  // Blackwell does not.
  Expect(v32().Dtype(KvCacheDtype::kFp8).Plan(), packed);
  Expect(v32().Dtype(KvCacheDtype::kFp8).On("B200").Plan(),
         {64, 2764032, 15538, 2143744, 2560, "6.07", "994,432"});
  EXPECT_EQ(v32().Dtype(KvCacheDtype::kFp8).On("MI300X").Plan().bytes_per_block,
            Bytes(2764032));
  Expect(v32().Plan(), {64, 5012736, 8568, 550912, 2560, "3.35", "548,352"});
  Expect(v32().Dtype(KvCacheDtype::kFp8DsMla).Drafts(1).Plan(),
         {64, 3126784, 13736, 167936, 2560, "5.37", "879,104"});
}

// GLM-5 and 5.1 are GLM-5.2 with an indexer on every layer.
TEST(WorkedExamples, Glm5) {
  const auto glm5 = [] {
    return Deployed(Catalogued("glm-5.2",
                               R"({"index_topk_freq": 1, "indexer_types": null,
                                   "max_position_embeddings": 202752})"));
  };
  Expect(glm5().Plan(), {64, 6409728, 6700, 4495360, 3168, "2.11", "428,800"});
  Expect(glm5().Dtype(KvCacheDtype::kFp8).Plan(),
         {64, 3933696, 10918, 1580032, 3168, "3.45", "698,752"});
}

TEST(WorkedExamples, Glm52Refuses) {
  ExpectRefused(Deployed(Catalogued("glm-5.2")).Plan(), 5928192, 7244,
                "90.46 GiB", 463616);
  ExpectRefused(
      Deployed(Catalogued("glm-5.2")).Dtype(KvCacheDtype::kFp8).Plan(), 3452160,
      12441, "52.68 GiB", 796224);
}

TEST(WorkedExamples, KimiLinear) {
  const auto kimi = [] {
    return Deployed(Catalogued("kimi-linear-48b")).Length(1048576);
  };
  Expect(kimi().Plan(),
         {1920, 15482880, 2774, 163840, 553, "5.02", "5,259,945"});
  Expect(kimi().Tensor(4).Plan(),
         {512, 4128768, 10402, 2228224, 2054, "5.06", "5,310,266"});
}

TEST(WorkedExamples, Qwen3Next) {
  const auto qwen = [] { return Deployed(Catalogued("qwen3-next-80b")); };
  Expect(qwen().Plan(),
         {544, 13369344, 3212, 7340032, 488, "6.58", "1,725,423"});
  Deployed fp32 = qwen();
  fp32.question.state_dtype = DType::kFp32;
  Expect(fp32.Plan(),
         {1056, 25952256, 1654, 24641536, 255, "6.49", "1,700,337"});
  Expect(qwen().Tensor(2).Plan(),
         {544, 6684672, 6425, 655360, 488, "13.17", "3,451,383"});
  Expect(qwen().Tensor(4).Plan(),
         {272, 3342336, 12850, 655360, 970, "13.25", "3,472,732"});
}

// One draft token: a 13th full layer, a fourth convolution row, and one more
// state per group. The state then fills its page exactly.
TEST(WorkedExamples, Qwen3NextWithADraftToken) {
  Deployed qwen(
      Catalogued("qwen3-next-80b", R"({"num_nextn_predict_layers": 1})"));
  const PoolPlan plan = qwen.Drafts(1).Plan();
  Expect(plan, {544, 14483456, 2965, 6225920, 491, "6.04", "1,583,008"});
  EXPECT_EQ(plan.groups[0].page_padding, Bytes(0));
}

TEST(WorkedExamples, Qwen35) {
  // 60 layers, every fourth full with 2 x 256; 64 value heads, state in fp32.
  const ModelSpec model = *ReadModelConfig(R"({
      "model_type": "qwen3_5_moe", "architectures":
          ["Qwen3_5MoeForConditionalGeneration"],
      "text_config": {
        "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
        "num_hidden_layers": 60, "hidden_size": 4096, "vocab_size": 248320,
        "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 256,
        "full_attention_interval": 4, "max_position_embeddings": 262144,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 64,
        "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
        "moe_intermediate_size": 1024, "num_experts": 512,
        "num_experts_per_tok": 10, "shared_expert_intermediate_size": 1024}})",
                                           "qwen3.5-397b");
  Expect(Deployed(model).Tensor(8).Plan(),
         {528, 8110080, 5295, 6799360, 503, "10.53", "2,759,547"});
}

TEST(WorkedExamples, GptOss) {
  const auto oss = [] { return Deployed(Catalogued("gpt-oss-120b")); };
  Expect(oss().Plan(), {16, 589824, 72817, 458752, 9225, "7.89", "1,034,609"});
  Expect(oss().Dtype(KvCacheDtype::kFp8).Plan(),
         {16, 294912, 145635, 163840, 9225, "15.79", "2,069,232"});
}

TEST(WorkedExamples, Gemma3) {
  const auto gemma = [] {
    return Deployed(Catalogued("gemma-3-27b")).Length(131072);
  };
  Expect(gemma().Plan(), {16, 1310720, 32768, 0, 14726, "2.23", "291,658"});
  Deployed synchronous = gemma();
  synchronous.question.async_scheduling = false;
  Expect(synchronous.Plan(), {16, 1310720, 32768, 0, 11654, "2.81", "368,540"});
  Expect(gemma().Stages(2).Plan(),
         {16, 655360, 65536, 0, 14726, "4.45", "583,317"});
  Deployed plain = gemma();
  plain.question.hybrid_manager = false;
  const PoolPlan refused = plain.Plan();
  EXPECT_EQ(refused.num_blocks, Blocks(5285));
  EXPECT_EQ(refused.refused->max_len_that_fits, Tokens(84560));
}

TEST(WorkedExamples, Llama4) {
  // 48 layers, 8 KV heads of 128; every fourth layer is full.
  const ModelSpec model = *ReadModelConfig(R"({
      "model_type": "llama4", "architectures":
          ["Llama4ForConditionalGeneration"],
      "text_config": {
        "model_type": "llama4_text", "torch_dtype": "bfloat16",
        "num_hidden_layers": 48, "hidden_size": 5120, "vocab_size": 202048,
        "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "attention_chunk_size": 8192, "max_position_embeddings": 10485760,
        "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "num_local_experts": 16, "num_experts_per_tok": 1}})",
                                           "llama-4-scout");
  Deployed scout(model);
  scout.Tensor(8).Length(1048576);
  Expect(scout.Plan(),
         {16, 393216, 109226, 262144, 65536, "1.67", "1,747,616"});
  scout.question.hybrid_manager = true;
  Expect(scout.Plan(), {16, 98304, 436906, 65536, 70144, "6.23", "6,531,266"});
}

TEST(WorkedExamples, DeepSeekV4Flash) {
  const auto flash = [] {
    return Deployed(Catalogued("deepseek-v4-flash")).Length(1048576);
  };
  Expect(flash().Plan(),
         {256, 1002240, 42853, 682240, 10778, "3.98", "4,169,106"});
  // The next-token layer is one more window; the largest slab stays.
  Expect(flash().Drafts(1).Plan(),
         {256, 1002240, 42853, 682240, 10778, "3.98", "4,169,106"});
  Expect(flash().Dtype(KvCacheDtype::kBf16).Plan(),
         {256, 1600000, 26843, 872960, 10778, "2.49", "2,611,516"});
  // FlashMLA's rows whatever fp8 is asked for; FlashInfer's on SM12x.
  EXPECT_EQ(flash().Dtype(KvCacheDtype::kFp8).Plan().bytes_per_block,
            Bytes(1002240));
  Expect(flash().Dtype(KvCacheDtype::kFp8).On("RTX-PRO-6000").Plan(),
         {256, 891392, 48182, 623616, 10778, "4.47", "4,687,556"});
  Expect(flash().Length(131072).Plan(),
         {256, 1002240, 42853, 682240, 7194, "5.96", "780,765"});
}

// MXFP4 index keys: 64 rows of 68 B in pages of 4,608 B instead of 8,640.
TEST(WorkedExamples, DeepSeekV4WithFp4IndexKeys) {
  const auto with_fp4 = [](const char* name) {
    Deployed model(Catalogued(name));
    model.Length(1048576).question.index_key_dtype = DType::kFp4;
    return model.Plan();
  };
  Expect(with_fp4("deepseek-v4-flash"),
         {256, 917568, 46808, 150016, 10778, "4.34", "4,553,882"});
  Expect(with_fp4("deepseek-v4-pro"),
         {256, 1315008, 32661, 196672, 10778, "3.03", "3,177,541"});
}

// The older pools on a start-up log's memory: 256,000 tokens with one batch of
// 8,192 in flight. By bytes a request takes 1,000 blocks of history, 131 of each
// window, 2,051 and 1,041 of states padded to their slots: 3,968.4 blocks of
// 1,002,240 B. A tuple block is 22 x 47,808 B.
TEST(WorkedExamples, DeepSeekV4InOlderPools) {
  Deployed flash(Catalogued("deepseek-v4-flash"));
  flash.Length(256000).question.engine_version = "0.22.1rc1.dev134";
  flash.question.kv_memory = Bytes(40727027384);  // 37.93 GiB
  PoolPlan plan = flash.Plan();
  EXPECT_EQ(plan.bytes_per_block, Bytes(1051776));
  EXPECT_EQ(plan.blocks_per_request, Blocks(3969));
  EXPECT_THAT(plan.log_lines[1], HasSubstr("per request: 9.76x"));
  // Buckets: 22 x 37,440 + 21 x 8,640 + 20 x 1,728. 262,144 tokens: 1,024
  // blocks of history, so 3,992.4.
  flash.Length(262144).question.engine_version = "0.23.0";
  flash.question.kv_memory = Bytes(34445637713);  // 32.08 GiB
  plan = flash.Plan();
  EXPECT_EQ(plan.bytes_per_block, Bytes(1039680));
  EXPECT_EQ(plan.blocks_per_request, Blocks(3993));
  EXPECT_THAT(plan.log_lines[1], HasSubstr("per request: 8.30x"));
}

TEST(WorkedExamples, DeepSeekV4FlashInSteadyDecode) {
  const PoolPlan plan =
      Deployed(Catalogued("deepseek-v4-flash")).Length(1048576).Plan();
  // Two tokens in flight: 4 blocks in each of two window groups, 4 and 18 of
  // compressor states; 4,096 of history.
  EXPECT_EQ(SteadyBlocks(plan, Tokens(1048576)), Blocks(4096 + 30));
}

TEST(WorkedExamples, DeepSeekV4Pro) {
  const auto pro = [] {
    return Deployed(Catalogued("deepseek-v4-pro")).Length(1048576);
  };
  const Row row = {256, 1435968, 29909, 1306048, 10778, "2.78", "2,909,803"};
  Expect(pro().Plan(), row);
  Expect(pro().Drafts(1).Plan(), row);
}

// 40 GiB hold one request of 1M tokens and not two; the check charges 10,778
// blocks of 31 x 47,808 B = 15,973,513,344.
TEST(WorkedExamples, DeepSeekV4StartCheckChargesWholeTuples) {
  Deployed pro(Catalogued("deepseek-v4-pro"));
  pro.Length(1048576).question.kv_memory = Bytes(15973513343);
  ASSERT_TRUE(pro.Plan().refused.has_value());
  EXPECT_EQ(pro.Plan().refused->needed, Bytes(15973513344));
  pro.question.kv_memory = Bytes(15973513344);
  EXPECT_FALSE(pro.Plan().refused.has_value());
}

TEST(WorkedExamples, KimiK3) {
  const PoolPlan plan = Deployed(Catalogued("kimi-k3")).Tensor(8).Plan();
  Expect(plan, {768, 21233664, 2022, 15204352, 1372, "1.47", "1,545,350"});
  // 24 latents and three groups of 23 states; 814,080 B padded to 884,736.
  ASSERT_EQ(plan.groups.size(), 4u);
  EXPECT_EQ(plan.groups[0].page_padding, Bytes(23 * (884736 - 814080)));
}

}  // namespace
}  // namespace kvsim::vllm
