#include "engines/serve_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace kvsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ServeFlag kFlags[] = {
    {"--model", FlagArity::kValue, FlagEffect::kModelled},
    {"--tensor-parallel-size -tp", FlagArity::kValue, FlagEffect::kModelled},
    {"--max-model-len", FlagArity::kValue, FlagEffect::kModelled},
    {"--max-num-seqs", FlagArity::kValue, FlagEffect::kModelled},
    {"--enable-prefix-caching", FlagArity::kBool, FlagEffect::kModelled},
    {"--enforce-eager", FlagArity::kSwitch, FlagEffect::kMemoryLeft},
    {"--speculative-config", FlagArity::kJson, FlagEffect::kModelled},
    {"--compilation-config -O", FlagArity::kJson, FlagEffect::kMemoryLeft},
    {"--served-model-name", FlagArity::kMany, FlagEffect::kNone},
    {"--hf-token", FlagArity::kOptionalValue, FlagEffect::kNone},
    {"--attention-sinks", FlagArity::kValue, FlagEffect::kUnmodelled},
    {"--config", FlagArity::kValue, FlagEffect::kNone},
};
constexpr absl::string_view kLaunches[] = {"engine serve", "engine",
                                           "python -m engine.api_server"};
constexpr ServeGrammar kGrammar = {
    .program = "engine serve",
    .flags = kFlags,
    .launches = kLaunches,
    .model_flag = "--model",
    .config_flag = "--config",
    .attached = true,
};

ServeCommand Read(const std::vector<std::string>& words) {
  absl::StatusOr<ServeCommand> command = ReadServeCommand(kGrammar, words);
  EXPECT_TRUE(command.ok()) << command.status();
  return command.ok() ? *std::move(command) : ServeCommand{&kGrammar};
}

std::string ErrorOf(const std::vector<std::string>& words) {
  const auto command = ReadServeCommand(kGrammar, words);
  return command.ok() ? "" : std::string(command.status().message());
}

TEST(ServeFlags, EverySpellingOfAFlagIsTheSameFlag) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--tensor-parallel-size", "8"},
                                             {"--tensor-parallel-size=8"},
                                             {"--tensor_parallel_size=8"},
                                             {"--tensor_parallel_size", "8"},
                                             {"-tp", "8"},
                                             {"-tp=8"},
                                             {"--tensor", "8"}}) {
    EXPECT_EQ(Read(words).Value("--tensor-parallel-size"), "8") << words[0];
  }
}

TEST(ServeFlags, WordsThatStartTheEngineMayBeThere) {
  const ServeCommand command =
      Read({"VLLM_X=1", "env", "A=b=c", "/opt/bin/engine", "serve", "org/m"});
  EXPECT_EQ(command.Value("--model"), "org/m");
  ASSERT_NE(command.Environment("A"), nullptr);
  EXPECT_EQ(*command.Environment("A"), "b=c");
  EXPECT_EQ(command.Environment("B"), nullptr);
  EXPECT_EQ(
      Read({"/usr/bin/python3.11", "-m", "engine.api_server", "--model", "m"})
          .Value("--model"),
      "m");
  EXPECT_EQ(Read({"engine", "m"}).Value("--model"), "m");
  EXPECT_EQ(Read({"m", "-tp", "2"}).Value("--model"), "m");
}

TEST(ServeFlags, ABooleanHasTwoSpellings) {
  EXPECT_TRUE(Read({}).IsOn("--enable-prefix-caching", true));
  EXPECT_TRUE(
      Read({"--enable-prefix-caching"}).IsOn("--enable-prefix-caching", false));
  EXPECT_FALSE(Read({"--no-enable-prefix-caching"})
                   .IsOn("--enable-prefix-caching", true));
  EXPECT_FALSE(Read({"--no_enable_prefix_caching"})
                   .IsOn("--enable-prefix-caching", true));
}

TEST(ServeFlags, TheLastOfRepeatedFlagsCounts) {
  const ServeCommand command = Read({"-tp", "2", "--tensor-parallel-size=4"});
  EXPECT_EQ(command.Value("--tensor-parallel-size"), "4");
  EXPECT_EQ(command.given.size(), 1u);
}

TEST(ServeFlags, NegativeNumbersAreValues) {
  EXPECT_EQ(Read({"--max-model-len", "-1"}).Value("--max-model-len"), "-1");
}

TEST(ServeFlags, ManyValuesEndAtTheNextFlag) {
  const ServeCommand command =
      Read({"--served-model-name", "a", "b", "--hf-token", "-tp", "2"});
  EXPECT_THAT(command.Find("--served-model-name")->values,
              ElementsAre("a", "b"));
  EXPECT_THAT(command.Find("--hf-token")->values, IsEmpty());
  EXPECT_EQ(command.Value("--tensor-parallel-size"), "2");
}

TEST(ServeFlags, JsonMayComeInParts) {
  EXPECT_EQ(Read({"--speculative-config.method", "mtp",
                  "--speculative_config.deep.num_tokens=3"})
                .Value("--speculative-config"),
            R"({"method":"mtp","deep":{"num_tokens":3}})");
  EXPECT_EQ(Read({"--speculative-config", R"({"method": "mtp"})"})
                .Value("--speculative-config"),
            R"({"method": "mtp"})");
}

TEST(ServeFlags, OneLetterFlagsTakeAttachedValues) {
  EXPECT_EQ(Read({"-O3"}).Value("--compilation-config"), "3");
  EXPECT_EQ(Read({"-O", "3"}).Value("--compilation-config"), "3");
  EXPECT_EQ(Read({"-O.level=3"}).Value("--compilation-config"),
            R"({"level":3})");
}

TEST(ServeFlags, FlagsAreListedByWhatTheyDoToMemory) {
  const ServeCommand command =
      Read({"--attention-sinks", "4", "--enforce-eager", "-tp", "2"});
  EXPECT_THAT(command.OfEffect(FlagEffect::kUnmodelled),
              ElementsAre("--attention-sinks '4'"));
  EXPECT_THAT(command.OfEffect(FlagEffect::kMemoryLeft),
              ElementsAre("--enforce-eager"));
}

TEST(ServeFlags, ErrorsNamePlaceValueAndNearestSpelling) {
  EXPECT_EQ(ErrorOf({"engine", "serve", "m", "--tensor-paralel-size", "8"}),
            "engine serve, word 4: engine serve has no flag "
            "--tensor-paralel-size; the nearest are --tensor-parallel-size");
  EXPECT_EQ(ErrorOf({"--max", "8"}),
            "engine serve, word 1: --max could be --max-model-len or "
            "--max-num-seqs: write it out");
  EXPECT_EQ(ErrorOf({"m", "-tp"}), "engine serve, word 2: -tp: needs a value");
  EXPECT_EQ(ErrorOf({"-tp", "--max-num-seqs", "1"}),
            "engine serve, word 1: -tp: needs a value, found the flag "
            "--max-num-seqs");
  EXPECT_EQ(ErrorOf({"--enforce-eager=1"}),
            "engine serve, word 1: --enforce-eager '1': takes no value");
  EXPECT_EQ(ErrorOf({"m", "n"}),
            "engine serve, word 2: 'n' belongs to no flag; the model is 'm'");
}

class ServeFlagsConfig : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = ::testing::TempDir() + "serve.yaml";
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(ServeFlagsConfig, TheCommandLineGoesBeforeTheFile) {
  const std::string path = Write(
      "model: from-file\ntensor_parallel_size: 4\nmax-num-seqs: 7\n"
      "enforce-eager: true\nenable-prefix-caching: false\n");
  const ServeCommand command = Read({"typed", "--config", path, "-tp", "2"});
  EXPECT_EQ(command.Value("--model"), "typed");
  EXPECT_EQ(command.Value("--tensor-parallel-size"), "2");
  EXPECT_EQ(command.Value("--max-num-seqs"), "7");
  EXPECT_TRUE(command.IsOn("--enforce-eager", false));
  EXPECT_EQ(command.Find("--enable-prefix-caching"), nullptr);
}

TEST_F(ServeFlagsConfig, ErrorsNameFileAndLine) {
  const std::string path = Write("max-num-seqs: 7\nmax-num-sequences: 8\n");
  EXPECT_THAT(ErrorOf({"--config", path}),
              HasSubstr("serve.yaml, line 2: engine serve has no flag "
                        "--max-num-sequences; the nearest are --max-num-seqs"));
}

}  // namespace
}  // namespace kvsim
