#include "tools/replay_run.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engines/contiguous/contiguous_engine.h"
#include "engines/vllm/engine.h"
#include "sim/contiguous_baseline.h"
#include "sim/paging_report.h"
#include "sim/pool_metrics.h"
#include "sim/preemption_metrics.h"
#include "sim/preemption_report.h"
#include "sim/request_metrics.h"
#include "sim/simulator.h"
#include "tools/flag_reader.h"
#include "tools/group_spec.h"
#include "tools/paged_groups.h"
#include "tools/replay_cost.h"
#include "tools/replay_outputs.h"
#include "tools/replay_paging.h"
#include "tools/replay_sequences.h"
#include "tools/replay_setup.h"
#include "tools/replay_tokens.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

// What a run needs besides the engine, read from the flags.
struct RunPlan {
  ReplaySetup setup;
  std::unique_ptr<CostModel> cost;
  const PagedCost* paged_cost = nullptr;      // `cost`, with --cost
  std::unique_ptr<ReplayPaging> paging;       // with --backend
  const RooflineFit* roofline_fit = nullptr;  // what `cost` was fitted to
  ReplayTraceOptions trace;
  Sequences sequences;
  Slo slo;
  std::optional<double> gpu_hour_price;
  std::unique_ptr<ReplayOutputs> outputs;
};

constexpr char kContiguous[] = "contiguous";
constexpr char kNoPrefixCaching[] = "no-prefix-caching";
constexpr char kRecompute[] = "recompute";
constexpr char kSwap[] = "swap";

absl::StatusOr<double> ParsePrice(absl::string_view text) {
  double price;
  if (!absl::SimpleAtod(text, &price) || !(price >= 0 && price <= 1e6)) {
    return absl::InvalidArgumentError("accepted: 0 to 1000000, such as 2.50");
  }
  return price;
}

const char* ModeName(vllm::PreemptionMode mode) {
  return mode == vllm::PreemptionMode::kSwap ? kSwap : kRecompute;
}

bool IsPreemptionMode(const std::string& baseline) {
  return baseline == kRecompute || baseline == kSwap;
}

// Whether all of a request could be one range of rows.
bool OneRange(const vllm::Settings& settings) {
  return settings.groups.size() == 1 &&
         settings.groups[0].kind == vllm::GroupKind::kFull;
}

absl::StatusOr<RunPlan> PlanRun(const ReplayFlags& flags) {
  RunPlan plan;
  absl::StatusOr<ReplaySetup> setup = SetUpReplay(flags);
  if (!setup.ok()) return setup.status();
  plan.setup = *std::move(setup);
  absl::StatusOr<std::unique_ptr<CostModel>> cost =
      MakeCostModel(flags, plan.setup);
  if (!cost.ok()) return cost.status();
  plan.cost = *std::move(cost);
  absl::StatusOr<std::optional<CostTable>> table =
      CostTableOf(flags.cost, plan.setup.bytes_known);
  if (!table.ok()) return table.status();
  if (table->has_value()) {
    auto paged = std::make_unique<PagedCost>(
        std::move(plan.cost), **std::move(table),
        PagedGroupsOf(plan.setup.settings, plan.setup.group_layers,
                      plan.setup.bytes_known));
    plan.paged_cost = paged.get();
    plan.cost = std::move(paged);
  }
  absl::StatusOr<std::unique_ptr<ReplayPaging>> paging =
      ReplayPaging::Make(flags, plan.setup);
  if (!paging.ok()) return paging.status();
  plan.paging = *std::move(paging);
  const absl::StatusOr<const RooflineFit*> fit = RooflineFitOf(flags);
  if (!fit.ok()) return fit.status();
  plan.roofline_fit = *fit;
  absl::StatusOr<ReplayTraceOptions> trace = TraceOptionsOf(flags);
  if (!trace.ok()) return trace.status();
  plan.trace = *std::move(trace);
  const absl::StatusOr<Sequences> sequences = SequencesOf(flags);
  if (!sequences.ok()) return sequences.status();
  plan.sequences = *sequences;
  FlagReader reader;
  reader.Read("--slo", flags.slo, ParseSlo, &plan.slo);
  reader.Read("--gpu-hour-price", flags.gpu_hour_price, ParsePrice,
              &plan.gpu_hour_price);
  if (!flags.baseline.empty() && flags.baseline != kContiguous &&
      flags.baseline != kNoPrefixCaching && !IsPreemptionMode(flags.baseline)) {
    reader.Refuse("--baseline", flags.baseline,
                  "accepted: contiguous, no-prefix-caching, recompute, swap");
  }
  const std::string mode = ModeName(plan.setup.settings.preemption_mode);
  if (flags.baseline == mode) {
    reader.Refuse("--baseline", flags.baseline,
                  absl::StrCat("is this run's --preemption-mode; accepted: ",
                               mode == kSwap ? kRecompute : kSwap));
  }
  if (flags.baseline == kContiguous && !OneRange(plan.setup.settings)) {
    reader.Refuse("--baseline", flags.baseline,
                  "reserves one range of equal rows: accepted for models with "
                  "one group of full attention");
  }
  if (!reader.status().ok()) return reader.status();
  absl::StatusOr<std::unique_ptr<ReplayOutputs>> outputs =
      ReplayOutputs::Open(flags, plan.setup.settings);
  if (!outputs.ok()) return outputs.status();
  plan.outputs = *std::move(outputs);
  return plan;
}

SimulatorOptions OptionsOf(const RunPlan& plan, const TraceReader& reader) {
  const vllm::Settings& settings = plan.setup.settings;
  SimulatorOptions options;
  options.block_tokens = settings.HashTokens();
  options.max_model_len = settings.max_model_len;
  options.asynchronous = settings.async_scheduling;
  options.num_speculative_tokens = settings.num_speculative_tokens;
  options.host_link = plan.setup.host_link;
  options.arrivals = ArrivalsOf(plan.trace, reader);
  options.tokens = TokenOptionsOf(plan.trace);
  options.sequences = plan.sequences;
  return options;
}

std::string Decimal(double value) { return absl::StrCat(value); }
std::string OnOff(bool value) { return value ? "on" : "off"; }

void AddSwitches(const ReplayFlags& flags, const vllm::Settings& s,
                 const SimulatorOptions& options, const RooflineFit* fit,
                 Manifest* manifest) {
  const std::string swap_space =
      flags.swap_space.empty() ? "4GiB" : flags.swap_space;
  const std::pair<const char*, std::string> switches[] = {
      {"model", flags.model},
      {"num-gpu-blocks", absl::StrCat(s.num_gpu_blocks)},
      {"block-size", absl::StrCat(s.block_size)},
      {"max-num-seqs", absl::StrCat(s.max_num_seqs)},
      {"max-num-batched-tokens", absl::StrCat(s.max_num_batched_tokens)},
      {"max-model-len", absl::StrCat(s.max_model_len)},
      {"scheduling-policy",
       s.policy == vllm::SchedulingPolicy::kFcfs ? "fcfs" : "priority"},
      {"enable-prefix-caching", OnOff(s.enable_prefix_caching)},
      {"enable-chunked-prefill", OnOff(s.enable_chunked_prefill)},
      {"async-scheduling", OnOff(s.async_scheduling)},
      {"scheduler-reserve-full-isl", OnOff(s.reserve_full_sequence)},
      {"watermark", Decimal(s.watermark)},
      {"groups", GroupsInWords(s.groups)},
      {"retention-interval", s.retention_interval.has_value()
                                 ? absl::StrCat(*s.retention_interval)
                                 : "dense"},
      {"checkpoint-policy",
       s.checkpoints.has_value() ? s.checkpoints->InWords() : "engine"},
      {"mamba-ssm-cache-dtype", flags.state_dtype},
      {"prefix-match-unit", s.prefix_match_unit.has_value()
                                ? absl::StrCat(*s.prefix_match_unit)
                                : ""},
      {"engine-version", flags.engine_version},
      {"preemption-mode", ModeName(s.preemption_mode)},
      {"swap-space", AsksForSwaps(flags) ? swap_space : ""},
      {"swap-bandwidth", flags.swap_bandwidth},
      {"long-prefill-token-threshold",
       absl::StrCat(s.long_prefill_token_threshold)},
      {"num-speculative-tokens", absl::StrCat(s.num_speculative_tokens)},
      {"speculative-method", s.num_speculative_tokens == 0 ? "none"
                             : flags.speculative_method.empty()
                                 ? "eagle"
                                 : flags.speculative_method},
      {"timing", flags.timing.empty() ? "steps" : flags.timing},
      {"step-us", flags.step_us},
      {"linear-us", flags.linear_us},
      {"step-times", flags.step_times},
      {"roofline-engine", fit == nullptr ? "" : fit->engine},
      {"cost", flags.cost},
      {"backend", flags.backend},
      {"backend-pool", flags.backend_pool},
      {"gpu", flags.gpu},
      {"arrivals", ArrivalsName(options.arrivals)},
      {"rate-scale", flags.rate_scale.empty() ? "1" : flags.rate_scale},
      {"limit", flags.limit.empty() ? "none" : flags.limit},
      {"partial-tail", PartialTailName(options.tokens.partial_tail)},
      {"continue-sessions", OnOff(options.tokens.continue_sessions)},
      {"samples", flags.samples},
      {"beam-width", flags.beam_width},
      {"sharing", flags.sharing},
  };
  for (const auto& [name, value] : switches) {
    if (!value.empty()) AddSwitch(name, value, manifest);
  }
}

// --- the baseline ----------------------------------------------------------------

absl::Status AddBaseline(const ReplayFlags& flags, const RunPlan& plan,
                         SimulatorOptions options, const bool* stop,
                         Report* report) {
  const vllm::Settings& s = plan.setup.settings;
  options.asynchronous = false;
  options.num_speculative_tokens = 0;
  for (const Reservation reservation : kReservations) {
    ContiguousSettings settings;
    settings.reservation = reservation;
    settings.capacity_tokens = (s.num_gpu_blocks - 1) * s.block_size;
    settings.row_bytes = s.groups[0].geometry.row_bytes;
    settings.max_num_seqs = s.max_num_seqs;
    settings.max_num_batched_tokens = s.max_num_batched_tokens;
    settings.max_model_len = s.max_model_len;
    const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
        OpenTrace(flags.trace, plan.trace.options);
    if (!reader.ok()) return reader.status();
    const absl::StatusOr<std::unique_ptr<CostModel>> cost =
        MakeCostModel(flags, plan.setup);
    if (!cost.ok()) return cost.status();
    const absl::StatusOr<ContiguousSummary> summary =
        RunContiguous(settings, options, cost->get(), reader->get(), stop);
    if (!summary.ok()) return summary.status();
    AddContiguous(*summary, report);
  }
  return absl::OkStatus();
}

// --- the run ---------------------------------------------------------------------

void FillEngine(const RunPlan& plan, Report* report) {
  const vllm::Settings& settings = plan.setup.settings;
  report->mutable_manifest()->set_engine("vllm");
  report->set_num_blocks(settings.num_gpu_blocks);
  report->set_block_tokens(settings.block_size);
  report->set_bytes_per_block(settings.BlockBytes());
  report->set_ledger_unit(plan.setup.bytes_known ? "bytes" : "tokens");
  for (const std::string& warning : plan.setup.warnings) {
    report->add_warnings(warning);
  }
}

std::vector<GroupFacts> FactsOfGroups(const ReplaySetup& setup) {
  std::vector<GroupFacts> facts;
  for (const vllm::CacheGroup& group : setup.settings.groups) {
    GroupFacts& fact = facts.emplace_back();
    fact.kind = vllm::GroupKindName(group.kind);
    fact.block_tokens = group.block_tokens;
    fact.tokens = group.window + group.chunk + group.encoder_tokens;
    if (facts.size() <= setup.group_layers.size()) {
      fact.layers = setup.group_layers[facts.size() - 1];
    }
    if (group.kind == vllm::GroupKind::kRecurrent) {
      fact.state_mode = StateModeName(group.state_mode);
    }
  }
  return facts;
}

StateFacts FactsOfStates(const vllm::Settings& settings) {
  StateFacts facts;
  if (settings.checkpoints.has_value()) {
    facts.policy = settings.checkpoints->InWords();
  }
  for (const vllm::CacheGroup& group : settings.groups) {
    if (group.kind != vllm::GroupKind::kRecurrent) continue;
    ++facts.groups;
    facts.bytes_each += group.geometry.state_bytes;
  }
  return facts;
}

absl::Status RunEngine(const ReplayFlags& flags, RunPlan& plan,
                       TraceReader* reader, const SimulatorOptions& options,
                       RunListener* listener, StepObserver* observer,
                       CacheListener* cache_listener, Report* report) {
  absl::StatusOr<std::unique_ptr<vllm::VllmEngine>> engine =
      vllm::VllmEngine::Create(plan.setup.settings);
  if (!engine.ok()) return engine.status();
  (*engine)->SetCacheListener(cache_listener);
  Simulator simulator(engine->get(), plan.cost.get(), options);
  RequestMetrics requests(plan.slo, plan.sequences.width);
  PreemptionMetrics preemption(options.host_link, &requests);
  PoolMetrics pool;
  const bool* const stop = listener == nullptr ? nullptr : listener->stop();
  simulator.AddObserver(&requests);
  simulator.AddObserver(&preemption);  // behind `requests`
  simulator.AddObserver(&pool);
  if (listener != nullptr) simulator.AddObserver(listener);
  if (observer != nullptr) simulator.AddObserver(observer);
  plan.outputs->Observe(&simulator);
  if (plan.paging != nullptr) simulator.AddObserver(&plan.paging->stream());

  const auto start = std::chrono::steady_clock::now();
  absl::Status status = simulator.Run(reader, stop);
  report->set_wall_ns(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start)
          .count());
  status.Update(plan.outputs->Finish(**engine, simulator.now_ns()));
  if (plan.paging != nullptr) status.Update(plan.paging->stream().status());
  if (!status.ok()) return status;

  const RequestSummary summary = requests.Summary();
  FillRequests(summary, report);
  FillPool(pool.Summary(), report);
  if (report->steps() == 0) {
    report->set_pool_bytes((*engine)->Ledger().pool_bytes);
  }
  FillGroups(pool.Summary(), FactsOfGroups(plan.setup), report);
  const vllm::Settings& settings = plan.setup.settings;
  FillPreemption(preemption.Summary(), ModeName(settings.preemption_mode),
                 settings.host_blocks * options.host_link.block_bytes, report);
  if (plan.paged_cost != nullptr) {
    FillPagingCost(*plan.paged_cost, flags.cost, report);
  }
  if (plan.paging != nullptr) plan.paging->Fill(report);
  if (plan.sequences.width > 1) {
    FillSequences(pool.Summary(), plan.sequences, report->bytes_per_block(),
                  report);
  }
  const StateFacts states = FactsOfStates(settings);
  if (states.groups > 0) FillCheckpoints(pool.Summary(), states, report);
  if (plan.slo.Any()) FillGoodput(summary, flags.slo, report);
  if (options.tokens.continue_sessions) {
    report->add_warnings(
        absl::StrCat(simulator.tokens().continued_turns(), " turns repeat ",
                     simulator.tokens().continued_tokens(),
                     " tokens of the turn before (--continue-sessions)"));
  }
  if (plan.gpu_hour_price.has_value()) {
    FillCost(plan.setup.num_gpus, *plan.gpu_hour_price, report);
    if (flags.timing.empty() || flags.timing == "steps") {
      report->add_warnings(
          "--gpu-hour-price: every step takes the same time under --timing "
          "steps; money means more with --timing roofline, linear or recorded");
    }
  }
  if (flags.baseline == kContiguous && (stop == nullptr || !*stop)) {
    status = AddBaseline(flags, plan, options, stop, report);
  }
  report->set_interrupted(stop != nullptr && *stop);
  return status;
}

// --- the same trace again -----------------------------------------------------------

ReplayFlags Again(const ReplayFlags& flags) {
  ReplayFlags again = flags;
  again.backend = again.backend_pool = "";
  again.baseline = again.timeline = again.chrome_trace = again.step_log = "";
  again.step_log_detail = false;
  return again;
}

absl::Status CompareWithoutCaching(const ReplayFlags& flags,
                                   RunListener* listener, Report* report) {
  ReplayFlags off = Again(flags);
  off.no_prefix_caching = true;
  const absl::StatusOr<Report> without = RunReplay(off, listener);
  if (!without.ok()) return without.status();
  FillWithoutPrefixCaching(*without, report);
  report->set_interrupted(without->interrupted());
  return absl::OkStatus();
}

absl::Status ComparePreemption(const ReplayFlags& flags,
                               const ReplaySetup& setup, RunListener* listener,
                               Report* report) {
  ReplayFlags other = Again(flags);
  other.preemption_mode = flags.baseline;
  const absl::StatusOr<Report> run = RunReplay(other, listener);
  if (!run.ok()) return run.status();
  FillPreemptionComparison(*run, setup.host_link.bytes_per_second, report);
  report->set_interrupted(run->interrupted());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Report> RunReplay(const ReplayFlags& flags,
                                 RunListener* listener, StepObserver* observer,
                                 CacheListener* cache_listener) {
  absl::StatusOr<RunPlan> plan = PlanRun(flags);
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.trace, plan->trace.options);
  if (!reader.ok()) return reader.status();
  const SimulatorOptions options = OptionsOf(*plan, **reader);
  Report report;
  FillEngine(*plan, &report);
  report.mutable_manifest()->set_trace_format(
      TraceFormatName((*reader)->format()));
  AddSwitches(flags, plan->setup.settings, options, plan->roofline_fit,
              report.mutable_manifest());
  if (plan->roofline_fit != nullptr) {
    FillStepTimes(*plan->roofline_fit, &report);
  }
  const absl::Status status =
      RunEngine(flags, *plan, reader->get(), options, listener, observer,
                cache_listener, &report);
  if (!status.ok()) return status;
  if (report.interrupted()) return report;
  const absl::Status compared =
      flags.baseline == kNoPrefixCaching
          ? CompareWithoutCaching(flags, listener, &report)
      : IsPreemptionMode(flags.baseline)
          ? ComparePreemption(flags, plan->setup, listener, &report)
          : absl::OkStatus();
  if (!compared.ok()) return compared;
  return report;
}

}  // namespace kvsim
