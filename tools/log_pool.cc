#include "tools/log_pool.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "engines/log_reader.h"

namespace kvsim {
namespace {

constexpr int64_t kMostUnits = int64_t{1} << 40;
// Pools that print the same number of tokens: at most one for each group.
constexpr int64_t kMostEqualPools = 64;

double GibBand(absl::string_view printed) {
  const size_t point = printed.find('.');
  const bool fine =
      point != absl::string_view::npos && printed.size() - point - 1 > 2;
  return fine ? HalfUnit(printed) : 0.005;
}

// Ranks of pipeline stages, stage by stage; empty when some are missing.
std::vector<std::string> StagedRanks(const StartupLog& log, int64_t gpus) {
  std::vector<std::string> ranks;
  for (const std::string& rank : log.Children("ranks.")) {
    if (!absl::StartsWith(rank, "PP")) continue;
    if (log.Find(absl::StrCat("ranks.", rank, ".available_kv_gib")) !=
        nullptr) {
      ranks.push_back(rank);
    }
  }
  if (static_cast<int64_t>(ranks.size()) != gpus) ranks.clear();
  return ranks;
}

// Names of figures that the pool decides and both print.
std::vector<std::string> Differing(const StartupLog& log,
                                   const StartupLog& predicted) {
  std::vector<std::string> names;
  for (const LogFact& fact : log.facts()) {
    if (IsPassedOver(fact.name)) continue;
    const auto printed = log.Number(fact.name);
    const auto own = predicted.Number(PredictedName(fact.name));
    if (printed.has_value() && own.has_value() && !SameNumber(*printed, *own)) {
      names.push_back(fact.name);
    }
  }
  return names;
}

// The smallest pool of [low, high] whose `target` reaches the printed one.
absl::StatusOr<int64_t> SmallestPool(const LogPlanner& planner,
                                     const StartupLog& log,
                                     const std::string& target, int64_t low,
                                     int64_t high) {
  const double printed = log.Number(target).value_or(0);
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const auto prediction =
        planner.Plan({.memory = {}, .ranks = {}, .units = middle});
    if (!prediction.ok()) return prediction.status();
    const auto own = prediction->lines.Number(target);
    if (own.has_value() && *own >= printed - 1e-9) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

absl::StatusOr<LogPrediction> LogPlanner::Plan(const PoolGiven& given) const {
  CapacityQuestion question = loaded_->question;
  if (given.units.has_value()) {
    question.num_gpu_blocks = Blocks(*given.units);
  } else if (!given.ranks.empty()) {
    question.kv_memory_ranks = given.ranks;
  } else if (given.memory.has_value()) {
    question.kv_memory = given.memory;
  }
  absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
  if (!answer.ok()) return answer.status();
  std::stringstream text;
  for (const std::string& line : answer->pool.log_lines) {
    text << "INFO " << line << "\n";
  }
  if (answer->pool.refused.has_value()) {
    text.str("");
    text.clear();
    text << "ERROR " << answer->pool.refused->message << "\n";
  }
  absl::StatusOr<StartupLog> lines = ReadStartupLog(text, "kvsim's lines");
  if (!lines.ok()) return lines.status();
  LogPrediction prediction{*std::move(lines), *std::move(answer)};
  if (question.engine == "vllm" && !prediction.lines.refused) {
    prediction.lines.Set(
        "num_gpu_blocks",
        absl::StrCat(prediction.answer.pool.num_blocks.value()), 0);
  }
  return prediction;
}

// Rounded to two decimals, also where a trailing zero is dropped.
Bytes FromGib(double gib) { return Bytes(std::llround(gib * 0x1p30)); }

PrintedMemory PrintedMemoryOf(const StartupLog& log, int64_t gpus) {
  PrintedMemory memory;
  if (const auto gib = log.Number("refusal.available_gib");
      gib && log.refused) {
    memory.text = absl::StrCat(log.Text("refusal.available_gib"), " GiB");
    memory.middle.memory = FromGib(*gib);
    memory.least.memory = FromGib(*gib - 0.005);
    memory.most.memory = FromGib(*gib + 0.005);
    return memory;
  }
  const std::vector<std::string> staged = StagedRanks(log, gpus);
  for (const std::string& rank : staged) {
    const std::string name = absl::StrCat("ranks.", rank, ".available_kv_gib");
    const double gib = log.Number(name).value_or(0);
    const double band = GibBand(log.Text(name));
    memory.middle.ranks.push_back(FromGib(gib));
    memory.least.ranks.push_back(FromGib(gib - band));
    memory.most.ranks.push_back(FromGib(gib + band));
    memory.text = "memory of every stage";
  }
  if (!staged.empty()) return memory;
  for (const std::string& rank : log.Children("ranks.")) {
    if (absl::StartsWith(rank, "DP")) continue;
    const std::string path = absl::StrCat("ranks.", rank, ".");
    Bytes low, high, middle;
    std::string text;
    if (const auto bytes = log.Integer(path + "kv_in_use_bytes")) {
      low = high = middle = Bytes(*bytes);
      text = absl::StrCat(FormatCount(*bytes), " bytes");
    } else if (const auto gib = log.Number(path + "available_kv_gib")) {
      const double band = GibBand(log.Text(path + "available_kv_gib"));
      middle = FromGib(*gib);
      low = FromGib(*gib - band);
      high = FromGib(*gib + band);
      text = absl::StrCat(log.Text(path + "available_kv_gib"), " GiB");
    } else {
      continue;
    }
    if (memory.middle.memory.has_value() && middle >= *memory.middle.memory) {
      continue;
    }
    memory.text = text;
    memory.least.memory = std::max(low, Bytes(0));
    memory.most.memory = std::max(high, Bytes(0));
    memory.middle.memory = std::max(middle, Bytes(0));
  }
  return memory;
}

bool IsPassedOver(absl::string_view name) {
  for (const absl::string_view part :
       {"config.", "pairs.", "profiling_override.", "override.",
        "kv_line_pairs", "conc_tokens", "asked_max_len", "fitted_max_len",
        "chunked_prefill", "max_prefill_tokens", "engine_version",
        "api_server_version"}) {
    if (absl::StartsWith(name, part)) return true;
  }
  for (const absl::string_view part :
       {"_seconds", ".seqs", ".util", ".kind", "_type", ".tokens_per_block",
        "context_len", ".max_seq_len"}) {
    if (absl::EndsWith(name, part)) return true;
  }
  return false;
}

std::string PredictedName(absl::string_view name) {
  if (!absl::StartsWith(name, "ranks.")) return std::string(name);
  const size_t point = name.find('.', 6);
  if (point == absl::string_view::npos) return std::string(name);
  return absl::StrCat("ranks.0", name.substr(point));
}

bool SameNumber(double a, double b) { return std::abs(a - b) < 1e-9; }

std::string PoolFigureOf(const StartupLog& log) {
  for (const char* name : {"num_gpu_blocks", "kv_tokens", "max_concurrency"}) {
    if (log.Number(name).has_value()) return name;
  }
  return "";
}

absl::StatusOr<FoundPool> PoolBehindLog(const LogPlanner& planner,
                                        const StartupLog& log,
                                        const PrintedMemory& memory) {
  FoundPool found;
  const bool blocks = log.engine == "vllm" && !log.refused;
  const std::string target = blocks ? PoolFigureOf(log) : "";
  absl::StatusOr<LogPrediction> middle = absl::UnknownError("");
  if (!memory.text.empty() || target.empty()) {
    middle = planner.Plan(memory.middle);
    if (!middle.ok()) return middle.status();
    found.prediction = *middle;
    found.differing = Differing(log, middle->lines);
    if (target.empty()) return found;
    const auto least = planner.Plan(memory.least);
    const auto most = planner.Plan(memory.most);
    if (!least.ok()) return least.status();
    if (!most.ok()) return most.status();
    found.least = least->answer.pool.num_blocks.value();
    found.most = most->answer.pool.num_blocks.value();
    if (middle->lines.refused) return found;
  } else {
    found.input = target;
    found.least = 1;
    found.most = kMostUnits;
  }
  const absl::StatusOr<int64_t> first =
      SmallestPool(planner, log, target, found.least, found.most);
  if (!first.ok()) return first.status();
  bool any = middle.ok();
  for (int64_t i = 0; i < kMostEqualPools && *first + i <= found.most; ++i) {
    absl::StatusOr<LogPrediction> prediction =
        planner.Plan({.memory = {}, .ranks = {}, .units = *first + i});
    if (!prediction.ok()) return prediction.status();
    std::vector<std::string> differing = Differing(log, prediction->lines);
    if (!any || differing.size() < found.differing.size()) {
      any = true;
      found.prediction = *std::move(prediction);
      found.differing = std::move(differing);
    }
    if (found.differing.empty()) break;
  }
  return found;
}

}  // namespace kvsim
