#include "engines/vllm/serve_flag_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace kvsim::vllm {
namespace {

std::string ErrorOf(const std::vector<std::string>& words) {
  const auto command = ReadServeCommand(VllmServeGrammar(), words);
  return command.ok() ? "" : std::string(command.status().message());
}

TEST(VllmServeFlags, NoSpellingBelongsToTwoFlags) {
  std::set<absl::string_view> seen;
  for (const ServeFlag& flag : VllmServeGrammar().flags) {
    for (absl::string_view name : absl::StrSplit(flag.names, ' ')) {
      EXPECT_TRUE(absl::StartsWith(name, "-")) << name;
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
  }
}

TEST(VllmServeFlags, ACommandOfManyFlagsIsAccepted) {
  EXPECT_EQ(ErrorOf({"VLLM_USE_V1=1",
                     "python3",
                     "-m",
                     "vllm.entrypoints.openai.api_server",
                     "--model",
                     "org/m",
                     "--served-model-name",
                     "a",
                     "b",
                     "--host",
                     "0.0.0.0",
                     "--port",
                     "8000",
                     "-tp",
                     "8",
                     "-dcp=2",
                     "-O3",
                     "--compilation_config.cudagraph_mode",
                     "FULL",
                     "--no-enable-prefix-caching",
                     "--trust-remote-code",
                     "--enforce_eager",
                     "--speculative-config",
                     R"({"method":"mtp","num_speculative_tokens":1})"}),
            "");
}

TEST(VllmServeFlags, AWrongFlagIsNamedWithItsNeighbours) {
  EXPECT_EQ(ErrorOf({"vllm", "serve", "m", "--max-model-lenght", "4096"}),
            "vllm serve, word 4: vllm serve has no flag --max-model-lenght; "
            "the nearest are --max-model-len, --max-log-len, --model-tag");
}

}  // namespace
}  // namespace kvsim::vllm
