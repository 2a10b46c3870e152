#include "tools/from_log.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "engines/capacity.h"
#include "engines/log_reader.h"
#include "engines/serve_flags.h"
#include "tools/capacity_serve.h"
#include "tools/command.h"

namespace kvsim {
namespace {

constexpr int64_t kMostUnits = int64_t{1} << 40;
// Pools that print the same number of tokens: at most one for each group.
constexpr int64_t kMostEqualPools = 64;

// What the planner is given of the memory; empty: what the flags say.
struct PoolGiven {
  std::optional<Bytes> memory;
  std::vector<Bytes> ranks;
  std::optional<int64_t> units;  // blocks
};

struct Prediction {
  StartupLog lines;  // the planner's lines, read as the log was
  CapacityAnswer answer;
};

// One set of settings, planned with any memory.
class Planner {
 public:
  absl::Status Load(const CapacityFlags& flags,
                    const std::vector<std::string>& words) {
    loaded_ = std::make_unique<LoadedQuestion>();
    return LoadQuestion(flags, words, loaded_.get());
  }

  const CapacityQuestion& question() const { return loaded_->question; }
  const std::string& model() const { return loaded_->model.name; }

  absl::StatusOr<Prediction> Plan(const PoolGiven& given) const {
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
    Prediction prediction{*std::move(lines), *std::move(answer)};
    if (question.engine == "vllm" && !prediction.lines.refused) {
      prediction.lines.Set(
          "num_gpu_blocks",
          absl::StrCat(prediction.answer.pool.num_blocks.value()), 0);
    }
    return prediction;
  }

 private:
  std::unique_ptr<LoadedQuestion> loaded_;
};

// What is printed of a cache's memory, and how exactly.
struct PrintedMemory {
  PoolGiven least, most, middle;
  std::string text;  // "55.15 GiB"; "": none was printed
};

// GiB are rounded to two decimals, also where a trailing zero is dropped.
Bytes FromGib(double gib) { return Bytes(std::llround(gib * 0x1p30)); }
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

PrintedMemory MemoryOf(const StartupLog& log, int64_t gpus) {
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

// Facts whose printed value says nothing of memory, or stands in the settings.
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

// A figure's name among the planner's lines, which are those of one rank.
std::string PredictedName(absl::string_view name) {
  if (!absl::StartsWith(name, "ranks.")) return std::string(name);
  const size_t point = name.find('.', 6);
  if (point == absl::string_view::npos) return std::string(name);
  return absl::StrCat("ranks.0", name.substr(point));
}

bool SameNumber(double a, double b) { return std::abs(a - b) < 1e-9; }

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

// The pool among those that memory allows that reproduces the most.
struct Found {
  Prediction prediction;
  std::vector<std::string> differing;
  int64_t least = 0, most = 0;  // blocks that memory allows
  std::string input;            // figure that took the memory's place
};

std::string TargetOf(const StartupLog& log) {
  for (const char* name : {"num_gpu_blocks", "kv_tokens", "max_concurrency"}) {
    if (log.Number(name).has_value()) return name;
  }
  return "";
}

// The smallest pool of [low, high] whose `target` reaches the printed one.
absl::StatusOr<int64_t> SmallestPool(const Planner& planner,
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

absl::StatusOr<Found> FindPool(const Planner& planner, const StartupLog& log,
                               const PrintedMemory& memory) {
  Found found;
  const bool blocks = log.engine == "vllm" && !log.refused;
  const std::string target = blocks ? TargetOf(log) : "";
  absl::StatusOr<Prediction> middle = absl::UnknownError("");
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
    absl::StatusOr<Prediction> prediction =
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

// Settings that logs do not print, one at a time.
struct Guess {
  absl::string_view engine;
  std::vector<std::string> words;
  std::string rule;  // an --engine-switch
};

std::vector<Guess> Guesses() {
  return {
      {"vllm", {}, "token-line=blocks"},
      {"vllm", {}, "token-line=concurrency"},
      {"vllm", {}, "batches-in-flight=1"},
      {"vllm", {}, "batches-in-flight=2"},
      {"vllm", {}, "compressed-pool=tuple"},
      {"vllm", {}, "compressed-pool=bucket"},
      {"vllm", {}, "compressed-pool=packed"},
      {"vllm", {}, "hybrid-prefix-caching=on"},
      {"vllm", {}, "hybrid-prefix-caching=off"},
      {"vllm", {"--kv-cache-dtype", "fp8"}, ""},
      {"vllm", {"--no-enable-prefix-caching"}, ""},
      {"vllm", {"--enable-prefix-caching"}, ""},
      {"vllm", {"--disable-hybrid-kv-cache-manager"}, ""},
      {"vllm", {"--no-async-scheduling"}, ""},
      {"vllm", {"--max-num-batched-tokens", "2048"}, ""},
      {"vllm", {"--max-num-batched-tokens", "8192"}, ""},
      {"vllm", {"--max-num-batched-tokens", "16384"}, ""},
      {"vllm", {"--tensor-parallel-size", "2"}, ""},
      {"vllm", {"--tensor-parallel-size", "4"}, ""},
      {"vllm", {"--tensor-parallel-size", "8"}, ""},
      {"vllm", {"--block-size", "32"}, ""},
      {"vllm", {"--block-size", "64"}, ""},
      {"vllm", {"--block-size", "128"}, ""},
      {"vllm", {"--dtype", "float32"}, ""},
      {"sglang", {"--kv-cache-dtype", "fp8_e4m3"}, ""},
      {"sglang", {"--tp-size", "2"}, ""},
      {"sglang", {"--tp-size", "4"}, ""},
      {"sglang", {"--tp-size", "8"}, ""},
      {"sglang", {"--page-size", "64"}, ""},
      {"sglang", {"--disable-radix-cache"}, ""},
      {"sglang", {"--disable-hybrid-swa-memory"}, ""},
      {"llama.cpp", {"--swa-full"}, ""},
      {"llama.cpp", {"--kv-unified"}, ""},
      {"llama.cpp", {"--ubatch-size", "128"}, ""},
      {"llama.cpp", {"--ubatch-size", "256"}, ""},
      {"llama.cpp", {"--ubatch-size", "1024"}, ""},
      {"llama.cpp", {"--ubatch-size", "2048"}, ""},
      {"llama.cpp", {"--flash-attn", "on"}, ""},
      {"llama.cpp", {"--flash-attn", "off"}, ""},
      {"tensorrt-llm", {"--kv-cache-dtype", "fp8"}, ""},
      {"tensorrt-llm", {"--tp-size", "2"}, ""},
      {"tensorrt-llm", {"--tp-size", "4"}, ""},
      {"tensorrt-llm", {"--tp-size", "8"}, ""},
  };
}

bool Names(const std::vector<std::string>& words, absl::string_view flag) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == flag || absl::StartsWith(word, absl::StrCat(flag, "="));
  });
}

// Compares one log.
class Comparer {
 public:
  Comparer(const StartupLog& log, const CapacityFlags& flags,
           std::vector<std::string> words)
      : log_(log), flags_(flags), words_(std::move(words)) {}

  absl::Status Run(LogComparison* result) {
    absl::Status status = planner_.Load(flags_, words_);
    if (!status.ok()) return status;
    memory_ = MemoryOf(log_, Gpus(planner_.question()));
    absl::StatusOr<Found> found = FindPool(planner_, log_, memory_);
    if (!found.ok()) return found.status();
    found_ = *std::move(found);
    if (!found_.differing.empty()) Guess();
    AddFigures(result);
    AddModelled(result);
    Summarise(result);
    return absl::OkStatus();
  }

 private:
  static int64_t Gpus(const CapacityQuestion& question) {
    return question.tensor.value_or(1) * question.pipeline;
  }

  // Sets guess_ to the one setting that makes everything agree.
  void Guess() {
    for (const kvsim::Guess& guess : Guesses()) {
      if (guess.engine != log_.engine) continue;
      if (!guess.words.empty() &&
          (Names(words_, guess.words[0]) || IsGiven(flags_, guess.words[0]))) {
        continue;
      }
      CapacityFlags flags = flags_;
      std::vector<std::string> words = words_;
      if (!guess.rule.empty()) flags.engine_switches.push_back(guess.rule);
      words.insert(words.end(), guess.words.begin(), guess.words.end());
      Planner planner;
      if (!planner.Load(flags, words).ok()) continue;
      const absl::StatusOr<Found> found =
          FindPool(planner, log_, MemoryOf(log_, Gpus(planner.question())));
      if (!found.ok() || !found->differing.empty()) continue;
      if (found->prediction.lines.refused != log_.refused) continue;
      guess_ = guess.rule.empty()
                   ? absl::StrJoin(guess.words, " ")
                   : absl::StrCat("--engine-switch ", guess.rule);
      return;
    }
  }

  std::string CauseOfDifference(absl::string_view name) const {
    if (!guess_.empty()) {
      return absl::StrCat("the log does not print every setting: with ", guess_,
                          " all figures agree");
    }
    std::string cause = "no single setting that the log leaves out explains it";
    if (!memory_.text.empty() && found_.most > 0 &&
        (name == "kv_tokens" || name == "num_gpu_blocks" ||
         name == "max_concurrency")) {
      absl::StrAppend(&cause, "; ", memory_.text, " allows ",
                      FormatCount(found_.least), " to ",
                      FormatCount(found_.most), " blocks");
    }
    if (log_.engine == "vllm" && log_.Find("engine_version") == nullptr) {
      absl::StrAppend(&cause, "; the version is not in the log");
    }
    if (log_.engine != "vllm") {
      absl::StrAppend(&cause, "; kvsim's rules are those of ",
                      found_.prediction.answer.engine_version);
    }
    return cause;
  }

  bool IsInput(absl::string_view name) const {
    if (name == found_.input) return true;
    if (absl::EndsWith(name, ".available_kv_gib") ||
        absl::EndsWith(name, ".kv_in_use_bytes") ||
        name == "refusal.available_gib" || name == "refusal.max_seq_len") {
      return true;
    }
    const bool tokens =
        absl::EndsWith(name, ".kv_tokens") || name == "max_total_num_tokens";
    if (log_.engine == "sglang") {
      return tokens || absl::EndsWith(name, ".mamba_slots");
    }
    return log_.engine == "tensorrt-llm" &&
           absl::EndsWith(name, ".primary_blocks");
  }

  std::string CauseOfInput(absl::string_view name) const {
    if (name == found_.input) {
      return "memory is not in the log: the pool is the one that prints this";
    }
    if (absl::EndsWith(name, ".available_kv_gib")) {
      const auto own = log_.Number(name);
      const auto rules = memory_.middle.memory;
      if (own.has_value() && rules.has_value() &&
          FromGib(*own) > *rules + Bytes(int64_t{11} << 20)) {
        return "a rank with more memory; the smallest pool rules";
      }
      return "memory as printed";
    }
    if (log_.engine == "sglang" || log_.engine == "tensorrt-llm") {
      return "the memory behind it is not in the log";
    }
    return "the plan starts from it";
  }

  // A figure that none of the planner's lines holds.
  void SetUnplanned(LogFigure* figure) const {
    const absl::string_view name = figure->name;
    const bool buffer = absl::StrContains(name, "buffers_mib.");
    if (absl::StartsWith(name, "caches.") && !buffer) {
      figure->verdict = FigureVerdict::kDiffers;
      figure->cause = "kvsim plans no such cache for this model";
    } else if (absl::StartsWith(name, "caches.")) {
      figure->cause = "a device's share: the cache's total is compared";
    } else if (absl::StrContains(name, "graph_")) {
      figure->cause = "measured after the pool was made";
    } else if (absl::StrContains(name, "weight") ||
               absl::StrContains(name, "activation") ||
               absl::StrContains(name, "non_torch")) {
      figure->cause = "modelled only when the card's memory is known: --gpu";
    } else {
      figure->cause = "not of the cache";
    }
  }

  LogFigure Judge(const LogFact& fact) const {
    LogFigure figure{fact.name, fact.text, "", FigureVerdict::kNotChecked,
                     "",        fact.line};
    const StartupLog& lines = found_.prediction.lines;
    const std::string name = PredictedName(fact.name);
    figure.predicted = lines.Text(name);
    const auto own = lines.Number(name);
    if (IsInput(fact.name)) {
      figure.verdict = FigureVerdict::kInput;
      figure.cause = CauseOfInput(fact.name);
    } else if (own.has_value()) {
      const bool same = SameNumber(*own, *log_.Number(fact.name));
      figure.verdict = same ? FigureVerdict::kAgrees : FigureVerdict::kDiffers;
      if (!same) figure.cause = CauseOfDifference(fact.name);
    } else if (lines.refused != log_.refused && TargetOf(log_) == fact.name) {
      figure.verdict = FigureVerdict::kDiffers;
      figure.predicted = "a refusal";
      figure.cause = CauseOfDifference(fact.name);
    } else {
      SetUnplanned(&figure);
    }
    return figure;
  }

  void AddFigures(LogComparison* result) const {
    for (const LogFact& fact : log_.facts()) {
      if (IsPassedOver(fact.name) || !log_.Number(fact.name)) continue;
      result->figures.push_back(Judge(fact));
    }
    AddPairs(result);
    for (const LogFact& own : found_.prediction.lines.facts()) {
      const bool layout = absl::StartsWith(own.name, "block_size") ||
                          absl::StartsWith(own.name, "padding.") ||
                          own.name == "mamba_page_pad_pct";
      if (!layout || log_.Find(own.name) != nullptr) continue;
      result->figures.push_back({own.name, "", own.text,
                                 FigureVerdict::kNotChecked,
                                 "the log does not hold this line", 0});
    }
  }

  // Sizes that other ranks would hold.
  void AddPairs(LogComparison* result) const {
    const std::string smallest = log_.Text("kv_tokens");
    for (const std::string& pair : log_.Children("pairs.")) {
      const LogFact* tokens =
          log_.Find(absl::StrCat("pairs.", pair, ".kv_tokens"));
      if (tokens == nullptr || tokens->text == smallest) continue;
      result->figures.push_back(
          {tokens->name, tokens->text, smallest, FigureVerdict::kInput,
           "a line of a rank with more memory; the smallest pool rules",
           tokens->line});
    }
  }

  // Parts of the card beside the cache, where its size is known.
  void AddModelled(LogComparison* result) const {
    const auto total = log_.Number("ranks.0.device_total_gib");
    CapacityQuestion question = planner_.question();
    if (!question.gpu.has_value() && !total.has_value()) return;
    if (total.has_value()) {
      question.gpu_memory = FromGib(*total);
    }
    question.kv_memory.reset();
    const absl::StatusOr<CapacityAnswer> answer = AnswerCapacity(question);
    if (!answer.ok()) {
      result->notes.push_back(absl::StrCat(
          "the card's memory is not modelled: ", answer.status().message()));
      return;
    }
    for (LogFigure& figure : result->figures) {
      SetModelled(*answer, &figure);
    }
  }

  static void SetModelled(const CapacityAnswer& answer, LogFigure* figure) {
    struct Part {
      absl::string_view suffix, account;
    };
    constexpr Part kParts[] = {
        {".weights_gib", "weights"},
        {".weights_gb_printed", "weights"},
        {".weights_gb", "weights"},
        {".usage_weight_gib", "weights"},
        {".peak_activation_gib", "activations of the profiling run"},
        {".non_torch_gib", "CUDA context and communication"},
        {".graph_estimated_gib", "CUDA graphs"},
        {".available_kv_gib", "KV cache"},
    };
    for (const Part& part : kParts) {
      if (!absl::EndsWith(figure->name, part.suffix)) continue;
      for (const MemoryAccount& account : answer.accounts) {
        if (account.name != part.account) continue;
        const double gib = static_cast<double>(account.bytes.value()) / 0x1p30;
        figure->predicted = absl::StrFormat("%.2f", gib);
        if (part.account == "KV cache") {
          figure->cause = absl::StrCat(
              "memory as printed; kvsim's model of the card says ",
              absl::StrFormat(
                  "%.2f +- %.2f GiB", gib,
                  static_cast<double>(answer.kv_band.value()) / 0x1p30));
          return;
        }
        figure->verdict = FigureVerdict::kModelled;
        figure->cause =
            "kvsim's figure is modelled; --calibration keeps the "
            "printed memory";
        return;
      }
    }
  }

  void Summarise(LogComparison* result) const {
    const CapacityAnswer& answer = found_.prediction.answer;
    result->engine = log_.engine;
    result->rules = answer.engine_version;
    result->model = planner_.model();
    result->refused = log_.refused;
    result->predicted_refusal = found_.prediction.lines.refused;
    result->tensor = answer.parallel.tensor;
    result->pipeline = answer.parallel.pipeline;
    result->max_num_batched_tokens = answer.max_num_batched_tokens;
    result->max_num_seqs = answer.max_num_seqs;
    if (planner_.question().gpu.has_value()) {
      result->gpu = planner_.question().gpu->name;
    }
    result->gpu_total_gib = log_.Number("ranks.0.device_total_gib");
    result->utilization = planner_.question().gpu_memory_utilization;
    result->kv_memory = KvMemory();
    if (memory_.text.empty() && log_.engine == "vllm") {
      result->notes.push_back(
          "the memory left for the cache is not in the log: the size of the "
          "pool is taken from its printed figures, and not checked");
    }
    const std::vector<std::string>& notes = planner_.question().notes;
    result->notes.insert(result->notes.end(), notes.begin(), notes.end());
  }

  // Memory that gives the pool that was found, within what was printed.
  std::optional<Bytes> KvMemory() const {
    if (log_.engine == "llama.cpp" || log_.refused) return std::nullopt;
    const PoolPlan& pool = found_.prediction.answer.pool;
    const Bytes blocks = pool.bytes_per_block * pool.num_blocks.value();
    if (log_.engine == "vllm" && memory_.middle.memory.has_value()) {
      if (*memory_.least.memory == *memory_.most.memory) {
        return memory_.middle.memory;
      }
      return std::clamp(blocks, *memory_.least.memory, *memory_.most.memory);
    }
    if (log_.engine == "vllm") return blocks;
    return pool.ranks[pool.binding_rank].kv_memory;
  }

  const StartupLog& log_;
  const CapacityFlags& flags_;
  std::vector<std::string> words_;
  Planner planner_;
  PrintedMemory memory_;
  Found found_;
  std::string guess_;
};

// Flags that say what the log says.
absl::Status RefuseFlags(const CapacityFlags& flags, const StartupLog& log) {
  const std::pair<const char*, const std::string*> kRefused[] = {
      {"--kv-memory", &flags.kv_memory},
      {"--num-gpu-blocks", &flags.num_gpu_blocks},
      {"--concurrency", &flags.concurrency}};
  for (const auto& [flag, text] : kRefused) {
    if (text->empty()) continue;
    return UsageError(absl::StrCat(flag, " ", *text,
                                   ": not together with --from-log, which "
                                   "takes the memory from the log"));
  }
  if (flags.engine != "vllm" && flags.engine != log.engine) {
    return UsageError(absl::StrCat("--engine ", flags.engine,
                                   " contradicts the log, which is one of ",
                                   log.engine));
  }
  return absl::OkStatus();
}

// Figures that stand for memory where an engine prints none.
void AddPoolWords(const StartupLog& log, CapacityFlags& flags,
                  std::vector<std::string>& words) {
  if (log.engine == "sglang") {
    std::string tokens = log.Text("max_total_num_tokens");
    int64_t smallest = 0;
    for (const std::string& rank : log.Children("ranks.")) {
      const auto own = log.Integer(absl::StrCat("ranks.", rank, ".kv_tokens"));
      if (own.has_value() && (smallest == 0 || *own < smallest))
        smallest = *own;
    }
    if (tokens.empty() && smallest > 0) tokens = absl::StrCat(smallest);
    if (!tokens.empty() && !Names(words, "--max-total-tokens")) {
      words.insert(words.end(), {"--max-total-tokens", tokens});
    }
  }
  if (log.engine == "tensorrt-llm") {
    int64_t smallest = 0;
    for (const std::string& rank : log.Children("ranks.")) {
      const auto own =
          log.Integer(absl::StrCat("ranks.", rank, ".primary_blocks"));
      if (own.has_value() && (smallest == 0 || *own < smallest))
        smallest = *own;
    }
    if (smallest > 0) flags.num_gpu_blocks = absl::StrCat(smallest);
  }
}

}  // namespace

absl::string_view VerdictName(FigureVerdict verdict) {
  switch (verdict) {
    case FigureVerdict::kAgrees:
      return "agrees";
    case FigureVerdict::kDiffers:
      return "differs";
    case FigureVerdict::kInput:
      return "input";
    case FigureVerdict::kModelled:
      return "modelled";
    case FigureVerdict::kNotChecked:
      return "not checked";
  }
  return "unknown";
}

int64_t LogComparison::Count(FigureVerdict verdict) const {
  return std::count_if(
      figures.begin(), figures.end(),
      [verdict](const LogFigure& figure) { return figure.verdict == verdict; });
}

absl::StatusOr<LogComparison> CompareWithLog(
    const std::string& file, const CapacityFlags& asked,
    const std::vector<std::string>& serve_words) {
  const absl::StatusOr<StartupLog> log = ReadStartupLogFile(file);
  if (!log.ok()) return log.status();
  absl::Status status = RefuseFlags(asked, *log);
  if (!status.ok()) return status;
  LogComparison result;
  result.file = file;
  result.settings = SettingsOfLog(*log);
  result.notes = result.settings.notes;

  CapacityFlags flags = asked;
  flags.engine = log->engine;
  const bool versioned = log->engine == "vllm" && flags.engine_version.empty();
  if (versioned) flags.engine_version = result.settings.version;
  flags.engine_switches.insert(flags.engine_switches.begin(),
                               result.settings.switches.begin(),
                               result.settings.switches.end());
  std::vector<std::string> words = serve_words;
  absl::StatusOr<ServeCommand> command = ReadCommandOf(log->engine, words);
  if (!command.ok()) return UsageError(command.status().message());
  std::vector<LogSetting> used;
  for (const LogSetting& setting : result.settings.given) {
    absl::string_view flag = setting.flag;
    const bool negated = flag == "--no-enable-prefix-caching";
    if (negated) flag = "--enable-prefix-caching";
    if (command->Find(flag) != nullptr || IsGiven(flags, flag)) continue;
    words.push_back(setting.flag);
    if (!setting.value.empty()) words.push_back(setting.value);
    used.push_back(setting);
  }
  result.settings.given = std::move(used);
  const bool named = !flags.model.empty() ||
                     command->Find("--model") != nullptr ||
                     command->Find("--model-path") != nullptr;
  if (!named) {
    if (result.settings.model.empty()) {
      return UsageError(
          absl::StrCat(file,
                       " names no model: --model NAME, a catalogue name or a "
                       "config.json, is required"));
    }
    flags.model = result.settings.model;
    // A folder or hub name: its last part may be in the catalogue.
    while (!flags.model.empty() && flags.model.back() == '/') {
      flags.model.pop_back();
    }
  }
  AddPoolWords(*log, flags, words);
  status = Comparer(*log, flags, std::move(words)).Run(&result);
  if (status.ok()) return result;
  // The words that the planner refuses may be the log's.
  const std::string message = absl::StrCat(file, ": ", status.message());
  return IsUsageError(status) ? UsageError(message)
                              : absl::Status(status.code(), message);
}

void PrintComparison(const LogComparison& comparison, std::ostream& out) {
  const int64_t agrees = comparison.Count(FigureVerdict::kAgrees);
  const int64_t differs = comparison.Count(FigureVerdict::kDiffers);
  out << comparison.file << ": " << comparison.model << " on "
      << comparison.engine << " (" << comparison.rules << ")"
      << (comparison.refused ? ", refused to start" : "") << "\n"
      << agrees << " of " << agrees + differs
      << " figures agree to half a printed unit\n";
  if (!comparison.settings.given.empty()) out << "\nSettings from the log\n";
  for (const LogSetting& setting : comparison.settings.given) {
    out << "  " << setting.flag << (setting.value.empty() ? "" : " ")
        << setting.value;
    if (setting.line > 0) out << "  (line " << setting.line << ")";
    out << "\n";
  }
  out << "\nFigures\n"
      << absl::StrFormat("  %5s  %-32s %14s %14s  %s\n", "line", "name",
                         "printed", "kvsim", "verdict");
  const auto or_dash = [](const std::string& text) {
    return text.empty() ? std::string("-") : text;
  };
  for (const LogFigure& figure : comparison.figures) {
    const std::string line =
        figure.line > 0 ? absl::StrCat(figure.line) : std::string("-");
    out << absl::StrFormat(
        "  %5s  %-32s %14s %14s  %s\n", line, figure.name,
        or_dash(figure.printed), or_dash(figure.predicted),
        absl::StrCat(VerdictName(figure.verdict),
                     figure.cause.empty() ? "" : ": ", figure.cause));
  }
  if (comparison.notes.empty()) return;
  out << "\nNotes\n";
  for (const std::string& note : comparison.notes)
    out << "  - " << note << "\n";
}

nlohmann::ordered_json ComparisonJson(const LogComparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["file"] = comparison.file;
  json["engine"] = comparison.engine;
  json["rules"] = comparison.rules;
  json["model"] = comparison.model;
  json["status"] = comparison.refused ? "refused" : "started";
  json["predicted_status"] =
      comparison.predicted_refusal ? "refused" : "started";
  json["agree"] = comparison.Count(FigureVerdict::kAgrees);
  json["differ"] = comparison.Count(FigureVerdict::kDiffers);
  json["settings"] = Json::array();
  for (const LogSetting& setting : comparison.settings.given) {
    json["settings"].push_back({{"flag", setting.flag},
                                {"value", setting.value},
                                {"line", setting.line}});
  }
  json["figures"] = Json::array();
  for (const LogFigure& figure : comparison.figures) {
    json["figures"].push_back(
        {{"name", figure.name},
         {"printed", figure.printed},
         {"predicted", figure.predicted},
         {"verdict", std::string(VerdictName(figure.verdict))},
         {"cause", figure.cause},
         {"line", figure.line}});
  }
  json["notes"] = comparison.notes;
  return json;
}

}  // namespace kvsim
