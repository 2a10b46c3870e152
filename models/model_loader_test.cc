#include "models/model_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

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
