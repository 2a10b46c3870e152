#include "tools/from_log.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
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
#include "tools/log_guesses.h"
#include "tools/log_pool.h"
#include "tools/log_settings.h"

namespace kvsim {
namespace {

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
    memory_ = PrintedMemoryOf(log_, Gpus(planner_.question()));
    absl::StatusOr<FoundPool> found = PoolBehindLog(planner_, log_, memory_);
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
    for (const LogGuess& guess : LogGuesses()) {
      if (guess.engine != log_.engine) continue;
      if (!guess.words.empty() &&
          (Names(words_, guess.words[0]) || IsGiven(flags_, guess.words[0]))) {
        continue;
      }
      CapacityFlags flags = flags_;
      std::vector<std::string> words = words_;
      if (!guess.rule.empty()) flags.engine_switches.push_back(guess.rule);
      words.insert(words.end(), guess.words.begin(), guess.words.end());
      LogPlanner planner;
      if (!planner.Load(flags, words).ok()) continue;
      const absl::StatusOr<FoundPool> found = PoolBehindLog(
          planner, log_, PrintedMemoryOf(log_, Gpus(planner.question())));
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
    } else if (lines.refused != log_.refused &&
               PoolFigureOf(log_) == fact.name) {
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
  LogPlanner planner_;
  PrintedMemory memory_;
  FoundPool found_;
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

// The least of a figure over the ranks; none: no rank prints it.
std::optional<int64_t> LeastOfRanks(const StartupLog& log,
                                    absl::string_view figure) {
  std::optional<int64_t> least;
  for (const std::string& rank : log.Children("ranks.")) {
    const auto own = log.Integer(absl::StrCat("ranks.", rank, ".", figure));
    if (own.has_value()) least = std::min(*own, least.value_or(*own));
  }
  return least;
}

// Figures that stand for memory where an engine prints none.
void AddPoolWords(const StartupLog& log, CapacityFlags& flags,
                  std::vector<std::string>& words) {
  if (log.engine == "sglang") {
    std::string tokens = log.Text("max_total_num_tokens");
    const auto least = LeastOfRanks(log, "kv_tokens");
    if (tokens.empty() && least.has_value()) tokens = absl::StrCat(*least);
    if (!tokens.empty() && !Names(words, "--max-total-tokens")) {
      words.insert(words.end(), {"--max-total-tokens", tokens});
    }
  }
  if (log.engine == "tensorrt-llm") {
    const auto least = LeastOfRanks(log, "primary_blocks");
    if (least.has_value()) flags.num_gpu_blocks = absl::StrCat(*least);
  }
}

}  // namespace

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

}  // namespace kvsim
