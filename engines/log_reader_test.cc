#include "engines/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

StartupLog Read(const std::string& text) {
  std::istringstream stream(text);
  absl::StatusOr<StartupLog> log = ReadStartupLog(stream, "a.log");
  EXPECT_TRUE(log.ok()) << log.status();
  return log.ok() ? *std::move(log) : StartupLog();
}

TEST(LogReaderTest, PrefixesColoursAndReturnsDoNotMatter) {
  const StartupLog log = Read(
      "node-3 | \033[32m(EngineCore_DP0 pid=7)\033[0m INFO 05-05 01:02:03 "
      "[kv_cache_utils.py:1] GPU KV cache size: 12,800 tokens\r\n"
      "Capturing: 50%\rCapturing: 100%\r(EngineCore_DP0 pid=7) INFO 05-05 "
      "01:02:03 [kv_cache_utils.py:2] Maximum concurrency for 6,400 tokens per "
      "request: 2.00x\n");
  EXPECT_EQ(log.engine, "vllm");
  EXPECT_EQ(log.Text("kv_tokens"), "12800");
  EXPECT_EQ(log.Text("conc_tokens"), "6400");
  EXPECT_EQ(log.Text("max_concurrency"), "2.00");
  EXPECT_EQ(log.Find("kv_tokens")->line, 1);
  EXPECT_EQ(log.Find("max_concurrency")->line, 2);
  EXPECT_EQ(log.Find("ranks.0.available_kv_gib"), nullptr);
}

TEST(LogReaderTest, WrappedLinesAreJoined) {
  const StartupLog log = Read(
      "> INFO 05-05 01:02:03 [gpu_worker.py:1] Available KV cache\n"
      "> memory: 3.1 GiB\n"
      "> INFO 05-05 01:02:03 [kv_cache_utils.py:1] GPU KV cache size: 12,800\n"
      "> tokens, Maximum concurrency for 6,400 tokens per request: 2.00x\n");
  EXPECT_EQ(log.Text("ranks.0.available_kv_gib"), "3.1");
  EXPECT_EQ(log.Text("kv_tokens"), "12800");
  EXPECT_EQ(log.Text("style"), "combined-line");
  EXPECT_EQ(log.Find("kv_tokens")->line, 3);
}

TEST(LogReaderTest, TheSmallestOfUnequalPoolsCounts) {
  std::string text;
  for (const char* sizes : {"1,600", "1,568", "1,600"}) {
    absl::StrAppend(&text, "INFO GPU KV cache size: ", sizes, " tokens\n",
                    "INFO Maximum concurrency for 16 tokens per request: ",
                    std::string(sizes) == "1,568" ? "98.00x" : "100.00x", "\n");
  }
  const StartupLog log = Read(text);
  EXPECT_EQ(log.Text("kv_line_pairs"), "3");
  EXPECT_EQ(log.Text("kv_tokens"), "1568");
  EXPECT_EQ(log.Text("max_concurrency"), "98.00");
  EXPECT_EQ(log.Text("pairs.2.kv_tokens"), "1600");
}

TEST(LogReaderTest, RanksAreKeptApart) {
  const StartupLog log = Read(
      "(Worker_PP0_TP1 pid=1) INFO Available KV cache memory: 2.50 GiB\n"
      "(Worker_PP1_TP0_EP0 pid=2) INFO Available KV cache memory: -0.25 GiB\n"
      "(EngineCore pid=3) INFO GPU KV cache size: 16 tokens\n");
  EXPECT_EQ(log.Text("ranks.PP0_TP1.available_kv_gib"), "2.50");
  EXPECT_EQ(log.Text("ranks.PP1_TP0.available_kv_gib"), "-0.25");
}

TEST(LogReaderTest, SettingsComeFromTheEnginesOwnList) {
  const StartupLog log = Read(
      "INFO [utils.py:1] non-default args: {'model': 'a/b', 'max_num_seqs': 8, "
      "'gpu_memory_utilization': 0.5}\n"
      "INFO [core.py:1] Initializing a V1 LLM engine (v0.12.0) with config: "
      "model='a/b', dtype=torch.bfloat16, kv_cache_dtype=fp8, "
      "enable_prefix_caching=False, speculative_config=None\n"
      "INFO GPU KV cache size: 16 tokens\n");
  EXPECT_EQ(log.Text("engine_version"), "0.12.0");
  EXPECT_EQ(log.Text("config.model"), "a/b");
  EXPECT_EQ(log.Text("config.max_num_seqs"), "8");
  EXPECT_EQ(log.Text("config.util"), "0.5");
  EXPECT_EQ(log.Text("config.dtype"), "bfloat16");
  EXPECT_EQ(log.Text("config.kv_cache_dtype"), "fp8");
  EXPECT_EQ(log.Text("config.prefix_caching"), "false");
}

TEST(LogReaderTest, SglangsDraftComesSecond) {
  const StartupLog log = Read(
      "[2026-02-02 10:00:00 TP1] server_args=ServerArgs(model_path='a/b', "
      "tp_size=2, mem_fraction_static=0.8)\n"
      "[2026-02-02 10:00:00 TP1] KV Cache is allocated. dtype: "
      "torch.bfloat16, #tokens: 100, K size: 1.50 GB, V size: 1.50 GB\n"
      "[2026-02-02 10:00:00 TP1] KV Cache is allocated. #tokens: 100, K size: "
      "0.25 GB, V size: 0.25 GB\n");
  EXPECT_EQ(log.engine, "sglang");
  EXPECT_EQ(log.Text("config.model_path"), "a/b");
  EXPECT_EQ(log.Text("config.mem_fraction_static"), "0.8");
  EXPECT_EQ(log.Text("ranks.1.k_gb"), "1.50");
  EXPECT_EQ(log.Text("ranks.1.draft_k_gb"), "0.25");
}

TEST(LogReaderTest, LlamaCppsDevicesMayHoldColons) {
  const StartupLog log = Read(
      "llama[2]: llama_kv_cache: RPC[10.0.0.2:50052] KV buffer size =    64.00 "
      "MiB\n"
      "llama[2]: llama_kv_cache: size =   64.00 MiB (   512 cells,   4 layers, "
      " 2/2 seqs), K (f16):   32.00 MiB, V (q8_0):   32.00 MiB\n"
      "llama_memory_recurrent: size =    2.00 MiB (     2 cells,   4 layers,  "
      "2 seqs), R (f32):    0.50 MiB, S (f32):    1.50 MiB\n");
  EXPECT_EQ(log.engine, "llama.cpp");
  EXPECT_EQ(log.Text("caches.0.buffers_mib.RPC[10.0.0.2:50052]"), "64.00");
  EXPECT_EQ(log.Text("caches.0.streams"), "2");
  EXPECT_EQ(log.Text("caches.0.v_type"), "q8_0");
  EXPECT_EQ(log.Text("caches.1.kind"), "recurrent");
  EXPECT_EQ(log.Text("caches.1.s_mib"), "1.50");
}

TEST(LogReaderTest, TensorrtLlmsLastFigureCounts) {
  const StartupLog log = Read(
      "[TensorRT-LLM][INFO][1] Number of blocks in KV cache primary pool: 9\n"
      "[TensorRT-LLM][INFO][1] Number of blocks in KV cache primary pool: 70\n"
      "[TensorRT-LLM][INFO][1] [MemUsageChange] Allocated 1.25 GiB for max "
      "tokens in paged KV cache (2240).\n");
  EXPECT_EQ(log.engine, "tensorrt-llm");
  EXPECT_EQ(log.Text("ranks.1.primary_blocks"), "70");
  EXPECT_EQ(log.Text("ranks.1.kv_tokens"), "2240");
}

TEST(LogReaderTest, RefusalsAreRead) {
  const StartupLog log = Read(
      "ERROR [core.py:1] ValueError: To serve at least one request with the "
      "models's max seq len (4096), (2.00 GiB KV cache is needed, which is "
      "larger than the available KV cache memory (0.75 GiB). Try increasing\n");
  EXPECT_TRUE(log.refused);
  EXPECT_EQ(log.Text("refusal.kind"), "max_model_len");
  EXPECT_EQ(log.Text("refusal.needed_gib"), "2.00");
  EXPECT_EQ(log.Find("refusal.estimated_max_len"), nullptr);
}

TEST(LogReaderTest, ErrorsSayWhatWasLookedAtAndWhatIsAccepted) {
  std::istringstream empty("");
  EXPECT_THAT(std::string(ReadStartupLog(empty, "a.log").status().message()),
              AllOf(HasSubstr("a.log: is empty"), HasSubstr("accepted: ")));
  std::istringstream garbage("{\"x\": 1}\n\x01\x02 GPU KV cache size: many\n");
  EXPECT_THAT(std::string(ReadStartupLog(garbage, "a.log").status().message()),
              HasSubstr("lines 1 to 2 say nothing about a cache"));
  EXPECT_THAT(std::string(ReadStartupLogFile("no/such").status().message()),
              HasSubstr("no/such: cannot be opened"));
}

// Half a million lines without any sense, and one line of 8 MB.
TEST(LogReaderTest, LargeLogsAreReadLineByLine) {
  std::string text;
  for (int i = 0; i < 500000; ++i) text += "INFO a line, number 0.123\n";
  text += std::string(8 << 20, 'x');
  text += "\nINFO GPU KV cache size: 16 tokens\n";
  EXPECT_EQ(Read(text).Find("kv_tokens")->line, 500002);
}

// Text as the records write it: "1.50" and 1.5 are the same.
void ExpectSame(const std::string& name, const Json& expected,
                const StartupLog& log) {
  const LogFact* fact = log.Find(name);
  if (expected.is_null()) {
    EXPECT_EQ(fact, nullptr) << name;
    return;
  }
  ASSERT_NE(fact, nullptr) << name;
  if (expected.is_number()) {
    EXPECT_EQ(log.Number(name), expected.get<double>()) << name;
  } else if (expected.is_boolean()) {
    EXPECT_EQ(fact->text, expected.get<bool>() ? "true" : "false") << name;
  } else {
    EXPECT_EQ(fact->text, expected.get<std::string>()) << name;
  }
}

// Every leaf of `json` but what is not read from the text.
void ExpectAll(const std::string& path, const Json& json,
               const StartupLog& log) {
  if (!json.is_structured()) return ExpectSame(path, json, log);
  for (const auto& [key, value] : json.items()) {
    if (path.empty() && (key == "notes" || key == "version_hint" ||
                         key == "derived" || key == "engine")) {
      continue;
    }
    if (path.empty() && key == "status") {
      EXPECT_EQ(log.refused, value == "refused");
      continue;
    }
    ExpectAll(path.empty() ? key : absl::StrCat(path, ".", key), value, log);
  }
}

TEST(LogReaderTest, RecordedLogsAreReadAsExpected) {
  const char* shared = std::getenv("KVSIM_SHARED");
  if (shared == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(shared, "/facts/sample_logs"))) {
    if (entry.path().extension() != ".log") continue;
    SCOPED_TRACE(entry.path().string());
    std::filesystem::path record = entry.path();
    std::ifstream stream(record.replace_extension(".json"));
    Json expected = Json::parse(stream);
    const auto log = ReadStartupLogFile(entry.path().string());
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_EQ(log->engine, expected["engine"]);
    // Its record takes the version from elsewhere.
    if (log->engine == "tensorrt-llm") expected.erase("engine_version");
    ExpectAll("", expected, *log);
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

}  // namespace
}  // namespace kvsim
