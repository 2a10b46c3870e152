// What must hold between two plans, whatever the model: over random models of
// every kind of layer, planned for vLLM.
//
// Model:      a catalogue entry with random sizes in the place of its own, on
//             random ranks, memory, lengths and versions. Seeds are fixed; a
//             failure prints the model's changes and the question.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "engines/capacity.h"
#include "models/model_loader.h"

namespace kvsim {
namespace {

constexpr int kModelsOfEachKind = 500;

// A kind of layer: a catalogue entry and random changes to it, as JSON.
struct Kind {
  const char* name;
  const char* entry;
  std::string (*changes)(RandomStream& random);
};

int64_t OneOf(RandomStream& random, const std::vector<int64_t>& values) {
  return values[random.Below(values.size())];
}

// Query heads in whole groups over KV heads.
std::string Heads(RandomStream& random) {
  const int64_t kv = OneOf(random, {1, 2, 4, 8, 16});
  return absl::StrCat(
      "\"num_key_value_heads\": ", kv,
      ", \"num_attention_heads\": ", kv * OneOf(random, {1, 2, 4, 8}),
      ", \"head_dim\": ", OneOf(random, {64, 80, 96, 128, 192, 256}));
}

std::string Layers(RandomStream& random, int64_t least, int64_t most) {
  return absl::StrCat("\"num_hidden_layers\": ", random.Between(least, most));
}

std::string Dense(RandomStream& random) {
  return absl::StrCat("{", Layers(random, 1, 100), ", ", Heads(random), "}");
}

std::string Windows(RandomStream& random) {
  return absl::StrCat("{", Layers(random, 1, 80), ", ", Heads(random),
                      ", \"sliding_window\": ", random.Between(1, 8192),
                      ", \"sliding_window_pattern\": ", random.Between(2, 8),
                      "}");
}

std::string DeltaNet(RandomStream& random) {
  const int64_t keys = OneOf(random, {2, 4, 8, 16});
  return absl::StrCat(
      "{", Layers(random, 4, 96), ", ", Heads(random),
      ", \"full_attention_interval\": ", random.Between(2, 6),
      ", \"linear_num_key_heads\": ", keys,
      ", \"linear_num_value_heads\": ", keys * OneOf(random, {1, 2, 4}),
      ", \"linear_key_head_dim\": ", OneOf(random, {64, 128}),
      ", \"linear_value_head_dim\": ", OneOf(random, {64, 128, 256}),
      ", \"linear_conv_kernel_dim\": ", random.Between(2, 5), "}");
}

// Every n-th layer a latent, numbered from 1.
std::string Kda(RandomStream& random) {
  const int64_t layers = random.Between(4, 96);
  const int64_t interval = random.Between(2, 6);
  std::vector<int64_t> full, linear;
  for (int64_t i = 1; i <= layers; ++i) {
    (i % interval == 0 || i == layers ? full : linear).push_back(i);
  }
  const int64_t heads = OneOf(random, {8, 16, 32, 64});
  return absl::StrCat("{\"num_hidden_layers\": ", layers,
                      ", \"num_attention_heads\": ", heads,
                      ", \"num_key_value_heads\": ", heads,
                      ", \"kv_lora_rank\": ", OneOf(random, {256, 512}),
                      ", \"linear_attn_config\": {", "\"full_attn_layers\": [",
                      absl::StrJoin(full, ","), "], \"kda_layers\": [",
                      absl::StrJoin(linear, ","), "], \"num_heads\": ", heads,
                      ", \"head_dim\": ", OneOf(random, {64, 128}),
                      ", \"short_conv_kernel_size\": 4}}");
}

std::string Mamba(RandomStream& random) {
  const int64_t layers = random.Between(4, 80);
  std::string pattern;
  for (int64_t i = 0; i < layers; ++i) {
    pattern += "MM-M*"[random.Below(5)];
  }
  pattern[0] = 'M';
  pattern[layers - 1] = '*';
  return absl::StrCat(
      "{\"num_hidden_layers\": ", layers, ", ", Heads(random),
      ", \"hybrid_override_pattern\": \"", pattern,
      "\", \"mamba_num_heads\": ", OneOf(random, {16, 32, 64, 128}),
      ", \"mamba_head_dim\": ", OneOf(random, {64, 80, 128}),
      ", \"ssm_state_size\": ", OneOf(random, {16, 64, 128}),
      ", \"n_groups\": ", OneOf(random, {1, 2, 8}), "}");
}

std::string Latents(RandomStream& random) {
  const int64_t heads = OneOf(random, {8, 16, 32, 64, 128});
  return absl::StrCat("{", Layers(random, 4, 100),
                      ", \"num_attention_heads\": ", heads,
                      ", \"num_key_value_heads\": ", heads,
                      ", \"kv_lora_rank\": ", OneOf(random, {128, 256, 512}),
                      ", \"qk_rope_head_dim\": ", OneOf(random, {32, 64}), "}");
}

std::string SparseLatents(RandomStream& random) {
  std::string text = Latents(random);
  text.pop_back();
  return absl::StrCat(text, ", \"index_topk_freq\": ", random.Between(1, 6),
                      ", \"index_skip_topk_offset\": ", random.Between(1, 4),
                      "}");
}

std::string Compressed(RandomStream& random) {
  const int64_t layers = random.Between(4, 64);
  std::vector<int64_t> ratios;
  for (int64_t i = 0; i < layers; ++i) {
    ratios.push_back(OneOf(random, {0, 4, 4, 128, 128}));
  }
  ratios[0] = 4;
  ratios[1] = 128;
  return absl::StrCat("{\"num_hidden_layers\": ", layers,
                      ", \"compress_ratios\": [", absl::StrJoin(ratios, ","),
                      "], \"num_nextn_predict_layers\": 0}");
}

constexpr Kind kKinds[] = {
    {"dense", "llama-3.1-8b", Dense},
    {"windows", "gemma-3-27b", Windows},
    {"gated delta net", "qwen3-next-80b", DeltaNet},
    {"KDA", "kimi-linear-48b", Kda},
    {"Mamba-2", "nemotron-nano-9b-v2", Mamba},
    {"latents", "deepseek-v3", Latents},
    {"sparse latents", "glm-5.2", SparseLatents},
    {"compressed", "deepseek-v4-flash", Compressed},
};

class PlanTest : public testing::TestWithParam<Kind> {
 protected:
  // Calls `check` with a model, a random question about it and the stream, until
  // enough models could be planned.
  template <typename Check>
  void ForEachModel(const Check& check) {
    RandomStream random(20260817, GetParam().name);
    int planned = 0, refused = 0, tried = 0;
    while (planned + refused < kModelsOfEachKind) {
      ASSERT_LT(++tried, 4 * kModelsOfEachKind) << GetParam().name;
      const std::string changes = GetParam().changes(random);
      const auto model = LoadModel(GetParam().entry, changes);
      ASSERT_TRUE(model.ok()) << model.status() << "\n" << changes;
      CapacityQuestion question = RandomQuestion(*model, random);
      const auto answer = AnswerCapacity(question);
      if (!answer.ok()) continue;  // such ranks do not divide its heads
      ++(answer->pool.refused.has_value() ? refused : planned);
      SCOPED_TRACE(absl::StrCat(GetParam().entry, " ", changes, " memory ",
                                question.kv_memory->value(), " length ",
                                question.max_model_len->value(), " tp ",
                                *question.tensor, " pp ", question.pipeline,
                                " version '", question.engine_version, "'"));
      check(question, *answer, random);
      if (HasFailure()) return;
    }
    std::printf("%-16s %d tried: %d start, %d refused, %d no such split\n",
                GetParam().name, tried, planned, refused,
                tried - planned - refused);
  }

  static CapacityQuestion RandomQuestion(const ModelSpec& model,
                                         RandomStream& random) {
    static const char* const kVersions[] = {"", "0.19.0", "0.22.0", "0.23.0",
                                            "0.30.0"};
    CapacityQuestion question;
    question.model = &model;
    question.engine_version = kVersions[random.Below(5)];
    question.gpu = *FindGpu("H100");
    question.kv_memory =
        Bytes(random.Between(int64_t{1} << 28, int64_t{1} << 38));
    question.tensor = OneOf(random, {1, 1, 2, 4, 8});
    question.pipeline = random.Chance(0.3) ? random.Between(2, 4) : 1;
    question.max_model_len = Tokens(random.Between(1, 1 << 18));
    question.prefix_caching = random.Chance(0.5);
    return question;
  }

  static PoolPlan Plan(const CapacityQuestion& question) {
    const auto answer = AnswerCapacity(question);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer->pool;
  }
};

TEST_P(PlanTest, AccountsSumToTheMemory) {
  ForEachModel([](const CapacityQuestion& question,
                  const CapacityAnswer& answer, RandomStream&) {
    Bytes cache(0), parts(0);
    for (const MemoryAccount& account : answer.accounts) {
      if (account.name == "KV cache") cache = account.bytes;
      if (account.part_of == "KV cache") parts += account.bytes;
      EXPECT_GE(account.bytes, Bytes(0)) << account.name;
    }
    EXPECT_EQ(cache, *question.kv_memory);
    EXPECT_EQ(parts, cache);
    const PoolPlan& pool = answer.pool;
    const RankPool& rank = pool.ranks[pool.binding_rank];
    EXPECT_EQ(pool.bytes_per_block * pool.num_blocks.value() + rank.remainder,
              cache);
    for (const CacheGroup& group : pool.groups) {
      EXPECT_EQ(group.used + group.page_padding + group.slot_padding,
                pool.bytes_per_block);
    }
  });
}

TEST_P(PlanTest, MoreMemoryNeverGivesLess) {
  ForEachModel([](const CapacityQuestion& question,
                  const CapacityAnswer& answer, RandomStream& random) {
    CapacityQuestion more = question;
    more.kv_memory =
        *question.kv_memory + Bytes(random.Between(1, int64_t{1} << 34));
    const PoolPlan larger = Plan(more);
    EXPECT_GE(larger.num_blocks, answer.pool.num_blocks);
    EXPECT_GE(larger.kv_cache_tokens, answer.pool.kv_cache_tokens);
    EXPECT_GE(larger.max_concurrency, answer.pool.max_concurrency);
    EXPECT_LE(larger.refused.has_value(), answer.pool.refused.has_value());
  });
}

TEST_P(PlanTest, AStageNeverHoldsMoreThanItsSmallest) {
  ForEachModel(
      [](const CapacityQuestion&, const CapacityAnswer& answer, RandomStream&) {
        Blocks least = answer.pool.ranks[0].own_blocks;
        for (const RankPool& rank : answer.pool.ranks) {
          least = std::min(least, rank.own_blocks);
          EXPECT_LE(rank.bytes_per_block * answer.pool.num_blocks.value(),
                    rank.kv_memory);
        }
        EXPECT_EQ(answer.pool.num_blocks, least);
      });
}

// A head that every rank already holds alone is copied, not cut.
TEST_P(PlanTest, RanksBeyondTheHeadsChangeNothing) {
  ForEachModel([](const CapacityQuestion& question, const CapacityAnswer&,
                  RandomStream&) {
    int64_t kv_heads = 1, query_heads = 1 << 20;
    bool states = false;
    for (const LayerSpec& layer : question.model->layers) {
      states = states || layer.recurrent.has_value();
      for (const AttentionSpec& attention : layer.attention) {
        query_heads = std::min(query_heads, attention.query_heads);
        if (attention.kind == AttentionKind::kMla ||
            attention.kind == AttentionKind::kCompressed) {
          continue;
        }
        kv_heads = std::max(kv_heads, attention.kv_heads);
      }
    }
    if (states || kv_heads * 2 > query_heads) return;  // states are always cut
    CapacityQuestion heads = question;
    heads.tensor = kv_heads;
    CapacityQuestion beyond = question;
    beyond.tensor = 2 * kv_heads;
    EXPECT_EQ(Plan(heads).bytes_per_block, Plan(beyond).bytes_per_block);
    EXPECT_EQ(Plan(heads).num_blocks, Plan(beyond).num_blocks);
  });
}

// Latents are divided over context ranks by tokens: the same blocks, each of n
// times the tokens. A length that all block sizes divide leaves no rest.
TEST_P(PlanTest, ContextRanksMultiplyTokens) {
  const std::string kind = GetParam().name;
  if (kind != "latents" && kind != "sparse latents") return;
  ForEachModel([](const CapacityQuestion& question, const CapacityAnswer&,
                  RandomStream& random) {
    CapacityQuestion whole = question;
    whole.tensor = 8;
    whole.max_model_len = Tokens(8 * 64 * random.Between(1, 512));
    CapacityQuestion divided = whole;
    divided.decode_context = OneOf(random, {2, 4, 8});
    const PoolPlan one = Plan(whole);
    const PoolPlan many = Plan(divided);
    EXPECT_EQ(one.num_blocks, many.num_blocks);
    EXPECT_EQ(one.bytes_per_block, many.bytes_per_block);
    EXPECT_EQ(one.blocks_per_request,
              many.blocks_per_request * divided.decode_context);
    EXPECT_NEAR(
        many.max_concurrency,
        one.max_concurrency * static_cast<double>(divided.decode_context),
        1e-9 * many.max_concurrency);
  });
}

TEST_P(PlanTest, NothingOverflows) {
  ForEachModel([](const CapacityQuestion& question, const CapacityAnswer&,
                  RandomStream&) {
    CapacityQuestion huge = question;
    huge.kv_memory = Bytes(int64_t{100} << 40);
    huge.max_model_len = Tokens(1'000'000'000);
    huge.contexts = {Tokens(1), Tokens(1'000'000'000)};
    const auto answer = AnswerCapacity(huge);
    ASSERT_TRUE(answer.ok()) << answer.status();
    const PoolPlan& pool = answer->pool;
    EXPECT_GT(pool.num_blocks, Blocks(0));
    EXPECT_GE(pool.kv_cache_tokens, Tokens(0));
    EXPECT_GE(pool.max_concurrency, 0.0);
    for (const MemoryAccount& account : answer->accounts) {
      EXPECT_GE(account.bytes, Bytes(0)) << account.name;
    }
    for (const ContextAnswer& context : answer->contexts) {
      EXPECT_GE(context.count.resident, 0);
      EXPECT_GT(context.sequence_bytes, Bytes(0));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlanTest, testing::ValuesIn(kKinds),
                         [](const testing::TestParamInfo<Kind>& kind) {
                           std::string name = kind.param.name;
                           std::erase_if(
                               name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

}  // namespace
}  // namespace kvsim
