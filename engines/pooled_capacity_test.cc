// `kvsim capacity` of the engines whose caches are pools beside each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engines/capacity.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr Bytes k40GiB{42949672960};

struct Asked {
  ModelSpec model;
  CapacityQuestion question;

  Asked(const std::string& engine, const std::string& name)
      : model(*LoadModel(name)) {
    question.engine = engine;
    question.kv_memory = k40GiB;
  }

  absl::StatusOr<CapacityAnswer> Try() {
    question.model = &model;
    return AnswerCapacity(question);
  }
  CapacityAnswer Answer() {
    absl::StatusOr<CapacityAnswer> answer = Try();
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *std::move(answer) : CapacityAnswer{};
  }
};

Bytes Account(const CapacityAnswer& answer, const std::string& name) {
  for (const MemoryAccount& account : answer.accounts) {
    if (account.name == name) return account.bytes;
  }
  return Bytes(-1);
}

// 81,920 tokens of 512 KiB: 20 requests of 4,096 tokens, one page more than the
// budget for padding.
TEST(PooledCapacityTest, SglangCountsTokens) {
  const CapacityAnswer answer = Asked("sglang", "llama-2-7b").Answer();
  EXPECT_EQ(answer.pool.kv_cache_tokens, Tokens(81920));
  EXPECT_EQ(answer.contexts[0].count.length, Tokens(4096));
  EXPECT_EQ(answer.contexts[0].count.resident, 20);
  EXPECT_EQ(Account(answer, "KV cache"), k40GiB);
  EXPECT_EQ(Account(answer, "pool full"), k40GiB + Bytes(524288));
  EXPECT_EQ(Account(answer, "taken beyond the budget"), Bytes(-524288));
  EXPECT_THAT(answer.pool.log_lines, Contains(HasSubstr("81920")));
}

// 468 state slots of which a request takes 5, before 2.8 million tokens bind.
TEST(PooledCapacityTest, SglangsStatesBind) {
  Asked asked("sglang", "kimi-linear-48b");
  asked.question.contexts = {Tokens(1000)};
  const CapacityAnswer answer = asked.Answer();
  EXPECT_EQ(answer.contexts[0].count.resident, 93);
  EXPECT_EQ(answer.max_num_seqs, 93);
}

// The command's settings and kvsim's flags: a page of 64 from the one, 8 ranks
// from the other; 80 x 256 x 2 B of one head: 1,048,576 tokens.
TEST(PooledCapacityTest, FlagsFillWhatTheCommandLeavesOpen) {
  Asked asked("sglang", "llama-3.1-70b");
  sglang::Settings settings;
  settings.page_size = 64;
  asked.question.engine_settings = settings;
  asked.question.tensor = 8;
  const CapacityAnswer answer = asked.Answer();
  EXPECT_EQ(answer.pool.kv_cache_tokens, Tokens(1048576));
  EXPECT_EQ(answer.pool.block_tokens, Tokens(64));
  EXPECT_EQ(answer.num_gpus, 8);
  asked.question.block_size = Tokens(16);
  EXPECT_THAT(asked.Try().status().message(), HasSubstr("contradicts 64"));
}

// A card: total x fraction - weights, and every byte accounted for.
TEST(PooledCapacityTest, ACardDividesWithoutRest) {
  for (const char* engine : {"sglang", "tensorrt-llm", "llama.cpp"}) {
    Asked asked(engine, "llama-3.1-8b");
    asked.question.kv_memory.reset();
    asked.question.gpu_memory = GiB(80);
    asked.question.weight_bytes = GiB(16);
    asked.question.non_kv_memory = GiB(2);
    const CapacityAnswer answer = asked.Answer();
    Bytes sum(0);
    Bytes parts(0);
    for (const MemoryAccount& account : answer.accounts) {
      (account.part_of.empty() ? sum : parts) += account.bytes;
    }
    EXPECT_EQ(sum, GiB(80)) << engine;
    EXPECT_EQ(parts, Account(answer, "KV cache")) << engine;
  }
}

// 40 GiB / 4 MiB a block of 32 tokens; the note says how weak the evidence is.
TEST(PooledCapacityTest, TensorrtLlmCountsBlocks) {
  const CapacityAnswer answer = Asked("tensorrt-llm", "llama-3.1-8b").Answer();
  EXPECT_EQ(answer.pool.num_blocks, Blocks(10240));
  EXPECT_EQ(answer.pool.bytes_per_block, Bytes(4194304));
  EXPECT_THAT(answer.warnings, Contains(HasSubstr("evidence")));
}

// 8,192 cells of 16 windows and 18 full layers: one sequence.
TEST(PooledCapacityTest, LlamaCppCountsCells) {
  Asked asked("llama.cpp", "gpt-oss-120b");
  asked.question.max_model_len = Tokens(8192);
  const CapacityAnswer answer = asked.Answer();
  EXPECT_EQ(answer.pool.kv_cache_tokens, Tokens(8192));
  EXPECT_EQ(answer.contexts[0].count.resident, 1);
  EXPECT_EQ(answer.kv_cache_dtype, "K f16, V f16");
}

// Numbers too large to count are errors, never aborts.
TEST(PooledCapacityTest, SizesBeyondCountingAreRefused) {
  for (const char* engine : {"sglang", "tensorrt-llm"}) {
    Asked asked(engine, "llama-3.1-8b");
    asked.question.kv_memory.reset();
    for (const int64_t blocks : {int64_t{-1}, int64_t{1} << 62}) {
      asked.question.num_gpu_blocks = Blocks(blocks);
      EXPECT_FALSE(asked.Try().ok()) << engine << " " << blocks;
    }
  }
  for (const char* engine : {"sglang", "tensorrt-llm", "llama.cpp"}) {
    Asked asked(engine, "llama-3.1-8b");
    asked.question.kv_memory = Bytes::Max();
    asked.question.max_model_len = Tokens(int64_t{1} << 32);
    asked.question.max_num_seqs = 65536;
    const auto answer = asked.Try();
    if (!answer.ok()) {
      EXPECT_THAT(answer.status().message(), HasSubstr("2^"));
    }
  }
}

// Beyond the 2^32 tokens that a layout counts exactly, a sequence goes by the cost
// per token: 2^33 x 131,072 B.
TEST(PooledCapacityTest, LongSequencesAreNotCutShort) {
  Asked asked("sglang", "llama-3.1-8b");
  asked.question.contexts = {Tokens(int64_t{1} << 33)};
  EXPECT_EQ(asked.Answer().contexts[0].sequence_bytes,
            Bytes(int64_t{131072} << 33));
}

TEST(PooledCapacityTest, FlagsOfVllmAloneAreRefused) {
  Asked asked("llama.cpp", "llama-3.1-8b");
  asked.question.num_gpu_blocks = Blocks(10);
  EXPECT_THAT(asked.Try().status().message(), HasSubstr("--num-gpu-blocks"));
  Asked unknown("ollama", "llama-3.1-8b");
  EXPECT_EQ(unknown.Try().status().message(),
            "--engine 'ollama' is unknown; accepted: vllm, sglang, llama.cpp, "
            "tensorrt-llm");
}

}  // namespace
}  // namespace kvsim
