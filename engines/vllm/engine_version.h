// A version of vLLM, and which of two rules it has.
//
// Model:   a version is a release or the date of a main commit; both order rules
//          that changed between the last version seen with the old one and the
//          first seen with the new one.
// Unknown: no version means the newest known rules. So do versions beyond the
//          newest known one and fork or development numbers that say nothing
//          ("0.1.dev20051"); both leave a note that reports show.
// Source:  vLLM at five commits from 2026-02-27 to 2026-08-17, and the versions
//          that start-up logs print.

#ifndef KVSIM_ENGINES_VLLM_ENGINE_VERSION_H_
#define KVSIM_ENGINES_VLLM_ENGINE_VERSION_H_

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim::vllm {

// A release as three numbers, or a date as year, month, day.
using VersionNumbers = std::array<int, 3>;

struct EngineVersion {
  std::string text;        // as asked; "": the newest known rules
  VersionNumbers numbers;  // of the release or date
  bool is_date = false;
  bool newest = true;  // takes the newest known rules
  std::string note;    // for people: what was assumed and why
};

// `text` is "0.19.2rc1.dev43", "v0.21.0", "2026-08-17", or "" for the newest.
// Errors: InvalidArgument quoting a text that is neither.
absl::StatusOr<EngineVersion> ParseEngineVersion(absl::string_view text);

// When a rule changed, in releases and in dates.
struct VersionBracket {
  VersionNumbers last_old;   // release last seen with the old rule
  VersionNumbers first_new;  // release first seen with the new rule
  VersionNumbers last_old_date;
  VersionNumbers first_new_date;
};

enum class RuleAge { kOld, kBetween, kNew };

RuleAge AgeOf(const VersionBracket& change, const EngineVersion& version);

// How new the newest known rules are: "main of 2026-08-17, releases to 0.31.0".
std::string NewestRules();

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_ENGINE_VERSION_H_
