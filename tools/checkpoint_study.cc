#include "tools/checkpoint_study.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/reuse_bound.h"
#include "tools/pareto.h"
#include "tools/replay_batch.h"
#include "tools/replay_setup.h"
#include "tools/replay_tokens.h"
#include "traces/request_keys.h"
#include "traces/token_stream.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

// In which tokens in front are looked for, whatever the blocks of a point are.
constexpr int64_t kReuseUnit = 16;

ReplayFlags FlagsOf(const ReplayFlags& flags, const CheckpointPoint& point) {
  ReplayFlags turned = flags;
  if (point.policy != "engine") turned.checkpoint_policy = point.policy;
  if (!point.dtype.empty()) turned.state_dtype = point.dtype;
  return turned;
}

absl::StatusOr<ReplaySetup> SetUpPoint(const ReplayFlags& flags,
                                       const CheckpointPoint& point) {
  const ReplayFlags turned = FlagsOf(flags, point);
  absl::Status status = CheckModes(turned);
  if (status.ok()) {
    absl::StatusOr<ReplaySetup> setup = SetUpReplay(turned);
    if (setup.ok()) return setup;
    status = setup.status();
  }
  if (point.dtype.empty()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("--state-dtypes '", point.dtype, "': ", status.message()));
}

// --- the bound ---------------------------------------------------------------------

ReuseShape ShapeOf(const vllm::Settings& settings) {
  const vllm::CacheUnits units = settings.Units();
  ReuseShape shape;
  shape.key_tokens = units.hash_tokens;
  shape.unit = units.fine_hits ? units.hash_tokens : units.scheduler_tokens;
  for (const vllm::CacheGroup& group : settings.groups) {
    switch (group.kind) {
      case vllm::GroupKind::kFull:
        shape.full_blocks.push_back(group.block_tokens);
        break;
      case vllm::GroupKind::kSlidingWindow:
      case vllm::GroupKind::kRecurrent:
        shape.tails.push_back({group.block_tokens, group.TailBlocks()});
        break;
      case vllm::GroupKind::kChunkedLocal:  // none where a chunk has just ended
      case vllm::GroupKind::kCross:
        break;
    }
  }
  return shape;
}

// One pass over the trace for all shapes.
absl::Status AddTrace(const ReplayFlags& flags, int64_t max_model_len,
                      std::vector<ReuseBound>* bounds,
                      const std::vector<int64_t>& key_tokens,
                      CheckpointStudy* study) {
  const absl::StatusOr<ReplayTraceOptions> trace = TraceOptionsOf(flags);
  if (!trace.ok()) return trace.status();
  absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.trace, trace->options);
  if (!reader.ok()) return reader.status();
  study->in_order = ArrivalsOf(*trace, **reader) == Arrivals::kTimestamps;
  TokenStream stream(TokenOptionsOf(*trace));
  return ForEachRow(**reader, [&](const TraceRequest& row) {
    const std::shared_ptr<const RequestTokens> tokens = stream.Add(row);
    if (row.input_length >= max_model_len) return;
    const int64_t outputs = std::clamp<int64_t>(
        row.output_length, 1, max_model_len - row.input_length);
    study->longest_prompt = std::max(study->longest_prompt, row.input_length);
    for (size_t i = 0; i < bounds->size(); ++i) {
      RequestKeys keys(tokens.get(), key_tokens[i]);
      (*bounds)[i].Add(&keys, row.input_length, row.input_length + outputs);
    }
  });
}

absl::Status AddBounds(const ReplayFlags& flags, CheckpointStudy* study) {
  std::vector<ReuseBound> bounds;
  std::vector<int64_t> key_tokens, num_blocks;
  int64_t max_model_len = 0;
  const auto add = [&](ReuseShape shape) {
    key_tokens.push_back(shape.key_tokens);
    bounds.emplace_back(std::move(shape));
  };
  add({.key_tokens = kReuseUnit, .unit = kReuseUnit});
  num_blocks.push_back(0);
  std::vector<size_t> bound_of;  // by point; points of one dtype share a pool
  for (const CheckpointPoint& point : study->points) {
    const CheckpointPoint* const same =
        &*std::find_if(study->points.begin(), study->points.end(),
                       [&](const auto& p) { return p.dtype == point.dtype; });
    if (same != &point) {
      bound_of.push_back(
          bound_of[static_cast<size_t>(same - study->points.data())]);
      continue;
    }
    const absl::StatusOr<ReplaySetup> setup = SetUpPoint(flags, point);
    if (!setup.ok()) return setup.status();
    max_model_len = setup->settings.max_model_len;
    bound_of.push_back(bounds.size());
    num_blocks.push_back(setup->settings.num_gpu_blocks - 1);
    add(ShapeOf(setup->settings));
  }
  absl::Status status =
      AddTrace(flags, max_model_len, &bounds, key_tokens, study);
  if (!status.ok()) return status;
  study->prompt_tokens = bounds[0].prompt_tokens();
  study->reusable_tokens = bounds[0].UnlimitedTokens();
  for (size_t i = 0; i < study->points.size(); ++i) {
    study->points[i].bound_tokens =
        bounds[bound_of[i]].Tokens(num_blocks[bound_of[i]]);
  }
  return absl::OkStatus();
}

// --- the front ---------------------------------------------------------------------

int64_t Kept(const CheckpointPoint& point) {
  return point.report->checkpoints().mean_bytes();
}
int64_t Hits(const CheckpointPoint& point) {
  return point.report->hit_tokens();
}

std::vector<size_t> MarkFront(std::vector<CheckpointPoint>* points) {
  std::vector<size_t> ran;
  std::vector<std::vector<double>> scores;
  for (size_t i = 0; i < points->size(); ++i) {
    const CheckpointPoint& point = (*points)[i];
    if (!point.report.ok()) continue;
    ran.push_back(i);
    scores.push_back(
        {-static_cast<double>(Kept(point)), static_cast<double>(Hits(point))});
  }
  std::vector<size_t> front;
  for (size_t i : ParetoFront(scores)) {
    front.push_back(ran[i]);
    (*points)[ran[i]].on_front = true;
  }
  std::stable_sort(front.begin(), front.end(), [&](size_t a, size_t b) {
    return Kept((*points)[a]) < Kept((*points)[b]);
  });
  return front;
}

std::optional<size_t> KneeOf(const std::vector<CheckpointPoint>& points,
                             const std::vector<size_t>& front) {
  if (front.size() < 3) return std::nullopt;
  const CheckpointPoint &first = points[front.front()],
                        &last = points[front.back()];
  const auto scaled = [](int64_t value, int64_t from, int64_t to) {
    return to == from ? 0.0
                      : static_cast<double>(value - from) /
                            static_cast<double>(to - from);
  };
  std::optional<size_t> knee;
  double farthest = 0;
  for (size_t i : front) {
    const double above = scaled(Hits(points[i]), Hits(first), Hits(last)) -
                         scaled(Kept(points[i]), Kept(first), Kept(last));
    if (above <= farthest) continue;
    farthest = above;
    knee = i;
  }
  return knee;
}

}  // namespace

absl::StatusOr<CheckpointStudy> StudyCheckpoints(
    const ReplayFlags& flags, const std::vector<std::string>& policies,
    const std::vector<std::string>& dtypes, int jobs) {
  CheckpointStudy study;
  std::vector<ReplayFlags> runs;
  const std::vector<std::string> own = {""};
  for (const std::string& dtype : dtypes.empty() ? own : dtypes) {
    for (const std::string& policy : policies) {
      study.points.push_back(
          {.policy = policy, .dtype = dtype, .report = Report()});
      runs.push_back(FlagsOf(flags, study.points.back()));
    }
  }
  absl::Status status = AddBounds(flags, &study);
  if (!status.ok()) return status;
  std::vector<absl::StatusOr<Report>> reports = RunReplays(runs, jobs);
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].ok() && !reports[i]->has_checkpoints()) {
      return absl::InvalidArgumentError(
          "the model has no recurrent layers, so it has no states to keep; "
          "accepted: models such as kimi-linear-48b, or --groups with mamba");
    }
    study.points[i].report = std::move(reports[i]);
  }
  study.knee = KneeOf(study.points, MarkFront(&study.points));
  return study;
}

}  // namespace kvsim
