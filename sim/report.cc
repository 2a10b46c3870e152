#include "sim/report.h"

#include "base/check.h"
#include "sim/largest_waste.h"

namespace kvsim {
namespace {

double Share(int64_t part, int64_t whole) {
  if (whole == 0) return 0;
  return static_cast<double>(part) / static_cast<double>(whole);
}

void FillTimes(const Distribution& d, Times* times) {
  times->set_count(d.count);
  times->set_mean_ns(d.mean_ns);
  times->set_p50_ns(d.p50_ns);
  times->set_p90_ns(d.p90_ns);
  times->set_p99_ns(d.p99_ns);
  times->set_max_ns(d.max_ns);
}

void FillLine(const char* account, int64_t bytes, int64_t pool_bytes,
              LedgerLine* line) {
  line->set_account(account);
  line->set_bytes(bytes);
  line->set_share(Share(bytes, pool_bytes));
}

using LedgerLines = google::protobuf::RepeatedPtrField<LedgerLine>;

void FillLedger(const LedgerSnapshot& ledger, LedgerLines* accounts,
                LedgerLines* of_which) {
  for (size_t i = 0; i < kNumAccounts; ++i) {
    const auto account = static_cast<Account>(i);
    FillLine(AccountName(account), ledger[account], ledger.pool_bytes,
             accounts->Add());
  }
  for (size_t i = 0; i < kNumOfWhich; ++i) {
    const auto figure = static_cast<OfWhich>(i);
    FillLine(OfWhichName(figure), ledger[figure], ledger.pool_bytes,
             of_which->Add());
  }
}

// Accounts that a group can have: idle and what is held.
void FillGroupLines(const LedgerSnapshot& ledger, int64_t pool_bytes,
                    LedgerLines* lines) {
  for (size_t i = static_cast<size_t>(Account::kIdle); i < kNumAccounts; ++i) {
    const auto account = static_cast<Account>(i);
    FillLine(AccountName(account), ledger[account], pool_bytes, lines->Add());
  }
}

void AddLimit(const char* name, int64_t time_ns, int64_t steps,
              int64_t duration_ns, Report* report) {
  LimitLine* line = report->add_limits();
  line->set_limit(name);
  line->set_time_ns(time_ns);
  line->set_steps(steps);
  line->set_share(Share(time_ns, duration_ns));
}

double PerSecond(int64_t count, int64_t duration_ns) {
  return Share(count, duration_ns) * 1e9;
}

}  // namespace

void FillRequests(const RequestSummary& summary, Report* report) {
  report->set_requests(summary.requests);
  report->set_finished(summary.finished);
  report->set_never_fit(summary.NeverFit());
  report->set_too_long(summary.too_long);
  report->set_larger_than_pool(summary.aborted);
  report->set_unfinished(summary.requests - summary.finished -
                         summary.NeverFit());
  report->set_scheduled_requests(summary.scheduled_requests);
  report->set_scheduled_tokens(summary.scheduled_tokens);
  report->set_draft_tokens(summary.draft_tokens);
  report->set_prompt_tokens(summary.prompt_tokens);
  report->set_output_tokens(summary.output_tokens);
  report->set_hit_tokens(summary.hit_tokens);
  report->set_resume_hit_tokens(summary.resume_hit_tokens);
  report->set_hit_rate(Share(summary.hit_tokens, summary.prompt_tokens));
  report->set_preemptions(summary.preemptions);
  report->set_requests_preempted(summary.requests_preempted);
  report->set_recomputed_tokens(summary.recomputed_tokens);
  FillTimes(summary.waiting, report->mutable_waiting());
  FillTimes(summary.ttft, report->mutable_ttft());
  FillTimes(summary.tpot, report->mutable_tpot());
  FillTimes(summary.e2e, report->mutable_e2e());
}

void FillPool(const PoolSummary& summary, Report* report) {
  report->set_steps(summary.steps);
  report->set_start_ns(summary.start_ns);
  report->set_end_ns(summary.end_ns);
  report->set_idle_ns(summary.idle_ns);
  report->set_peak_running(summary.peak_running);
  report->set_peak_running_at_ns(summary.peak_running_ns);
  report->set_mean_running(summary.mean_running);
  report->set_peak_waiting(summary.peak_waiting);
  report->set_mean_waiting(summary.mean_waiting);
  report->set_allocations(summary.allocations);
  report->set_evictions(summary.evictions);
  report->set_evicted_keys(summary.evicted_keys);
  report->set_cached_keys(summary.cached_keys);
  report->set_min_free_blocks(summary.min_free_blocks);
  const int64_t duration_ns = summary.DurationNs();
  for (int i = 0; i < kNumAdmissionLimits; ++i) {
    const auto at = static_cast<size_t>(i);
    AddLimit(AdmissionLimitName(static_cast<AdmissionLimit>(i)),
             summary.limit_ns[at], summary.limit_steps[at], duration_ns,
             report);
  }
  AddLimit("idle", summary.idle_ns, 0, duration_ns, report);
  report->set_pool_bytes(summary.ledger_mean.pool_bytes);
  FillLedger(summary.ledger_peak, report->mutable_ledger_peak(),
             report->mutable_of_which_peak());
  FillLedger(summary.ledger_mean, report->mutable_ledger_mean(),
             report->mutable_of_which_mean());
  report->set_ledger_peak_at_ns(summary.ledger_peak_ns);
  report->set_ledger_peak_running(summary.ledger_peak_running);
}

void FillGroups(const PoolSummary& summary,
                const std::vector<GroupFacts>& facts, Report* report) {
  KVSIM_CHECK(facts.size() >= summary.groups.size());
  for (size_t g = 0; g < summary.groups.size(); ++g) {
    const LedgerPair& ledgers = summary.groups[g];
    GroupLedger* group = report->add_groups();
    group->set_kind(facts[g].kind);
    group->set_layers(facts[g].layers);
    group->set_block_tokens(facts[g].block_tokens);
    group->set_tokens(facts[g].tokens);
    group->set_state_mode(facts[g].state_mode);
    group->set_held_peak(HeldBytes(ledgers.peak));
    group->set_held_mean(HeldBytes(ledgers.mean));
    FillGroupLines(ledgers.peak, report->pool_bytes(), group->mutable_peak());
    FillGroupLines(ledgers.mean, report->pool_bytes(), group->mutable_mean());
  }
  FillLargestWaste(facts.empty() ? "" : facts[0].kind, report);
}

void FillSequences(const PoolSummary& summary, const Sequences& sequences,
                   int64_t bytes_per_block, Report* report) {
  SequencesOfRows* filled = report->mutable_sequences();
  filled->set_kind(sequences.kind == Sequences::Kind::kBeams ? "beams"
                                                             : "samples");
  filled->set_sharing(
      sequences.kind == Sequences::Kind::kSeparateSamples ? "prefix" : "fork");
  filled->set_width(sequences.width);
  filled->set_forks(summary.forks);
  filled->set_forks_waited(summary.forks_waited);
  filled->set_dropped(summary.dropped);
  filled->set_forked_blocks(summary.forked_blocks);
  filled->set_fork_copies(summary.fork_copies);
  filled->set_fork_copy_bytes(summary.fork_copies * bytes_per_block);
  filled->set_shared_peak(summary.shared_peak);
  filled->set_shared_mean(summary.ledger_mean[OfWhich::kSharedRows]);
  filled->set_saved_peak(summary.saved_peak);
  filled->set_saved_mean(summary.ledger_mean[OfWhich::kSharingSaved]);
}

void FillCheckpoints(const PoolSummary& summary, const StateFacts& facts,
                     Report* report) {
  KVSIM_CHECK(facts.groups > 0);
  Checkpoints* checkpoints = report->mutable_checkpoints();
  checkpoints->set_policy(facts.policy);
  checkpoints->set_stored(summary.checkpoints / facts.groups);
  checkpoints->set_bytes_each(facts.bytes_each);
  checkpoints->set_mean_bytes(CheckpointBytes(summary.ledger_mean));
  checkpoints->set_peak_bytes(summary.checkpoint_peak);
  checkpoints->set_live_mean_bytes(summary.ledger_mean[Account::kStateCurrent]);
}

void FillGoodput(const RequestSummary& summary, const std::string& slo,
                 Report* report) {
  const int64_t duration_ns = report->end_ns() - report->start_ns();
  Goodput* goodput = report->mutable_goodput();
  goodput->set_slo(slo);
  goodput->set_requests(summary.slo_requests);
  goodput->set_share(Share(summary.slo_requests, summary.requests));
  goodput->set_requests_per_s(PerSecond(summary.slo_requests, duration_ns));
  goodput->set_output_tokens_per_s(
      PerSecond(summary.slo_output_tokens, duration_ns));
}

void FillCost(int64_t gpus, double price_per_gpu_hour, Report* report) {
  constexpr double kNsPerHour = 3.6e12;
  Cost* cost = report->mutable_cost();
  cost->set_gpus(gpus);
  cost->set_gpu_hours(
      static_cast<double>(report->end_ns() - report->start_ns()) / kNsPerHour *
      static_cast<double>(gpus));
  cost->set_price_per_gpu_hour(price_per_gpu_hour);
  const double money = cost->gpu_hours() * price_per_gpu_hour;
  cost->set_money(money);
  const auto per_million = [money](int64_t tokens) {
    return tokens == 0 ? 0 : money / static_cast<double>(tokens) * 1e6;
  };
  cost->set_money_per_million_tokens(
      per_million(report->prompt_tokens() + report->output_tokens()));
  cost->set_money_per_million_output_tokens(
      per_million(report->output_tokens()));
}

void FillWithoutPrefixCaching(const Report& without, Report* report) {
  WithoutPrefixCaching* filled = report->mutable_without_prefix_caching();
  filled->set_duration_ns(without.end_ns() - without.start_ns());
  filled->set_scheduled_tokens(without.scheduled_tokens());
  filled->set_mean_running(without.mean_running());
  filled->set_preemptions(without.preemptions());
  filled->set_never_fit(without.never_fit());
  *filled->mutable_ttft() = without.ttft();
  if (without.has_cost()) *filled->mutable_cost() = without.cost();
}

void AddContiguous(const ContiguousSummary& summary, Report* report) {
  ContiguousBaseline* baseline = report->add_contiguous();
  baseline->set_reservation(ReservationName(summary.reservation));
  baseline->set_finished(summary.finished);
  baseline->set_never_fit(summary.never_fit);
  baseline->set_duration_ns(summary.duration_ns);
  baseline->set_peak_running(summary.peak_running);
  baseline->set_mean_running(summary.mean_running);
  baseline->set_used(summary.used);
  baseline->set_reserved_for_later(summary.later);
  baseline->set_internal_fragmentation(summary.never_used);
  baseline->set_free(summary.free);
  baseline->set_external_fragmentation(summary.external);
}

void FillStepTimes(const RooflineFit& fit, Report* report) {
  StepTimes* const times = report->mutable_step_times();
  times->set_model("roofline");
  times->set_engine(fit.engine);
  times->set_loads(fit.loads);
  times->set_median_error(fit.left_out.median);
  times->set_p90_error(fit.left_out.p90);
  times->set_note(DescribeError(fit));
}

void FillHits(const HitResult& result, HitReport* report) {
  report->set_requests(result.rows);
  report->set_references(result.references);
  report->set_evictions(result.evictions);
  report->set_measured_requests(result.measured_rows);
  report->set_measured_tokens(result.measured_tokens);
  report->set_measured_references(result.measured_references);
  report->set_hit_blocks(result.hit_blocks);
  report->set_hit_tokens(result.hit_tokens);
  report->set_hit_requests(result.hit_rows);
  report->set_hit_rate(Share(result.hit_tokens, result.measured_tokens));
}

void AddSwitch(const std::string& name, const std::string& value,
               Manifest* manifest) {
  Switch* added = manifest->add_switches();
  added->set_name(name);
  added->set_value(value);
}

}  // namespace kvsim
