#include "sim/step_log.h"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kvsim {
namespace {

using Json = StepLog::Json;

Json Pairs(const std::vector<AdmittedRequest>& admissions) {
  Json list = Json::array();
  for (const AdmittedRequest& a : admissions) {
    list.push_back({a.id, a.hit_tokens});
  }
  return list;
}

Json Swaps(const std::vector<SwappedRequest>& swaps) {
  Json list = Json::array();
  for (const SwappedRequest& swap : swaps) {
    list.push_back({swap.id, swap.num_tokens, swap.blocks.size()});
  }
  return list;
}

template <typename Ids>
Json List(const Ids& ids) {
  Json list = Json::array();
  for (const auto id : ids) list.push_back(id);
  return list;
}

// CRC-32 of 32-bit little-endian numbers, fed piece by piece.
class Crc {
 public:
  void Add(uint32_t value) {
    const unsigned char bytes[4] = {static_cast<unsigned char>(value),
                                    static_cast<unsigned char>(value >> 8),
                                    static_cast<unsigned char>(value >> 16),
                                    static_cast<unsigned char>(value >> 24)};
    crc_ = crc32(crc_, bytes, 4);
  }
  template <typename Values>
  Crc& AddAll(const Values& values) {
    for (const auto v : values) Add(static_cast<uint32_t>(v));
    return *this;
  }
  uint64_t value() const { return crc_; }

 private:
  uLong crc_ = crc32(0, nullptr, 0);
};

Json CheckSums(const AllocatorState& state) {
  Crc tables;
  for (const AllocatorState::Tables& request : state.running) {
    for (const std::vector<BlockId>& table : request.groups) {
      tables.Add(static_cast<uint32_t>(table.size()));
      tables.AddAll(table);
    }
  }
  return {Crc().AddAll(state.free_queue).value(),
          Crc().AddAll(state.ref_counts).value(),
          Crc().AddAll(state.keyed).value(), tables.value()};
}

}  // namespace

StepLog::StepLog(const StepLogOptions& options, Sink sink)
    : options_(options), sink_(std::move(sink)) {}

void StepLog::OnArrival(const ArrivalRecord& arrival) {
  if (!arrival.queued) {
    rejected_.push_back(arrival.id);
    return;
  }
  RequestLine& line = requests_[arrival.id];
  line.arrive = steps_;
  line.prompt = arrival.row->input_length;
}

void StepLog::OnSchedule(const StepPlan& plan, const Engine& engine) {
  const EngineCounts counts = engine.Counts();
  peak_running_ = std::max(peak_running_, counts.running);
  min_free_ = min_free_ < 0 ? counts.free_blocks
                            : std::min(min_free_, counts.free_blocks);
  if (options_.detail) NoteBlocks(plan, engine);
}

// The blocks that each scheduled request got now; a new or resumed request got
// its whole table. Admitted requests come first, as the engine lists them.
void StepLog::NoteBlocks(const StepPlan& plan, const Engine& engine) {
  blocks_ = Json::object();
  for (RequestId id : plan.preempted) table_lengths_.erase(id);
  for (const AdmittedRequest& a : plan.admitted) AddBlocks(a.id, engine);
  for (const AdmittedRequest& a : plan.resumed) AddBlocks(a.id, engine);
  for (const ScheduledRequest& work : plan.scheduled) {
    AddBlocks(work.id, engine);
  }
  common_ = List(engine.CommonPrefixBlocks());
}

void StepLog::AddBlocks(RequestId id, const Engine& engine) {
  std::vector<size_t>& known = table_lengths_[id];
  known.resize(static_cast<size_t>(engine.NumGroups()), 0);
  Json groups = Json::array();
  bool any = false;
  for (int g = 0; g < engine.NumGroups(); ++g) {
    const std::span<const BlockId> table = engine.BlockTable(id, g);
    size_t& length = known[static_cast<size_t>(g)];
    groups.push_back(List(table.subspan(length)));
    any = any || table.size() > length;
    length = table.size();
  }
  if (any) blocks_[std::to_string(id)] = groups;
}

void StepLog::OnStep(const StepRecord& record, const Engine& engine) {
  NoteRequests(record);
  NoteTotals(record);
  if (record.step % options_.every == 0) sink_(StepLine(record, engine));
  for (RequestId id : record.finished) table_lengths_.erase(id);
  NoteForks(record);
  before_ = record.at_end;
  steps_ = record.step + 1;
}

void StepLog::NoteRequests(const StepRecord& record) {
  if (record.scheduled) {
    for (const AdmittedRequest& a : record.plan->admitted) {
      requests_[a.id].first = record.step;
      requests_[a.id].hit = a.hit_tokens;
      queries_ += requests_[a.id].prompt;
    }
    for (const AdmittedRequest& a : record.plan->resumed) {
      requests_[a.id].rehits.push_back(a.hit_tokens);
      resumed_queries_ += requests_[a.id].prompt + requests_[a.id].outputs;
    }
    for (RequestId id : record.plan->preempted) ++requests_[id].preemptions;
  }
  if (record.processed != nullptr) {
    for (size_t i = 0; i < record.num_sampled.size(); ++i) {
      requests_[record.processed->scheduled[i].id].outputs +=
          record.num_sampled[i];
    }
  }
  for (RequestId id : record.finished) requests_[id].done = record.step;
}

// A fork may have the name of a beam dropped before.
void StepLog::NoteForks(const StepRecord& record) {
  for (RequestId id : record.dropped) table_lengths_.erase(id);
  for (const ForkRecord& fork : record.forks) {
    const RequestLine& parent = requests_[fork.parent];
    RequestLine line;
    line.arrive = record.step;
    line.first = fork.runs ? record.step : -1;
    line.prompt = parent.prompt;
    line.outputs = parent.outputs;
    requests_[fork.child] = line;
  }
}

void StepLog::NoteTotals(const StepRecord& record) {
  if (record.scheduled) {
    const StepPlan& plan = *record.plan;
    scheduled_tokens_ += plan.total_tokens;
    scheduled_requests_ += static_cast<int64_t>(plan.scheduled.size());
    preemptions_ += static_cast<int64_t>(plan.preempted.size());
    admitted_ += static_cast<int64_t>(plan.admitted.size());
    resumed_ += static_cast<int64_t>(plan.resumed.size());
    for (const AdmittedRequest& a : plan.admitted) hit_tokens_ += a.hit_tokens;
    for (const AdmittedRequest& a : plan.resumed) {
      resumed_hit_tokens_ += a.hit_tokens;
    }
  }
  for (int32_t n : record.num_sampled) generated_ += n;
  finished_ += static_cast<int64_t>(record.finished.size());
  aborted_ += static_cast<int64_t>(record.aborted.size());
}

void StepLog::AddScheduled(const StepRecord& record, Json* line) const {
  const StepPlan& plan = *record.plan;
  Json& j = *line;
  j["tokens"] = plan.total_tokens;
  j["nsched"] = plan.scheduled.size();
  j["running"] = record.after_schedule.running;
  j["waiting"] = record.after_schedule.waiting;
  j["free"] = record.after_schedule.free_blocks;
  j["new"] = Pairs(plan.admitted);
  j["resumed"] = Pairs(plan.resumed);
  j["preempted"] = List(plan.preempted);
  if (!plan.swapped_out.empty()) j["swapped_out"] = Swaps(plan.swapped_out);
  if (!plan.swapped_in.empty()) j["swapped_in"] = Swaps(plan.swapped_in);
  if (!options_.detail) return;
  j["sched"] = Json::array();
  for (const ScheduledRequest& work : plan.scheduled) {
    j["sched"].push_back({work.id, work.num_tokens});
  }
  j["blocks"] = blocks_;
  j["ncommon"] = common_;
  if (plan.copies.empty()) return;
  j["cow"] = Json::array();
  for (const BlockCopy& copy : plan.copies) {
    j["cow"].push_back({copy.from, copy.to});
  }
}

Json StepLog::StepLine(const StepRecord& record, const Engine& engine) const {
  Json j;
  j["type"] = "step";
  j["step"] = record.step;
  j["now_us"] = record.end_ns / 1000;
  j["arrived"] = List(record.arrived);
  if (record.scheduled) AddScheduled(record, &j);
  j["finished"] = List(record.finished);
  j["aborted"] = List(record.aborted);
  if (!record.forks.empty()) {
    j["forked"] = Json::array();
    for (const ForkRecord& fork : record.forks) {
      j["forked"].push_back({fork.parent, fork.child, fork.runs ? 1 : 0});
    }
  }
  if (!record.dropped.empty()) j["dropped"] = List(record.dropped);
  j["free_end"] = record.at_end.free_blocks;
  j["running_end"] = record.at_end.running;
  j["waiting_end"] = record.at_end.waiting;
  j["alloc"] = record.at_end.allocations - before_.allocations;
  j["evict"] = record.at_end.evictions - before_.evictions;
  j["evict_hashes"] = record.at_end.evicted_keys - before_.evicted_keys;
  j["cached_keys"] = record.at_end.cached_keys;
  if (options_.check_sums) j["crc"] = CheckSums(engine.Inspect());
  return j;
}

Json StepLog::CacheStats() const {
  const int64_t on = options_.cache_stats ? 1 : 0;
  return {{"queries", on * queries_},
          {"hits", on * hit_tokens_},
          {"requests", on * admitted_},
          {"preempted_queries", on * resumed_queries_},
          {"preempted_hits", on * resumed_hit_tokens_},
          {"preempted_requests", on * resumed_}};
}

void StepLog::Finish(const Engine& engine, int64_t now_ns) {
  int64_t prompt_tokens = 0;
  for (const auto& [id, r] : requests_) {
    prompt_tokens += r.prompt;
    sink_({{"type", "req"},
           {"id", id},
           {"arrive", r.arrive},
           {"first", r.first},
           {"hit", r.hit},
           {"done", r.done},
           {"pre", r.preemptions},
           {"rehit", List(r.rehits)}});
  }
  const EngineCounts end = engine.Counts();
  sink_({{"type", "summary"},
         {"requests", requests_.size()},
         {"rejected", List(rejected_)},
         {"steps", steps_},
         {"end_us", now_ns / 1000},
         {"free_end", end.free_blocks},
         {"cached_keys_end", end.cached_keys},
         {"scheduled_tokens", scheduled_tokens_},
         {"hit_tokens", hit_tokens_},
         {"resumed_hit_tokens", resumed_hit_tokens_},
         {"preemptions", preemptions_},
         {"finished", finished_},
         {"aborted", aborted_},
         {"generated", generated_},
         {"prompt_tokens", prompt_tokens},
         {"peak_running", peak_running_},
         {"min_free", min_free_},
         {"sched_reqs", scheduled_requests_},
         {"admitted", admitted_},
         {"resumed", resumed_},
         {"allocs", end.allocations},
         {"evictions", end.evictions},
         {"evicted_hashes", end.evicted_keys},
         {"prefix_cache_stats", CacheStats()}});
}

}  // namespace kvsim
