#include "tools/replay_sequences.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "tools/flag_reader.h"

namespace kvsim {
namespace {

constexpr int64_t kMaxWidth = 1024;

absl::StatusOr<int64_t> ParseWidth(absl::string_view text) {
  const absl::StatusOr<int64_t> width = ParseCount(text);
  if (width.ok() && *width >= 1 && *width <= kMaxWidth) return *width;
  return absl::InvalidArgumentError(absl::StrCat("accepted: 1 to ", kMaxWidth));
}

absl::StatusOr<Sequences::Kind> ParseSharing(absl::string_view text) {
  if (text == "fork") return Sequences::Kind::kForkedSamples;
  if (text == "prefix") return Sequences::Kind::kSeparateSamples;
  return absl::InvalidArgumentError("accepted: fork, prefix");
}

}  // namespace

absl::StatusOr<Sequences> SequencesOf(const ReplayFlags& flags) {
  Sequences sequences;
  FlagReader reader;
  reader.Read("--samples", flags.samples, ParseWidth, &sequences.width);
  reader.Read("--beam-width", flags.beam_width, ParseWidth, &sequences.width);
  reader.Read("--sharing", flags.sharing, ParseSharing, &sequences.kind);
  if (!flags.beam_width.empty()) {
    if (!flags.samples.empty()) {
      reader.Refuse("--beam-width", flags.beam_width,
                    "accepted without --samples");
    }
    if (!flags.sharing.empty() && flags.sharing != "fork") {
      reader.Refuse("--sharing", flags.sharing,
                    "accepted with --beam-width: fork");
    }
    sequences.kind = Sequences::Kind::kBeams;
  }
  if (!flags.sharing.empty() && flags.samples.empty() &&
      flags.beam_width.empty()) {
    reader.Refuse("--sharing", flags.sharing,
                  "has a meaning with --samples or --beam-width only");
  }
  if (sequences.width > 1) {
    const bool samples = flags.beam_width.empty();
    const std::string& width = samples ? flags.samples : flags.beam_width;
    const char* const name = samples ? "--samples" : "--beam-width";
    if (flags.async_scheduling) {
      reader.Refuse(name, width,
                    "with --async-scheduling outputs are in flight when a "
                    "request would fork; accepted then: 1");
    }
    if (flags.baseline == "contiguous") {
      reader.Refuse(name, width,
                    "ranges of --baseline contiguous share nothing; accepted "
                    "then: 1");
    }
  }
  if (!reader.status().ok()) return reader.status();
  return sequences;
}

}  // namespace kvsim
