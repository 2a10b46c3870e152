#include "engines/vllm/engine_behaviours.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engines/vllm/engine_version.h"

namespace kvsim::vllm {
namespace {

// The commit's date is the first new one; main of the day before is old.
constexpr VersionBracket Since(VersionNumbers date, VersionNumbers last_old,
                               VersionNumbers first_new) {
  return {last_old, first_new, {date[0], date[1], date[2] - 1}, date};
}

struct Change {
  absl::string_view what;
  VersionBracket when;
  void (*make_old)(Settings& settings);
};

// Newest first, so that the oldest rule of two about one thing is the last word.
constexpr Change kChanges[] = {
    {"sparse retention by default (#52216)",
     Since({2026, 8, 17}, {0, 27, 1}, {0, 29, 0}),
     [](Settings& s) { s.retention_interval.reset(); }},
    {"blocks without keys to the front of the queue without caching too "
     "(#51482)",
     Since({2026, 8, 11}, {0, 27, 1}, {0, 29, 0}),
     [](Settings& s) { s.free_order = FreeOrder::kPrependWhenCaching; }},
    {"chunks that start inside a block end with it (#51113)",
     Since({2026, 8, 6}, {0, 26, 99}, {0, 28, 0}),
     [](Settings& s) { s.realign_chunks = false; }},
    {"junctions (#47782)", Since({2026, 7, 13}, {0, 23, 0}, {0, 27, 1}),
     [](Settings& s) { s.junctions = false; }},
    {"partial hits (#46384)", Since({2026, 7, 12}, {0, 23, 0}, {0, 27, 1}),
     [](Settings& s) { s.partial_hits = false; }},
    {"windows freed behind processed tokens (#47728)",
     Since({2026, 7, 8}, {0, 23, 0}, {0, 27, 1}),
     [](Settings& s) { s.free_on_processed = false; }},
    {"blocks without keys to the front of the queue (#43447)",
     Since({2026, 6, 4}, {0, 20, 99}, {0, 27, 1}),
     [](Settings& s) { s.free_order = FreeOrder::kAppend; }},
    {"keys of windows and states only where hits end (#44082)",
     Since({2026, 6, 2}, {0, 20, 99}, {0, 27, 1}),
     [](Settings& s) { s.sparse_keys = false; }},
    {"the cap of windows at the gate (#40946)",
     Since({2026, 4, 27}, {0, 19, 99}, {0, 21, 0}),
     [](Settings& s) { s.window_admission_cap = false; }},
    {"the full-sequence gate (#37307)",
     Since({2026, 3, 24}, {0, 17, 99}, {0, 19, 2}),
     [](Settings& s) { s.reserve_full_sequence = false; }},
    {"the guard of states of the same step (#29387)",
     Since({2026, 2, 10}, {0, 15, 99}, {0, 17, 0}),
     [](Settings& s) { s.same_step_state_guard = false; }},
};

}  // namespace

absl::Status ApplyVersion(absl::string_view text, Settings* settings,
                          std::vector<std::string>* notes) {
  const absl::StatusOr<EngineVersion> version = ParseEngineVersion(text);
  if (!version.ok()) return version.status();
  if (!version->note.empty()) notes->push_back(version->note);
  std::vector<std::string> between;
  for (const Change& change : kChanges) {
    const RuleAge age = AgeOf(change.when, *version);
    if (age == RuleAge::kNew) continue;
    change.make_old(*settings);
    if (age == RuleAge::kBetween) between.emplace_back(change.what);
  }
  if (!between.empty()) {
    notes->push_back(absl::StrCat(
        "vLLM ", version->text, ": whether it has ",
        absl::StrJoin(between, ", "),
        " is not known; it is taken as not: a date decides (--engine-version "
        "2026-08-17)"));
  }
  return absl::OkStatus();
}

}  // namespace kvsim::vllm
