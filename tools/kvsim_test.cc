#include "tools/kvsim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(KvsimTest, VersionIsAResult) {
  const Outcome outcome = Kvsim({"--version"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(outcome.out, std::string("kvsim ") + kVersion +
                             "\ncommit unknown\nrules  vLLM main of "
                             "2026-08-17, releases to 0.31.0\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(KvsimTest, UnknownFlagIsWrongUsage) {
  const Outcome outcome = Kvsim({"--no-such-flag"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, Not(IsEmpty()));
}

TEST(KvsimTest, UnknownCommandIsWrongUsageAndNamed) {
  const Outcome outcome = Kvsim({"relay", "--trace", "x"});
  EXPECT_EQ(outcome.code, kExitWrongUsage);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("no command \"relay\""));
}

TEST(KvsimTest, NoCommandIsWrongUsage) {
  EXPECT_EQ(Kvsim({}).code, kExitWrongUsage);
}

}  // namespace
}  // namespace kvsim
