#include "tools/server_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kvsim {
namespace {

using ::testing::HasSubstr;

ServerMetrics Read(const std::string& text) {
  const auto metrics = ReadServerMetrics(text);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? *metrics : ServerMetrics();
}

std::string Error(const std::string& text) {
  return std::string(ReadServerMetrics(text).status().message());
}

TEST(ServerMetricsTest, VllmPrometheusOfTwoEngines) {
  const ServerMetrics m =
      Read(R"(# HELP vllm:kv_cache_usage_perc KV-cache usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1000.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 3000.0
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 400.0
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 1.2e+03
vllm:num_preemptions_total{engine="0",model_name="m"} 2.0 1700000000
python_gc_objects_collected_total{generation="0"} 9.0
)");
  EXPECT_EQ(m.source, "vLLM /metrics");
  EXPECT_EQ(m.usage, 0.5);
  EXPECT_EQ(m.running, 7);
  EXPECT_EQ(m.waiting, 0);
  EXPECT_EQ(m.hit_rate, 0.4);
  EXPECT_EQ(m.preemptions, 2);
  EXPECT_FALSE(m.averaged);
}

TEST(ServerMetricsTest, OlderVllmNames) {
  const ServerMetrics m = Read(
      "vllm:gpu_cache_usage_perc 0.5\r\n"
      "vllm:gpu_prefix_cache_queries_total 10\r\n"
      "vllm:gpu_prefix_cache_hits_total 4\r\n");
  EXPECT_EQ(m.usage, 0.5);
  EXPECT_EQ(m.hit_rate, 0.4);
  EXPECT_FALSE(m.preemptions.has_value());
}

TEST(ServerMetricsTest, NoQueriesIsNoRate) {
  const ServerMetrics m = Read(
      "vllm:prefix_cache_queries_total 0\nvllm:prefix_cache_hits_total 0\n");
  EXPECT_FALSE(m.hit_rate.has_value());
}

TEST(ServerMetricsTest, SglangPrometheusPrefersCounters) {
  const ServerMetrics m = Read(
      "sglang:token_usage{model_name=\"m\"} 0.28\n"
      "sglang:cache_hit_rate{model_name=\"m\"} 0.9\n"
      "sglang:cached_tokens_total{model_name=\"m\"} 50\n"
      "sglang:prompt_tokens_total{model_name=\"m\"} 200\n"
      "sglang:num_retracted_reqs{model_name=\"m\"} 1\n");
  EXPECT_EQ(m.source, "SGLang /metrics");
  EXPECT_EQ(m.usage, 0.28);
  EXPECT_EQ(m.hit_rate, 0.25);
  EXPECT_EQ(m.preemptions, 1);
}

TEST(ServerMetricsTest, VllmLogLines) {
  const ServerMetrics m = Read(
      "INFO 11-29 10:00:00 [loggers.py:250] Engine 000: Avg prompt throughput: "
      "10.0 tokens/s, Avg generation throughput: 5.0 tokens/s, Running: 2 "
      "reqs, "
      "Waiting: 1 reqs, GPU KV cache usage: 10.0%, Prefix cache hit rate: "
      "0.0%\n"
      "INFO something else\n"
      "INFO 11-29 10:00:10 [loggers.py:250] Engine 000: Avg prompt throughput: "
      "10.0 tokens/s, Avg generation throughput: 5.0 tokens/s, Running: 4 "
      "reqs, "
      "Waiting: 0 reqs, Preemptions: 3, GPU KV cache usage: 30.0%, Prefix "
      "cache "
      "hit rate: 40.0%, External prefix cache hit rate: 99.0%\n");
  EXPECT_EQ(m.source, "vLLM log");
  EXPECT_EQ(m.lines, 2);
  EXPECT_NEAR(*m.usage, 0.2, 1e-12);
  EXPECT_NEAR(*m.usage_max, 0.3, 1e-12);
  EXPECT_NEAR(*m.hit_rate, 0.4, 1e-12);
  EXPECT_EQ(m.running, 3);
  EXPECT_EQ(m.running_max, 4);
  EXPECT_EQ(m.waiting, 0.5);
  EXPECT_EQ(m.preemptions, 3);
  EXPECT_TRUE(m.averaged);
}

TEST(ServerMetricsTest, SglangLogLines) {
  const ServerMetrics m = Read(
      "[2026-01-01 00:00:00 TP0] Prefill batch, #new-seq: 1, #new-token: 300, "
      "#cached-token: 100, token usage: 0.10, #running-req: 1, #queue-req: 2,\n"
      "[2026-01-01 00:00:01 TP0] Decode batch, #running-req: 3, #token: 400, "
      "token usage: 0.30, gen throughput (token/s): 50.1, #queue-req: 0,\n");
  EXPECT_EQ(m.source, "SGLang log");
  EXPECT_NEAR(*m.usage, 0.2, 1e-12);
  EXPECT_EQ(m.hit_rate, 0.25);
  EXPECT_EQ(m.running, 2);
  EXPECT_EQ(m.waiting, 1);
  EXPECT_FALSE(m.preemptions.has_value());
}

TEST(ServerMetricsTest, BadInputIsNamed) {
  EXPECT_THAT(Error(""), HasSubstr("found no figures"));
  EXPECT_THAT(Error("hello\n"), HasSubstr("found no figures"));
  EXPECT_THAT(Error("\nvllm:num_requests_running x\n"),
              HasSubstr("line 2: vllm:num_requests_running: found \"x\""));
  EXPECT_THAT(Error("vllm:num_requests_running NaN\n"), HasSubstr("NaN"));
  EXPECT_THAT(Error("vllm:num_requests_running -1\n"), HasSubstr("-1"));
  EXPECT_THAT(Error("vllm:num_requests_running\n"), HasSubstr("found \"\""));
  EXPECT_THAT(Error("vllm:num_requests_running{engine=\"0\" 1\n"),
              HasSubstr("labels"));
  EXPECT_THAT(Error("vllm:num_requests_running{model_name=\"a\"} 1\n"
                    "vllm:num_requests_running{model_name=\"b\"} 1\n"),
              HasSubstr("metrics of 2 models"));
  EXPECT_THAT(Error("Running: x reqs, GPU KV cache usage: 1.0%\n"),
              HasSubstr("line 1: figure: found \"x\""));
}

}  // namespace
}  // namespace kvsim
