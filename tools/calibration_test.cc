#include "tools/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// 8 GiB of Llama-3.1-8B: 4,096 blocks of 2 MiB.
class CalibrationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(log_)
        << "INFO [core.py:1] Initializing a V1 LLM engine (v0.19.0) with "
           "config: model='Llama-3.1-8B', max_seq_len=4096, "
           "tensor_parallel_size=1\n"
           "INFO Available KV cache memory: 8.00 GiB\n"
           "INFO GPU KV cache size: 65,536 tokens\n";
    const Outcome outcome =
        Kvsim("capacity",
              {"--from-log", log_, "--calibration", file_, "--gpu", "H100"});
    ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  }

  const std::string log_ = testing::TempDir() + "/calibration_test.log";
  const std::string file_ = testing::TempDir() + "/calibration_test.json";
};

TEST_F(CalibrationTest, TakesTheModelledMemorysPlace) {
  const Outcome outcome =
      Kvsim("capacity", {"--json", "--calibration", file_, "--model",
                         "llama-3.1-8b", "--gpu", "H100"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["num_blocks"], 4096);
  EXPECT_THAT(outcome.out, HasSubstr("is that of " + file_));
}

TEST_F(CalibrationTest, RefusesAnotherModelCardOrSplitWithBothValues) {
  EXPECT_THAT(
      Kvsim("capacity", {"--calibration", file_, "--model", "qwen3-8b"}).err,
      AllOf(HasSubstr("llama-3.1-8b"), HasSubstr("qwen3-8b")));
  EXPECT_THAT(Kvsim("capacity", {"--calibration", file_, "--model",
                                 "llama-3.1-8b", "--gpu", "H200"})
                  .err,
              AllOf(HasSubstr("H100"), HasSubstr("H200")));
  EXPECT_THAT(Kvsim("capacity", {"--calibration", file_, "--model",
                                 "llama-3.1-8b", "--tp", "2"})
                  .err,
              HasSubstr("--tensor-parallel-size 1, this question has 2"));
}

TEST_F(CalibrationTest, RefusesOtherFiles) {
  const Outcome outcome =
      Kvsim("capacity", {"--calibration", log_, "--model", "llama-3.1-8b"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("is no calibration"));
}

}  // namespace
}  // namespace kvsim
