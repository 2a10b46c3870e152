#include "tools/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A kvsim whose only command, `probe`, ends with a given status.
class CommandTest : public ::testing::Test {
 protected:
  CommandTest() {
    context_.out = &out_;
    context_.err = &err_;
  }

  // Runs `kvsim probe` and returns its exit code.
  int RunProbe(ServeArguments serve_arguments, const absl::Status& status) {
    CLI::App app("test", "kvsim");
    AddCommand(app, context_, "probe", "Probes.", serve_arguments,
               [this, status] {
                 ran_ = true;
                 return status;
               });
    app.parse(std::vector<std::string>{"probe"});
    return context_.exit_code;
  }

  CommandContext context_;
  std::ostringstream out_;
  std::ostringstream err_;
  bool ran_ = false;
};

TEST_F(CommandTest, SuccessIsSilent) {
  EXPECT_EQ(RunProbe(ServeArguments::kRefused, absl::OkStatus()), kExitOk);
  EXPECT_TRUE(ran_);
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_THAT(err_.str(), IsEmpty());
}

TEST_F(CommandTest, BadInputExitsWithOneAndNamesTheCommand) {
  EXPECT_EQ(RunProbe(ServeArguments::kRefused,
                     absl::InvalidArgumentError("a.json: line 3: no")),
            kExitBadInput);
  EXPECT_EQ(err_.str(), "kvsim probe: a.json: line 3: no\n");
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(CommandTest, AFullDiskOnStandardOutputIsAnError) {
  std::ofstream full("/dev/full");
  full << "a result";
  context_.out = &full;
  EXPECT_EQ(RunProbe(ServeArguments::kRefused, absl::OkStatus()),
            kExitBadInput);
  EXPECT_EQ(err_.str(),
            "kvsim probe: standard output: No space left on device\n");
}

TEST_F(CommandTest, WrongUsageExitsWithTwo) {
  EXPECT_EQ(RunProbe(ServeArguments::kRefused, UsageError("--a needs --b")),
            kExitWrongUsage);
  EXPECT_EQ(err_.str(), "kvsim probe: --a needs --b\n");
}

TEST_F(CommandTest, ServeArgumentsAreRefusedNotIgnored) {
  context_.serve_arguments = {"--tp", "2"};
  EXPECT_EQ(RunProbe(ServeArguments::kRefused, absl::OkStatus()),
            kExitWrongUsage);
  EXPECT_FALSE(ran_);
  EXPECT_THAT(err_.str(), HasSubstr("\"--tp 2\""));
}

TEST_F(CommandTest, ServeArgumentsReachACommandThatAcceptsThem) {
  context_.serve_arguments = {"--tp", "2"};
  EXPECT_EQ(RunProbe(ServeArguments::kAccepted, absl::OkStatus()), kExitOk);
  EXPECT_TRUE(ran_);
}

}  // namespace
}  // namespace kvsim
