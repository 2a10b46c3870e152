#include "tools/log_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvsim {
namespace {

TEST(LogSettingsTest, VllmsSettingsAreItsFlags) {
  StartupLog log;
  log.engine = "vllm";
  log.Set("engine_version", "0.19.0", 1);
  log.Set("config.model", "a/b", 1);
  log.Set("config.prefix_caching", "false", 2);
  log.Set("conc_tokens", "4096", 3);
  const LogSettings settings = SettingsOfLog(log);
  EXPECT_EQ(settings.version, "0.19.0");
  EXPECT_EQ(settings.model, "a/b");
  ASSERT_EQ(settings.given.size(), 2u);
  EXPECT_EQ(settings.given[0].flag, "--max-model-len");
  EXPECT_EQ(settings.given[0].value, "4096");
  EXPECT_EQ(settings.given[0].line, 3);
  EXPECT_EQ(settings.given[1].flag, "--no-enable-prefix-caching");
}

TEST(LogSettingsTest, RanksWithLinesOfTheirOwnAreCounted) {
  StartupLog log;
  log.engine = "vllm";
  log.Set("ranks.0.available_kv_gib", "1.00", 1);
  log.Set("ranks.1.available_kv_gib", "1.00", 1);
  log.Set("style", "two-line", 2);
  const LogSettings settings = SettingsOfLog(log);
  ASSERT_EQ(settings.given.size(), 1u);
  EXPECT_EQ(settings.given[0].flag, "--tensor-parallel-size");
  EXPECT_EQ(settings.given[0].value, "2");
  EXPECT_EQ(settings.version, "2026-04-21");
  EXPECT_EQ(settings.notes.size(), 2u);
}

// 2 sequences in one stream of 512 cells.
TEST(LogSettingsTest, LlamaCppsContextFollowsFromItsCells) {
  StartupLog log;
  log.engine = "llama.cpp";
  log.Set("caches.0.cells", "512", 1);
  log.Set("caches.0.seqs", "2", 1);
  log.Set("caches.0.streams", "1", 1);
  std::string words;
  for (const LogSetting& setting : SettingsOfLog(log).given) {
    words += setting.flag + " " + setting.value + " ";
  }
  EXPECT_EQ(words, "--parallel 2 --kv-unified  --ctx-size 512 ");
}

TEST(LogSettingsTest, KvsimsFlagsGoBeforeTheLogs) {
  CapacityFlags flags;
  flags.tensor = "2";
  EXPECT_TRUE(IsGiven(flags, "--tensor-parallel-size"));
  EXPECT_TRUE(IsGiven(flags, "--tp-size"));
  EXPECT_FALSE(IsGiven(flags, "--max-model-len"));
}

}  // namespace
}  // namespace kvsim
