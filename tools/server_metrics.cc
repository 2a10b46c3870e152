#include "tools/server_metrics.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kvsim {
namespace {

// Mean and maximum of a level that a log repeats.
class Level {
 public:
  void Add(double value) {
    sum_ += value;
    max_ = count_ == 0 ? value : std::max(max_, value);
    ++count_;
  }
  std::optional<double> Mean() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }
  std::optional<double> Max() const {
    if (count_ == 0) return std::nullopt;
    return max_;
  }

 private:
  double sum_ = 0, max_ = 0;
  int64_t count_ = 0;
};

absl::Status BadLine(int64_t line, absl::string_view what,
                     absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ": ", what, ": found \"", found,
                   "\"; accepted: a number that is not negative"));
}

// --- Prometheus text ---------------------------------------------------------------

// All samples of one name: how many, and their sum.
struct Samples {
  double sum = 0;
  int64_t count = 0;
};

class Prometheus {
 public:
  absl::Status Read(absl::string_view text) {
    int64_t number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      line = absl::StripAsciiWhitespace(line);
      if (!absl::StartsWith(line, "vllm:") &&
          !absl::StartsWith(line, "sglang:")) {
        continue;
      }
      const absl::Status status = ReadSample(line, number);
      if (!status.ok()) return status;
    }
    if (models_.size() > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("metrics of ", models_.size(), " models (model_name ",
                       *models_.begin(), ", ", *models_.rbegin(),
                       "); accepted: those of one, for instance with grep"));
    }
    return absl::OkStatus();
  }

  bool HasPrefix(absl::string_view prefix) const {
    const auto at = samples_.lower_bound(std::string(prefix));
    return at != samples_.end() && absl::StartsWith(at->first, prefix);
  }

  // The first of the names that has samples: newer names stand first.
  std::optional<double> Sum(std::initializer_list<const char*> names) const {
    const Samples* samples = Find(names);
    if (samples == nullptr) return std::nullopt;
    return samples->sum;
  }
  std::optional<double> Mean(std::initializer_list<const char*> names) const {
    const Samples* samples = Find(names);
    if (samples == nullptr) return std::nullopt;
    return samples->sum / static_cast<double>(samples->count);
  }

 private:
  absl::Status ReadSample(absl::string_view line, int64_t number) {
    const size_t brace = line.find('{');
    size_t end = line.find(' ');
    if (brace < end) {
      const size_t close = line.find('}', brace);
      if (close == absl::string_view::npos) {
        return BadLine(number, "labels", line.substr(brace));
      }
      NoteModel(line.substr(brace, close - brace));
      end = close + 1;
    }
    const std::string name(line.substr(0, std::min(brace, end)));
    if (end >= line.size()) return BadLine(number, name, "");
    absl::string_view value = absl::StripAsciiWhitespace(line.substr(end));
    value = value.substr(0, value.find(' '));  // a time may follow
    double parsed;
    if (!absl::SimpleAtod(value, &parsed) || !(parsed >= 0)) {
      return BadLine(number, name, value);
    }
    samples_[name].sum += parsed;
    ++samples_[name].count;
    return absl::OkStatus();
  }

  void NoteModel(absl::string_view labels) {
    constexpr absl::string_view kLabel = "model_name=\"";
    const size_t at = labels.find(kLabel);
    if (at == absl::string_view::npos) return;
    labels.remove_prefix(at + kLabel.size());
    models_.emplace(labels.substr(0, labels.find('"')));
  }

  const Samples* Find(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      for (const char* end : {"", "_total"}) {
        const auto at = samples_.find(absl::StrCat(name, end));
        if (at != samples_.end()) return &at->second;
      }
    }
    return nullptr;
  }

  std::map<std::string, Samples> samples_;
  std::set<std::string> models_;
};

std::optional<double> Ratio(std::optional<double> part,
                            std::optional<double> whole) {
  if (!part.has_value() || !whole.has_value() || *whole == 0) {
    return std::nullopt;
  }
  return *part / *whole;
}

std::optional<int64_t> Whole(std::optional<double> value) {
  if (!value.has_value()) return std::nullopt;
  return static_cast<int64_t>(*value);
}

ServerMetrics FromVllm(const Prometheus& p) {
  ServerMetrics m;
  m.source = "vLLM /metrics";
  m.usage = p.Mean({"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"});
  m.hit_rate = Ratio(
      p.Sum({"vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"}),
      p.Sum({"vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"}));
  m.running = p.Sum({"vllm:num_requests_running"});
  m.waiting = p.Sum({"vllm:num_requests_waiting"});
  m.preemptions = Whole(p.Sum({"vllm:num_preemptions"}));
  return m;
}

ServerMetrics FromSglang(const Prometheus& p) {
  ServerMetrics m;
  m.source = "SGLang /metrics";
  m.usage = p.Mean({"sglang:token_usage"});
  // The gauge is of the last batch only; the counters are of everything.
  m.hit_rate =
      Ratio(p.Sum({"sglang:cached_tokens"}), p.Sum({"sglang:prompt_tokens"}));
  if (!m.hit_rate.has_value()) m.hit_rate = p.Mean({"sglang:cache_hit_rate"});
  m.running = p.Sum({"sglang:num_running_reqs"});
  m.waiting = p.Sum({"sglang:num_queue_reqs"});
  m.preemptions = Whole(p.Sum({"sglang:num_retracted_reqs"}));
  return m;
}

// --- log lines ------------------------------------------------------------------------

// The number behind `label` on the line; nothing when the label is not there.
// Sets *bad to the text that is no number.
std::optional<double> After(absl::string_view line, absl::string_view label,
                            std::string* bad) {
  const size_t at = line.find(label);
  if (at == absl::string_view::npos) return std::nullopt;
  absl::string_view rest = line.substr(at + label.size());
  rest = absl::StripLeadingAsciiWhitespace(rest);
  const absl::string_view number =
      rest.substr(0, rest.find_first_not_of("0123456789.eE+-"));
  double value;
  if (absl::SimpleAtod(number, &value) && value >= 0) return value;
  *bad = std::string(rest.substr(0, rest.find_first_of(", ")));
  return std::nullopt;
}

class LogReader {
 public:
  absl::StatusOr<ServerMetrics> Read(absl::string_view text) {
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number_;
      bad_.clear();
      if (absl::StrContains(line, "KV cache usage:")) {
        ReadVllm(line);
      } else if (absl::StrContains(line, "token usage:") &&
                 (absl::StrContains(line, "Prefill batch") ||
                  absl::StrContains(line, "Decode batch"))) {
        ReadSglang(line);
      } else {
        continue;
      }
      if (!bad_.empty()) return BadLine(number_, "figure", bad_);
      ++m_.lines;
    }
    if (m_.lines == 0) {
      return absl::InvalidArgumentError(
          "found no figures; accepted: Prometheus text with vllm: or sglang: "
          "metrics, vLLM's \"Engine 000: Avg prompt throughput\" lines, "
          "SGLang's \"Prefill batch\" and \"Decode batch\" lines");
    }
    m_.averaged = true;
    m_.usage = usage_.Mean();
    m_.usage_max = usage_.Max();
    m_.running = running_.Mean();
    m_.running_max = running_.Max();
    m_.waiting = waiting_.Mean();
    if (cached_tokens_ + new_tokens_ > 0) {
      m_.hit_rate = cached_tokens_ / (cached_tokens_ + new_tokens_);
    }
    return m_;
  }

 private:
  void Note(absl::string_view line, absl::string_view label, double scale,
            Level* level) {
    const auto value = After(line, label, &bad_);
    if (value.has_value()) level->Add(*value * scale);
  }

  void ReadVllm(absl::string_view line) {
    m_.source = "vLLM log";
    Note(line, "KV cache usage:", 0.01, &usage_);
    Note(line, "Running:", 1, &running_);
    Note(line, "Waiting:", 1, &waiting_);
    // "Prefix", not "External prefix".
    const auto rate = After(line, ", Prefix cache hit rate:", &bad_);
    if (rate.has_value()) m_.hit_rate = *rate * 0.01;
    m_.preemptions =
        m_.preemptions.value_or(0) +
        static_cast<int64_t>(After(line, "Preemptions:", &bad_).value_or(0));
  }

  void ReadSglang(absl::string_view line) {
    m_.source = "SGLang log";
    Note(line, " token usage:", 1, &usage_);
    Note(line, "#running-req:", 1, &running_);
    Note(line, "#queue-req:", 1, &waiting_);
    new_tokens_ += After(line, "#new-token:", &bad_).value_or(0);
    cached_tokens_ += After(line, "#cached-token:", &bad_).value_or(0);
  }

  ServerMetrics m_;
  Level usage_, running_, waiting_;
  double new_tokens_ = 0, cached_tokens_ = 0;
  int64_t number_ = 0;
  std::string bad_;
};

}  // namespace

absl::StatusOr<ServerMetrics> ReadServerMetrics(absl::string_view text) {
  Prometheus metrics;
  const absl::Status status = metrics.Read(text);
  if (!status.ok()) return status;
  if (metrics.HasPrefix("vllm:")) return FromVllm(metrics);
  if (metrics.HasPrefix("sglang:")) return FromSglang(metrics);
  return LogReader().Read(text);
}

}  // namespace kvsim
