#include "tools/group_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim {
namespace {

using ::testing::HasSubstr;
using vllm::GroupKind;

vllm::Settings With(int64_t block_size) {
  vllm::Settings settings;
  settings.block_size = block_size;
  settings.max_model_len = 4096;
  return settings;
}

TEST(GroupSpec, ReadsKindTokensBlockAndCount) {
  const auto groups = ParseGroups("swa:1024/32*2;full;chunked:8K;cross:1500",
                                  StateMode::kAlign, With(16));
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ(groups->size(), 5u);
  EXPECT_EQ((*groups)[1].kind, GroupKind::kSlidingWindow);
  EXPECT_EQ((*groups)[1].window, 1024);
  EXPECT_EQ((*groups)[1].block_tokens, 32);
  EXPECT_EQ((*groups)[2].kind, GroupKind::kFull);
  EXPECT_EQ((*groups)[2].block_tokens, 16);
  EXPECT_EQ((*groups)[3].chunk, 8192);
  EXPECT_EQ((*groups)[4].encoder_tokens, 1500);
  EXPECT_EQ(GroupsInWords(*groups),
            "sliding_window:1024/32*2;full/16;chunked_local:8192/16;"
            "cross:1500/16");
}

// In a sweep's list of values ';' stands between values.
TEST(GroupSpec, APlusSeparatesToo) {
  const auto groups = ParseGroups("full+mamba*3", StateMode::kAlign, With(16));
  ASSERT_TRUE(groups.ok()) << groups.status();
  EXPECT_EQ(GroupsInWords(*groups), "full/16;recurrent/16*3");
}

TEST(GroupSpec, AStateIsABlockOrTheWholeRequest) {
  const auto align = ParseGroups("mamba", StateMode::kAlign, With(256));
  EXPECT_EQ((*align)[0].block_tokens, 256);
  vllm::Settings off = With(256);
  off.enable_prefix_caching = false;
  const auto none = ParseGroups("mamba", StateMode::kAlign, off);
  EXPECT_EQ((*none)[0].state_mode, StateMode::kNone);
  EXPECT_EQ((*none)[0].block_tokens, 4096);
}

TEST(GroupSpec, NamesTheGroupThatIsWrong) {
  for (const auto& [text, message] :
       {std::pair("ring", "'ring': accepted: full, swa:WINDOW"),
        std::pair("full;swa", "'swa': needs ':TOKENS'"),
        std::pair("full:9", "'full:9': takes no ':TOKENS'"),
        std::pair("full*0", "count '0'"), std::pair("full/x", "block 'x'"),
        std::pair("full;", "'': accepted"), std::pair("", "'': accepted"),
        std::pair("mamba*257", "at most 256 are alike")}) {
    const auto groups = ParseGroups(text, StateMode::kAlign, With(16));
    EXPECT_THAT(groups.status().ToString(), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace kvsim
