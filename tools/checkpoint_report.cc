#include "tools/checkpoint_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text_table.h"
#include "base/units.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

constexpr char kIndent[] = "  ";
constexpr int64_t kMillion = int64_t{1} << 20;  // a context of "1M"

// --- one checkpoint every so many tokens ----------------------------------------------

struct SpacingLine {
  int64_t every = 0, tokens = 0, checkpoints = 0, bytes = 0;
};

// The point whose states the lines count: the first that ran.
const CheckpointPoint* FirstRun(const CheckpointStudy& study) {
  for (const CheckpointPoint& point : study.points) {
    if (point.report.ok()) return &point;
  }
  return nullptr;
}

std::vector<SpacingLine> Spacing(const CheckpointStudy& study) {
  std::vector<SpacingLine> lines;
  const CheckpointPoint* const point = FirstRun(study);
  if (point == nullptr) return lines;
  const int64_t each = point->report->checkpoints().bytes_each();
  for (int64_t tokens : {study.longest_prompt, kMillion}) {
    for (int64_t every : {1024, 4096, 16384, 65536}) {
      const int64_t count = CeilDiv(tokens, every);
      lines.push_back({every, tokens, count, count * each});
    }
  }
  return lines;
}

// --- notes ---------------------------------------------------------------------------

std::vector<std::string> Notes(const CheckpointReport& report) {
  std::vector<std::string> notes;
  const CheckpointStudy& study = report.study;
  // Warnings of the plan are every point's.
  if (const CheckpointPoint* const first = FirstRun(study)) {
    for (const std::string& warning : first->report->warnings()) {
      notes.push_back(absl::StrCat("warning: ", warning));
    }
    if (first->report->never_fit() > 0) {
      notes.push_back(absl::StrCat(
          "warning: ", FormatCount(first->report->never_fit()), " of ",
          FormatCount(first->report->requests()),
          " requests can never fit: ", FormatCount(first->report->too_long()),
          " longer than the engine allows, ",
          FormatCount(first->report->larger_than_pool()),
          " larger than the pool"));
    }
  }
  if (!study.in_order) {
    notes.push_back(
        "turns start when the turn before has ended, so requests are not "
        "served "
        "in the trace's order: the bound holds for that order only");
  }
  if (study.knee.has_value()) {
    const CheckpointPoint& knee = study.points[*study.knee];
    const CheckpointPoint* best = nullptr;
    for (const CheckpointPoint& point : study.points) {
      if (!point.on_front) continue;
      if (best == nullptr ||
          point.report->hit_tokens() > best->report->hit_tokens()) {
        best = &point;
      }
    }
    const auto percent = [](int64_t part, int64_t whole) {
      return FormatPercent(part, std::max<int64_t>(whole, 1));
    };
    notes.push_back(absl::StrCat(
        "knee: ", knee.policy, knee.dtype.empty() ? "" : " in ", knee.dtype,
        " has ", percent(knee.report->hit_tokens(), best->report->hit_tokens()),
        " of the best point's hits with ",
        percent(knee.report->checkpoints().mean_bytes(),
                best->report->checkpoints().mean_bytes()),
        " of its bytes"));
  } else {
    notes.push_back(
        "no knee: fewer than three points are on the front, the last one is "
        "simply the best");
  }
  return notes;
}

// --- text ----------------------------------------------------------------------------

std::string Amount(const Report& report, int64_t bytes, ByteUnits units) {
  return report.ledger_unit() == "bytes"
             ? FormatBytes(Bytes(bytes), units)
             : absl::StrCat(FormatCount(bytes), " slots");
}

std::string PointsTable(const CheckpointStudy& study, ByteUnits units) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"policy", "states", "stored", "each", "kept (mean)", "of pool",
                "hit tokens", "of prompts", "recomputed", "running (mean)",
                "model time", ""});
  std::vector<size_t> order;
  for (size_t i = 0; i < study.points.size(); ++i) {
    if (study.points[i].report.ok()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return study.points[a].report->checkpoints().mean_bytes() <
           study.points[b].report->checkpoints().mean_bytes();
  });
  for (size_t i : order) {
    const CheckpointPoint& point = study.points[i];
    const Report& report = *point.report;
    const Checkpoints& states = report.checkpoints();
    table.AddRow({point.policy, point.dtype.empty() ? "model's" : point.dtype,
                  FormatCount(states.stored()),
                  Amount(report, states.bytes_each(), units),
                  Amount(report, states.mean_bytes(), units),
                  FormatPercent(states.mean_bytes(), report.pool_bytes()),
                  FormatCount(report.hit_tokens()),
                  FormatPercent(report.hit_tokens(), study.prompt_tokens),
                  FormatCount(std::max<int64_t>(
                      0, study.reusable_tokens - report.hit_tokens())),
                  absl::StrFormat("%.2f", report.mean_running()),
                  FormatDuration(SimTime(report.end_ns() - report.start_ns())),
                  study.knee == i  ? "front, knee"
                  : point.on_front ? "front"
                                   : ""});
  }
  return table.Print(kIndent);
}

std::string Errors(const CheckpointStudy& study) {
  std::string text;
  for (const CheckpointPoint& point : study.points) {
    if (point.report.ok()) continue;
    absl::StrAppend(&text, kIndent, point.policy,
                    point.dtype.empty() ? "" : " ", point.dtype,
                    " cannot run: ", point.report.status().message(), "\n");
  }
  return text;
}

// One line for each pool: points of one dtype share it.
std::string BoundLines(const CheckpointStudy& study) {
  std::string text;
  std::vector<std::string> told;
  for (const CheckpointPoint& point : study.points) {
    if (!point.report.ok()) continue;
    if (std::find(told.begin(), told.end(), point.dtype) != told.end()) {
      continue;
    }
    told.push_back(point.dtype);
    int64_t best = 0;
    for (const CheckpointPoint& other : study.points) {
      if (!other.report.ok() || other.dtype != point.dtype) continue;
      best = std::max(best, other.report->hit_tokens());
    }
    absl::StrAppend(
        &text, kIndent, point.dtype.empty() ? "" : point.dtype + " states: ",
        "no policy hits more than ", FormatCount(point.bound_tokens),
        " tokens with ", FormatCount(point.report->num_blocks()), " blocks of ",
        FormatCount(point.report->block_tokens()),
        " tokens, even if it knows the future; the best above has ",
        FormatCount(best), ", ",
        FormatPercent(best, std::max<int64_t>(1, point.bound_tokens)), "\n");
  }
  return text;
}

std::string SpacingTable(const CheckpointReport& report, ByteUnits units) {
  const CheckpointPoint* const point = FirstRun(report.study);
  if (point == nullptr) return "";
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"tokens", "every", "checkpoints", "bytes"});
  for (const SpacingLine& line : Spacing(report.study)) {
    table.AddRow({FormatCount(line.tokens), FormatCount(line.every),
                  FormatCount(line.checkpoints),
                  Amount(*point->report, line.bytes, units)});
  }
  const Checkpoints& states = point->report->checkpoints();
  return absl::StrCat(
      "\nWhat one prompt would keep: ceil(tokens / every) states of ",
      Amount(*point->report, states.bytes_each(), units),
      ", beside the one live state of a running request\n",
      table.Print(kIndent));
}

// --- JSON ----------------------------------------------------------------------------

Json PointJson(const CheckpointPoint& point, const CheckpointStudy& study) {
  Json json = {{"policy", point.policy}, {"dtype", point.dtype}};
  if (!point.report.ok()) {
    json["error"] = std::string(point.report.status().message());
    return json;
  }
  const Report& report = *point.report;
  const Checkpoints& states = report.checkpoints();
  json["error"] = nullptr;
  json["checkpoints"] = states.stored();
  json["bytes_each"] = states.bytes_each();
  json["mean_bytes"] = states.mean_bytes();
  json["peak_bytes"] = states.peak_bytes();
  json["live_mean_bytes"] = states.live_mean_bytes();
  json["pool_bytes"] = report.pool_bytes();
  json["block_tokens"] = report.block_tokens();
  json["num_blocks"] = report.num_blocks();
  json["hit_tokens"] = report.hit_tokens();
  json["hit_rate"] = report.hit_rate();
  json["recomputed_tokens"] =
      std::max<int64_t>(0, study.reusable_tokens - report.hit_tokens());
  json["bound_tokens"] = point.bound_tokens;
  json["mean_running"] = report.mean_running();
  json["peak_running"] = report.peak_running();
  json["preemptions"] = report.preemptions();
  json["duration_ns"] = report.end_ns() - report.start_ns();
  json["on_front"] = point.on_front;
  return json;
}

}  // namespace

void PrintCheckpoints(const CheckpointReport& report, ByteUnits units,
                      std::ostream& out) {
  const CheckpointStudy& study = report.study;
  out << "Checkpoint policies for "
      << (report.model.empty() ? "the groups given" : report.model) << " on "
      << report.trace << ": " << FormatCount(study.prompt_tokens)
      << " prompt tokens, of which " << FormatCount(study.reusable_tokens)
      << " (" << FormatPercent(study.reusable_tokens, study.prompt_tokens)
      << ")\n  stood in front of an earlier request's tokens already (whole "
         "blocks of 16)\n\n"
      << PointsTable(study, units) << Errors(study) << "\nBound\n"
      << BoundLines(study) << SpacingTable(report, units) << "\n";
  for (const std::string& note : Notes(report)) out << note << "\n";
}

nlohmann::ordered_json CheckpointsJson(const CheckpointReport& report) {
  const CheckpointStudy& study = report.study;
  Json json = {{"model", report.model},
               {"trace", report.trace},
               {"prompt_tokens", study.prompt_tokens},
               {"reusable_tokens", study.reusable_tokens},
               {"longest_prompt_tokens", study.longest_prompt},
               {"points", Json::array()}};
  for (const CheckpointPoint& point : study.points) {
    json["points"].push_back(PointJson(point, study));
  }
  json["knee"] = study.knee.has_value() ? Json(*study.knee) : Json(nullptr);
  json["spacing"] = Json::array();
  for (const SpacingLine& line : Spacing(study)) {
    json["spacing"].push_back({{"every_tokens", line.every},
                               {"tokens", line.tokens},
                               {"checkpoints", line.checkpoints},
                               {"bytes", line.bytes}});
  }
  json["notes"] = Notes(report);
  return json;
}

}  // namespace kvsim
