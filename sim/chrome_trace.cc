#include "sim/chrome_trace.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/pool_metrics.h"

namespace kvsim {
namespace {

// Microseconds with three decimals. REQUIRES: ns >= 0.
std::string Us(int64_t ns) {
  return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000);
}

}  // namespace

ChromeTrace::ChromeTrace(OutputFile* file) : file_(file) {
  file_->Write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
  Event(
      R"("ph":"M","name":"process_name","pid":1,"args":{"name":"kvsim engine"})");
  Event(
      R"("ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"steps"})");
}

void ChromeTrace::Event(absl::string_view fields) {
  file_->Write(first_ ? "\n{" : ",\n{");
  first_ = false;
  file_->Write(fields);
  file_->Write("}");
}

void ChromeTrace::Phase(char begin_or_end, absl::string_view name, RequestId id,
                        int64_t time_ns) {
  Event(absl::StrFormat(
      R"("ph":"%c","cat":"request","name":"%s","id":%d,"pid":1,"tid":1,"ts":%s)",
      begin_or_end, name, id, Us(time_ns)));
}

void ChromeTrace::Counter(absl::string_view name, int64_t time_ns,
                          const std::string& values, std::string* last) {
  if (values == *last) return;
  *last = values;
  Event(absl::StrCat(R"("ph":"C","name":")", name, R"(","pid":1,"ts":)",
                     Us(time_ns), R"(,"args":{)", values, "}"));
}

void ChromeTrace::OnArrival(const ArrivalRecord& arrival) {
  if (arrival.queued) Phase('b', "waiting", arrival.id, arrival.due_ns);
}

void ChromeTrace::OnStep(const StepRecord& record, const Engine& engine) {
  NoteRequests(record);
  if (record.plan != nullptr && record.end_ns > record.start_ns) {
    Event(absl::StrCat(R"("ph":"X","name":"step","pid":1,"tid":1,"ts":)",
                       Us(record.start_ns), R"(,"dur":)",
                       Us(record.end_ns - record.start_ns),
                       R"(,"args":{"step":)", record.step, R"(,"tokens":)",
                       record.plan->total_tokens, R"(,"requests":)") +
          absl::StrCat(record.plan->scheduled.size(), R"(,"limit":")",
                       AdmissionLimitName(record.plan->limit), R"("})"));
  }
  NoteLevels(record, engine);
}

void ChromeTrace::NoteRequests(const StepRecord& record) {
  if (record.plan != nullptr) {
    for (const RequestId id : record.plan->preempted) {
      Phase('e', "running", id, record.start_ns);
      Phase('b', "preempted", id, record.start_ns);
    }
    for (const AdmittedRequest& admitted : record.plan->admitted) {
      Phase('e', "waiting", admitted.id, record.start_ns);
      Phase('b', "running", admitted.id, record.start_ns);
    }
    for (const AdmittedRequest& resumed : record.plan->resumed) {
      Phase('e', "preempted", resumed.id, record.start_ns);
      Phase('b', "running", resumed.id, record.start_ns);
    }
  }
  if (record.plan != nullptr) {
    for (const SwappedRequest& swap : record.plan->swapped_in) {
      Phase('e', "preempted", swap.id, record.start_ns);
      Phase('b', "running", swap.id, record.start_ns);
    }
  }
  for (const RequestId id : record.finished) {
    Phase('e', "running", id, record.end_ns);
  }
  for (const RequestId id : record.aborted) {
    Phase('e', "waiting", id, record.end_ns);
  }
  for (const RequestId id : record.dropped) {
    Phase('e', "running", id, record.end_ns);
  }
  for (const ForkRecord& fork : record.forks) {
    Phase('b', fork.runs ? "running" : "waiting", fork.child, record.end_ns);
  }
}

void ChromeTrace::NoteLevels(const StepRecord& record, const Engine& engine) {
  const EngineCounts& counts =
      record.scheduled ? record.after_schedule : record.at_end;
  Counter("requests", record.start_ns,
          absl::StrCat(R"("running":)", counts.running, R"(,"waiting":)",
                       counts.waiting),
          &last_requests_);
  const LedgerSnapshot ledger = engine.Ledger();
  Counter("pool", record.end_ns,
          absl::StrCat(R"("held":)", HeldBytes(ledger), R"(,"idle":)",
                       ledger[Account::kIdle], R"(,"free":)",
                       ledger[Account::kFree]),
          &last_pool_);
}

void ChromeTrace::Finish() { file_->Write("\n]}\n"); }

}  // namespace kvsim
