#include "models/gguf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/gguf_writer_for_test.h"
#include "models/layout_builder.h"
#include "models/model_config.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<ModelSpec> ReadHeader(const GgufWriter& writer) {
  const auto header = ParseGgufHeader(writer.Bytes(), "m.gguf");
  if (!header.ok()) return header.status();
  const auto config = GgufConfig(*header, "m.gguf");
  if (!config.ok()) return config.status();
  return ReadModelConfig(*config, "m.gguf");
}

ModelSpec Read(const GgufWriter& writer) {
  const absl::StatusOr<ModelSpec> spec = ReadHeader(writer);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : ModelSpec();
}

std::string Error(const GgufWriter& writer) {
  return std::string(ReadHeader(writer).status().message());
}

GgufWriter Sizes(const std::string& arch, uint32_t layers) {
  GgufWriter writer;
  writer.Text("general.architecture", arch);
  writer.Uint32(arch + ".block_count", layers);
  writer.Uint32(arch + ".embedding_length", 4096);
  writer.Uint32(arch + ".feed_forward_length", 14336);
  writer.Uint32(arch + ".attention.head_count", 32);
  return writer;
}

// Llama-3.1-8B: 32 layers x 2 x 8 x 128 in 16 bits, 128 KiB.
TEST(GgufConfigTest, LlamaKeepsItsKvHeads) {
  GgufWriter writer = Sizes("llama", 32);
  writer.Uint32("llama.attention.head_count_kv", 8);
  writer.Uint32("llama.context_length", 131072);
  writer.Texts("tokenizer.ggml.tokens", {"a", "b", "c"});
  const ModelSpec spec = Read(writer);
  EXPECT_EQ(BuildCacheLayout(spec, {})->BytesPerToken(), 131072);
  EXPECT_EQ(spec.dtype, DType::kFp16);
  EXPECT_EQ(spec.max_position_embeddings, 131072);
  EXPECT_EQ(spec.vocab_size, 3);
  // q8_0: 34 bytes for 32 elements.
  EXPECT_EQ(BuildCacheLayout(spec, {.kv_cache_dtype = KvCacheDtype::kQ8_0})
                ->BytesPerToken(),
            65536.0 * 34 / 32);
}

// DeepSeek in llama.cpp: 61 layers of 512 + 64, and one of prediction that
// block_count includes.
TEST(GgufConfigTest, DeepSeekKeepsLatents) {
  GgufWriter writer = Sizes("deepseek2", 62);
  writer.Uint32("deepseek2.nextn_predict_layers", 1);
  writer.Uint32("deepseek2.attention.head_count_kv", 1);
  writer.Uint32("deepseek2.attention.kv_lora_rank", 512);
  writer.Uint32("deepseek2.attention.key_length", 576);
  writer.Uint32("deepseek2.attention.value_length", 512);
  writer.Uint32("deepseek2.attention.key_length_mla", 192);
  writer.Uint32("deepseek2.attention.value_length_mla", 128);
  writer.Uint32("deepseek2.rope.dimension_count", 64);
  const ModelSpec spec = Read(writer);
  EXPECT_EQ(spec.layers.size(), 61u);
  EXPECT_EQ(spec.mtp_layers.size(), 1u);
  EXPECT_EQ(BuildCacheLayout(spec, {})->BytesPerToken(), 61 * 576 * 2);
  EXPECT_EQ(spec.layers[0].attention[0].qk_nope_head_dim, 128);
  EXPECT_EQ(spec.layers[0].attention[0].head_dim_v, 128);
}

// Layers without KV heads keep a state; the last of the four attends.
TEST(GgufConfigTest, LayersWithoutKvHeadsAreRecurrent) {
  GgufWriter writer = Sizes("granitehybrid", 4);
  writer.Ints("granitehybrid.attention.head_count_kv", {0, 0, 0, 8});
  writer.Uint32("granitehybrid.ssm.conv_kernel", 4);
  writer.Uint32("granitehybrid.ssm.state_size", 128);
  writer.Uint32("granitehybrid.ssm.inner_size", 8192);
  writer.Uint32("granitehybrid.ssm.time_step_rank", 128);
  writer.Uint32("granitehybrid.ssm.group_count", 1);
  const ModelSpec spec = Read(writer);
  EXPECT_TRUE(spec.layers[0].recurrent && spec.layers[2].recurrent);
  EXPECT_EQ(spec.layers[3].attention[0].kv_heads, 8);
  EXPECT_EQ(spec.layers[0].recurrent->value_dim, 64);
  EXPECT_EQ(spec.layers[0].recurrent->conv_channels, 8192 + 2 * 128);
}

// Windowed layers marked one by one, with a count of heads of their own.
TEST(GgufConfigTest, WindowsPerLayer) {
  GgufWriter writer = Sizes("mimo2", 3);
  writer.Ints("mimo2.attention.head_count_kv", {4, 8, 8});
  writer.Bools("mimo2.attention.sliding_window_pattern", {false, true, true});
  writer.Uint32("mimo2.attention.sliding_window", 128);
  writer.Uint32("mimo2.attention.key_length", 192);
  writer.Uint32("mimo2.attention.value_length", 128);
  const ModelSpec spec = Read(writer);
  EXPECT_EQ(spec.layers[0].attention[0].kv_heads, 4);
  EXPECT_EQ(spec.layers[1].attention[0].kv_heads, 8);
  EXPECT_EQ(spec.layers[1].attention[0].window, 128);
  EXPECT_EQ(spec.layers[0].attention[0].head_dim_v, 128);
}

// The count is of what is stored, whatever falcon's own flags would say.
TEST(GgufConfigTest, FalconsCountOfHeadsIsMeant) {
  GgufWriter writer = Sizes("falcon", 2);
  writer.Uint32("falcon.attention.head_count_kv", 8);
  EXPECT_EQ(Read(writer).layers[0].attention[0].kv_heads, 8);
}

TEST(GgufConfigTest, ErrorsNameTheKey) {
  EXPECT_THAT(Error(GgufWriter()),
              HasSubstr("general.architecture is missing"));
  GgufWriter no_layers;
  no_layers.Text("general.architecture", "llama");
  EXPECT_THAT(Error(no_layers), HasSubstr("llama.block_count is missing"));
  GgufWriter uneven = Sizes("llama", 2);
  uneven.Ints("llama.attention.head_count_kv", {8, 4});
  EXPECT_THAT(Error(uneven), HasSubstr("head_count_kv has 4 beside another"));
  GgufWriter shorter = Sizes("llama", 2);
  shorter.Ints("llama.attention.head_count_kv", {8});
  EXPECT_THAT(Error(shorter), HasSubstr("has 1 entries"));
  GgufWriter unknown = Sizes("perceptron", 2);
  EXPECT_THAT(Error(unknown), HasSubstr("model_type is \"perceptron\""));
}

TEST(GgufConfigTest, TextThatIsNotUtf8IsNoCrash) {
  GgufWriter writer = Sizes("\xff\xfe", 2);
  EXPECT_FALSE(Error(writer).empty());
}

}  // namespace
}  // namespace kvsim
