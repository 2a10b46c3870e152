#include "tests/engine_run.h"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engines/vllm/engine.h"
#include "sim/fixed_cost.h"
#include "sim/simulator.h"
#include "sim/step_log.h"
#include "traces/byte_source.h"
#include "traces/line_reader.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

using Json = nlohmann::json;

absl::Status Unsupported(const std::string& field, const Json& value,
                         absl::string_view accepted) {
  return absl::InvalidArgumentError(
      absl::StrCat("settings field `", field, "`: found ", value.dump(),
                   "; accepted: ", std::string(accepted)));
}

absl::Status ReadNumber(const Json& settings, const char* field, int64_t* to) {
  const auto it = settings.find(field);
  if (it == settings.end()) return absl::OkStatus();
  if (!it->is_number_integer()) return Unsupported(field, *it, "an integer");
  *to = it->get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadBool(const Json& settings, const char* field, bool* to) {
  const auto it = settings.find(field);
  if (it == settings.end()) return absl::OkStatus();
  if (!it->is_boolean()) return Unsupported(field, *it, "true or false");
  *to = it->get<bool>();
  return absl::OkStatus();
}

// One of two words; *second tells which.
absl::Status ReadChoice(const Json& settings, const char* field,
                        const std::string& first, const std::string& second,
                        bool* is_second) {
  const auto it = settings.find(field);
  if (it == settings.end()) return absl::OkStatus();
  if (*it != first && *it != second) {
    return Unsupported(field, *it, absl::StrCat(first, " or ", second));
  }
  *is_second = *it == second;
  return absl::OkStatus();
}

absl::Status ReadGroup(const Json& json, const vllm::Settings& e,
                       vllm::CacheGroup* group, int64_t* count) {
  const std::string type = json.value("type", "");
  group->block_tokens = e.block_size;
  if (type == "full") {
    group->kind = vllm::GroupKind::kFull;
  } else if (type == "swa") {
    group->kind = vllm::GroupKind::kSlidingWindow;
  } else if (type == "chunked") {
    group->kind = vllm::GroupKind::kChunkedLocal;
  } else if (type == "mamba") {
    group->kind = vllm::GroupKind::kRecurrent;
  } else {
    return Unsupported("groups", json, "type full, swa, chunked or mamba");
  }
  if (type == "mamba" && !e.enable_prefix_caching) {
    group->state_mode = StateMode::kNone;
    group->block_tokens = e.max_model_len;
  }
  for (const absl::Status& status :
       {ReadNumber(json, "block_size", &group->block_tokens),
        ReadNumber(json, "window", &group->window),
        ReadNumber(json, "chunk", &group->chunk),
        ReadNumber(json, "count", count)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Groups as the recorder lists them; null stands for one full group.
absl::Status ReadGroups(const Json& settings, vllm::Settings* e) {
  const auto groups = settings.find("groups");
  if (groups == settings.end() || groups->is_null()) return absl::OkStatus();
  if (!groups->is_array() || groups->empty()) {
    return Unsupported("groups", *groups, "null or a list of groups");
  }
  for (const Json& json : *groups) {
    vllm::CacheGroup group;
    int64_t count = 1;
    const absl::Status status = ReadGroup(json, *e, &group, &count);
    if (!status.ok()) return status;
    if (count < 1 || count > 256) {
      return Unsupported("groups", json, "a count from 1 to 256");
    }
    e->groups.insert(e->groups.end(), static_cast<size_t>(count), group);
  }
  return absl::OkStatus();
}

absl::Status ReadOptional(const Json& settings, const char* field,
                          std::optional<int64_t>* to) {
  const auto it = settings.find(field);
  if (it == settings.end()) return absl::OkStatus();
  to->reset();
  if (it->is_null()) return absl::OkStatus();
  return ReadNumber(settings, field, &to->emplace());
}

}  // namespace

absl::StatusOr<RunSettings> ParseRunSettings(const Json& settings) {
  RunSettings out;
  vllm::Settings& e = out.engine;
  bool priority = false, ngram = false;
  absl::Status statuses[] = {
      ReadNumber(settings, "block_size", &e.block_size),
      ReadNumber(settings, "num_gpu_blocks", &e.num_gpu_blocks),
      ReadNumber(settings, "max_num_seqs", &e.max_num_seqs),
      ReadNumber(settings, "max_num_batched_tokens", &e.max_num_batched_tokens),
      ReadNumber(settings, "max_model_len", &e.max_model_len),
      ReadNumber(settings, "long_prefill_token_threshold",
                 &e.long_prefill_token_threshold),
      ReadNumber(settings, "spec_k", &e.num_speculative_tokens),
      ReadNumber(settings, "step_us", &out.step_us),
      ReadOptional(settings, "retention_interval", &e.retention_interval),
      ReadOptional(settings, "prefix_match_unit", &e.prefix_match_unit),
      ReadBool(settings, "enable_caching", &e.enable_prefix_caching),
      ReadBool(settings, "enable_chunked_prefill", &e.enable_chunked_prefill),
      ReadBool(settings, "async_scheduling", &e.async_scheduling),
      ReadBool(settings, "reserve_full_isl", &e.reserve_full_sequence),
      ReadChoice(settings, "policy", "fcfs", "priority", &priority),
      ReadChoice(settings, "spec_method", "eagle", "ngram", &ngram),
      ReadChoice(settings, "arrival", "time", "all", &out.all_at_once),
      ReadChoice(settings, "partial_tail", "unique", "hash",
                 &out.partial_tail_hash),
  };
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  if (priority) e.policy = vllm::SchedulingPolicy::kPriority;
  if (ngram) e.speculative_method = vllm::SpeculativeMethod::kNgram;
  const auto watermark = settings.find("watermark");
  if (watermark != settings.end()) {
    if (!watermark->is_number()) {
      return Unsupported("watermark", *watermark, "a number");
    }
    e.watermark = watermark->get<double>();
  }
  const absl::Status groups = ReadGroups(settings, &e);
  if (!groups.ok()) return groups;
  const absl::StatusOr<vllm::Settings> valid = e.Normalized();
  if (!valid.ok()) return valid.status();
  return out;
}

namespace {

// Every row arrives at time 0.
class AllAtOnce final : public TraceReader {
 public:
  explicit AllAtOnce(std::unique_ptr<TraceReader> trace)
      : trace_(std::move(trace)) {}
  absl::StatusOr<bool> Next(TraceRequest* row) override {
    absl::StatusOr<bool> more = trace_->Next(row);
    row->arrival_ns = 0;
    return more;
  }
  std::span<const TraceProblem> problems() const override {
    return trace_->problems();
  }
  bool can_continue() const override { return trace_->can_continue(); }
  TraceFormat format() const override { return trace_->format(); }
  bool has_sessions() const override { return trace_->has_sessions(); }

 private:
  std::unique_ptr<TraceReader> trace_;
};

// Reads the record line by line and holds it against what the replay wrote.
class Comparer {
 public:
  explicit Comparer(LineReader* record) : record_(record) {}

  absl::StatusOr<bool> Next() {
    absl::string_view line;
    absl::StatusOr<bool> more = record_->Next(&line);
    if (!more.ok() || !*more) {
      done_ = true;
      return more;
    }
    expected_ = StepLog::Json::parse(line.begin(), line.end(), nullptr, false);
    if (!expected_.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(
          record_->path(), ":", record_->line_number(), ": not a JSON object"));
    }
    return true;
  }
  const StepLog::Json& expected() const { return expected_; }

  // Takes one line of the replay. A record that keeps only some steps is held
  // against those; its summary counts all.
  void Take(const StepLog::Json& line, const Engine& engine) {
    if (differs() || !status_.ok()) return;
    if (done_) return Differ("type", line, engine);
    const bool is_step = line["type"] == "step";
    if (is_step && (expected_.value("type", "") != "step" ||
                    line["step"] < expected_["step"])) {
      return;
    }
    for (const auto& [field, value] : expected_.items()) {
      if (!line.contains(field) || Json(line[field]) != Json(value)) {
        return Differ(field, line, engine);
      }
    }
    if (is_step) ++steps_;
    const absl::StatusOr<bool> more = Next();
    if (!more.ok()) status_ = more.status();
  }

  bool differs() const { return !difference_.empty(); }
  bool done() const { return done_; }
  int64_t steps() const { return steps_; }
  const std::string& difference() const { return difference_; }
  const absl::Status& status() const { return status_; }

 private:
  void Differ(const std::string& field, const StepLog::Json& line,
              const Engine& engine) {
    const auto text = [&field](const StepLog::Json& j) {
      return j.contains(field) ? j[field].dump() : std::string("(absent)");
    };
    difference_ = absl::StrCat(
        "step ", line.value("step", int64_t{-1}), " field ", field,
        "\n  recorded value: ", done_ ? "(no line left)" : text(expected_),
        "\n  replayed value: ", text(line),
        "\n  recorded line: ", done_ ? "(no line left)" : expected_.dump(),
        "\n  replayed line: ", line.dump(), State(line, engine));
  }

  // The replay's free queue and the tables of the requests in either line.
  std::string State(const StepLog::Json& line, const Engine& engine) const {
    const AllocatorState state = engine.Inspect();
    std::string out = "\n  replayed free queue:";
    AppendIds(state.free_queue, 20, &out);
    std::set<RequestId> ids;
    for (const StepLog::Json* side : {&expected_, &line}) {
      for (const char* field : {"new", "resumed", "sched"}) {
        const auto list = side->find(field);
        if (list == side->end()) continue;
        for (const auto& item : *list) ids.insert(item[0].get<RequestId>());
      }
    }
    for (const AllocatorState::Tables& tables : state.running) {
      if (!ids.empty() && !ids.contains(tables.id)) continue;
      for (const std::vector<BlockId>& table : tables.groups) {
        absl::StrAppend(&out, "\n  replayed table of request ", tables.id, ":");
        AppendIds(table, 64, &out);
      }
    }
    return out;
  }

  static void AppendIds(const std::vector<BlockId>& ids, size_t most,
                        std::string* out) {
    for (size_t i = 0; i < ids.size() && i < most; ++i) {
      absl::StrAppend(out, " ", ids[i]);
    }
    if (ids.size() > most) {
      absl::StrAppend(out, " … (", ids.size(), " in all)");
    }
  }

  LineReader* const record_;
  StepLog::Json expected_;
  bool done_ = false;
  int64_t steps_ = 0;
  std::string difference_;
  absl::Status status_;
};

absl::StatusOr<std::unique_ptr<TraceReader>> OpenRunTrace(
    const std::string& path, const RunSettings& settings,
    std::optional<int64_t> limit) {
  TraceOptions options;
  options.format = TraceFormat::kMooncake;
  options.limit = limit;
  absl::StatusOr<std::unique_ptr<TraceReader>> trace = OpenTrace(path, options);
  if (!trace.ok() || !settings.all_at_once) return trace;
  return std::make_unique<AllAtOnce>(std::move(*trace));
}

absl::StatusOr<std::unique_ptr<LineReader>> OpenLines(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  return std::make_unique<LineReader>(std::move(*source));
}

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(
    const vllm::Settings& settings, const EngineMaker& make) {
  if (make) return make(settings);
  auto engine = vllm::VllmEngine::Create(settings);
  if (!engine.ok()) return engine.status();
  return *std::move(engine);
}

absl::StatusOr<SimulatorOptions> LoopOptions(const RunSettings& settings) {
  const absl::StatusOr<vllm::Settings> whole = settings.engine.Normalized();
  if (!whole.ok()) return whole.status();
  vllm::CacheUnits units;
  const absl::Status status =
      vllm::ComputeUnits(whole->groups, whole->prefix_match_unit, &units);
  if (!status.ok()) return status;
  SimulatorOptions loop;
  loop.block_tokens = units.hash_tokens;
  loop.max_model_len = settings.engine.max_model_len;
  loop.asynchronous = settings.engine.async_scheduling;
  loop.num_speculative_tokens = settings.engine.num_speculative_tokens;
  if (settings.partial_tail_hash) {
    loop.tokens.partial_tail = PartialTail::kShared;
  }
  return loop;
}

}  // namespace

absl::StatusOr<RunComparison> CompareRun(const Json& settings_json,
                                         const std::string& trace_path,
                                         const std::string& run_path,
                                         std::optional<int64_t> limit,
                                         const EngineMaker& make) {
  const absl::StatusOr<RunSettings> settings = ParseRunSettings(settings_json);
  if (!settings.ok()) return settings.status();
  absl::StatusOr<std::unique_ptr<TraceReader>> trace =
      OpenRunTrace(trace_path, *settings, limit);
  if (!trace.ok()) return trace.status();
  absl::StatusOr<std::unique_ptr<LineReader>> lines = OpenLines(run_path);
  if (!lines.ok()) return lines.status();
  Comparer comparer(lines->get());
  for (int line = 0; line < 2; ++line) {  // the settings, the first step
    const absl::StatusOr<bool> more = comparer.Next();
    if (!more.ok()) return more.status();
    if (!*more) {
      return absl::InvalidArgumentError(
          absl::StrCat(run_path, ": ends before the first step"));
    }
  }

  auto engine = MakeEngine(settings->engine, make);
  if (!engine.ok()) return engine.status();
  const absl::StatusOr<SimulatorOptions> loop = LoopOptions(*settings);
  if (!loop.ok()) return loop.status();
  FixedCost cost(settings->step_us * 1000);
  Simulator simulator(engine->get(), &cost, *loop);
  StepLogOptions log_options;
  log_options.detail = comparer.expected().contains("sched");
  log_options.check_sums = comparer.expected().contains("crc");
  log_options.cache_stats = settings->engine.enable_prefix_caching;
  bool stop = false;
  StepLog log(log_options, [&](const StepLog::Json& line) {
    comparer.Take(line, **engine);
    stop = comparer.differs() || !comparer.status().ok();
  });
  simulator.AddObserver(&log);
  const absl::Status run = simulator.Run(trace->get(), &stop);
  if (!run.ok()) return run;
  if (!stop) log.Finish(**engine, simulator.now_ns());
  if (!comparer.status().ok()) return comparer.status();

  RunComparison result;
  result.steps = comparer.steps();
  result.difference = comparer.difference();
  if (result.difference.empty() && !comparer.done()) {
    result.difference =
        absl::StrCat("the record goes on: ", comparer.expected().dump());
  }
  result.equal = result.difference.empty();
  return result;
}

}  // namespace kvsim
