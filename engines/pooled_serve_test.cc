#include "engines/pooled_serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "engines/llama_cpp/serve_flag_table.h"
#include "engines/sglang/serve_flag_table.h"
#include "engines/tensorrt_llm/serve_flag_table.h"

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ServeCommand Read(const ServeGrammar& grammar,
                  const std::vector<std::string>& words) {
  absl::StatusOr<ServeCommand> command = ReadServeCommand(grammar, words);
  EXPECT_TRUE(command.ok()) << command.status();
  return *std::move(command);
}

TEST(PooledServeTest, SglangsCommand) {
  CapacityQuestion question;
  const auto served =
      ApplySglangCommand(Read(sglang::SglangServeGrammar(),
                              {"--model-path", "a", "--page-size", "64",
                               "--speculative-draft-model-path", "b"}),
                         &question);
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->model, "a");
  EXPECT_EQ(served->draft_model, "b");
  EXPECT_EQ(std::get<sglang::Settings>(question.engine_settings).page_size, 64);
}

TEST(PooledServeTest, LlamaCppsCommand) {
  CapacityQuestion question;
  const auto served = ApplyLlamaCppCommand(
      Read(llama_cpp::LlamaServeGrammar(),
           {"-m", "a.gguf", "-md", "b.gguf", "-c", "4096", "--fit", "on"}),
      &question);
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->model, "a.gguf");
  EXPECT_EQ(served->draft_model, "b.gguf");
  EXPECT_THAT(served->warnings, ElementsAre(HasSubstr("--fit")));
  EXPECT_EQ(std::get<llama_cpp::Settings>(question.engine_settings).ctx_size,
            4096);
}

TEST(PooledServeTest, TensorrtLlmsCommand) {
  CapacityQuestion question;
  const auto served = ApplyTensorrtLlmCommand(
      Read(tensorrt_llm::TrtllmServeGrammar(), {"a", "--max_seq_len", "8192"}),
      &question);
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->model, "a");
  EXPECT_EQ(
      std::get<tensorrt_llm::Settings>(question.engine_settings).max_seq_len,
      8192);
}

TEST(PooledServeTest, ErrorsPassThrough) {
  CapacityQuestion question;
  EXPECT_THAT(ApplyLlamaCppCommand(
                  Read(llama_cpp::LlamaServeGrammar(), {"-c", "x"}), &question)
                  .status()
                  .message(),
              HasSubstr("-c 'x'"));
}

}  // namespace
}  // namespace kvsim
