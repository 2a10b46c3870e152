#include "models/model_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/gguf_writer_for_test.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr char kConfig[] =
    R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 8})";

class ModelLoaderTest : public ::testing::Test {
 protected:
  ModelLoaderTest() : folder_(fs::path(::testing::TempDir()) / "model") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ModelLoaderTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  static std::string ErrorOf(const std::string& name) {
    return std::string(LoadModel(name).status().message());
  }

  const fs::path folder_;
};

TEST_F(ModelLoaderTest, ReadsAFile) {
  const std::string path = Write("any.json", kConfig);
  const auto spec = LoadModel(path);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->layers.size(), 2u);
  EXPECT_EQ(spec->name, path);
  EXPECT_EQ(LoadModel(path, R"({"num_hidden_layers": 3})")->layers.size(), 3u);
}

TEST_F(ModelLoaderTest, ReadsAFolderWithItsQuantizationRecord) {
  Write("config.json", kConfig);
  EXPECT_EQ(LoadModel(folder_.string())->quantization.kv_cache_dtype,
            std::nullopt);
  Write("hf_quant_config.json",
        R"({"quantization": {"kv_cache_quant_algo": "FP8"}})");
  EXPECT_EQ(LoadModel(folder_.string())->quantization.kv_cache_dtype,
            DType::kFp8);
}

TEST_F(ModelLoaderTest, IndexOrFileSaysHowManyBytesTheWeightsAre) {
  Write("config.json", kConfig);
  EXPECT_EQ(LoadModel(folder_.string())->checkpoint_bytes, 0);
  Write("model.safetensors", std::string(1000, 'x'));
  EXPECT_EQ(LoadModel(folder_.string())->checkpoint_bytes, 1000);
  const std::string index = "model.safetensors.index.json";
  Write(index, R"({"metadata": {"total_size": 16060522496}})");
  EXPECT_EQ(LoadModel(folder_.string())->checkpoint_bytes, 16060522496);
  Write(index, R"({"metadata": {"total_size": 3e9}})");
  EXPECT_EQ(LoadModel(folder_.string())->checkpoint_bytes, 3000000000);
  Write(index, R"({"weight_map": {}})");
  EXPECT_EQ(LoadModel(folder_.string())->checkpoint_bytes, 0);
  for (const char* bad : {"-1", "\"big\"", "1e300", "true"}) {
    Write(index, R"({"metadata": {"total_size": )" + std::string(bad) + "}}");
    EXPECT_THAT(ErrorOf(folder_.string()),
                AllOf(HasSubstr(index), HasSubstr("metadata.total_size")))
        << bad;
  }
}

TEST_F(ModelLoaderTest, ReadsAGgufFileAndItsFolder) {
  GgufWriter writer;
  writer.Text("general.architecture", "qwen2");
  writer.Uint32("qwen2.block_count", 3);
  writer.Uint32("qwen2.embedding_length", 64);
  writer.Uint32("qwen2.attention.head_count", 8);
  const std::string path = Write("m-00001-of-00002.gguf", writer.Bytes());
  Write("m-00002-of-00002.gguf", "GGUF");
  for (const std::string& name : {path, folder_.string()}) {
    const auto spec = LoadModel(name);
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->layers.size(), 3u);
    EXPECT_EQ(spec->checkpoint_bytes,
              static_cast<int64_t>(writer.Bytes().size()));
  }
  EXPECT_EQ(LoadModel(path, R"({"num_hidden_layers": 5})")->layers.size(), 5u);
  EXPECT_THAT(ErrorOf(Write("short.gguf", "GGUF")), HasSubstr("short.gguf"));
}

TEST_F(ModelLoaderTest, CrlfAndMissingFinalNewlineAreFine) {
  std::string text = kConfig;
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;
       at += 2) {
    text.insert(at, "\r");
  }
  EXPECT_TRUE(LoadModel(Write("crlf.json", text)).ok());
}

TEST_F(ModelLoaderTest, UnknownNameListsTheCatalogue) {
  EXPECT_THAT(ErrorOf("no-such-model"),
              AllOf(HasSubstr("\"no-such-model\""), HasSubstr("llama-2-7b"),
                    HasSubstr("config.json")));
}

TEST_F(ModelLoaderTest, FolderWithoutConfigIsNamed) {
  EXPECT_THAT(ErrorOf(folder_.string()), HasSubstr("config.json"));
}

TEST_F(ModelLoaderTest, BadFileIsNamedWithPosition) {
  EXPECT_THAT(ErrorOf(Write("bad.json", "{\"a\": ")),
              AllOf(HasSubstr("bad.json"), HasSubstr("line 1")));
}

}  // namespace
}  // namespace kvsim
