#include "tools/synth_command.h"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "tools/trace_output.h"
#include "traces/preset_trace.h"
#include "traces/shipped_presets.h"
#include "traces/synthetic_trace.h"

namespace kvsim {
namespace {

// One flag: its text, what it means, where its value goes.
struct NumberFlag {
  enum class Kind { kCount, kTokens, kMilliseconds };
  const char* name;
  const char* help;
  Kind kind;
  int64_t SyntheticOptions::*target;
};

using Kind = NumberFlag::Kind;

constexpr NumberFlag kNumberFlags[] = {
    {"--sessions", "How many sessions (default 100).", Kind::kCount,
     &SyntheticOptions::sessions},
    {"--session-interval",
     "Mean time between session starts, a Poisson process (1s).",
     Kind::kMilliseconds, &SyntheticOptions::session_interval_ms},
    {"--burst-sessions",
     "Mean sessions per burst; bursts are the Poisson process then (1: none).",
     Kind::kCount, &SyntheticOptions::burst_sessions},
    {"--burst-span", "A burst's sessions start within this time (1s).",
     Kind::kMilliseconds, &SyntheticOptions::burst_span_ms},
    {"--system-prompts",
     "Different system prompts; the k-th is used 1/k as "
     "often as the first (4).",
     Kind::kCount, &SyntheticOptions::system_prompts},
    {"--system-tokens", "Median length of a system prompt (2000).",
     Kind::kTokens, &SyntheticOptions::system_tokens},
    {"--turns", "Mean turns per session, geometric; 1: no sessions (8).",
     Kind::kCount, &SyntheticOptions::turns},
    {"--turn-tokens", "Median of the new prompt tokens of a turn (500).",
     Kind::kTokens, &SyntheticOptions::turn_tokens},
    {"--output-tokens", "Median output (200).", Kind::kTokens,
     &SyntheticOptions::output_tokens},
    {"--think-time", "Mean time from an answer to the next turn (5s).",
     Kind::kMilliseconds, &SyntheticOptions::think_ms},
    {"--max-input", "A session ends before its prompt passes this (131072).",
     Kind::kTokens, &SyntheticOptions::max_input},
    {"--hash-block", "Tokens per hash id (512).", Kind::kTokens,
     &SyntheticOptions::hash_block},
    {"--prefill-us-per-token",
     "For recorded arrivals: estimated time per new prompt token (50).",
     Kind::kCount, &SyntheticOptions::prefill_us_per_token},
    {"--decode-us-per-token",
     "For recorded arrivals: estimated time per output token (20000).",
     Kind::kCount, &SyntheticOptions::decode_us_per_token},
};
constexpr size_t kNumNumberFlags = std::size(kNumberFlags);

struct Flags {
  std::string seed = "1";
  std::string preset;    // empty: the flags below
  std::string requests;  // of a preset; empty: as many as its source has
  std::string numbers[kNumNumberFlags];  // empty: the default
  TraceOutputFlags output{.output = "", .to = "mooncake", .compress = false};
};

absl::StatusOr<int64_t> ParseNumber(Kind kind, const std::string& text) {
  switch (kind) {
    case Kind::kCount:
      return ParseCount(text);
    case Kind::kTokens: {
      const absl::StatusOr<Tokens> tokens = ParseTokens(text);
      if (!tokens.ok()) return tokens.status();
      return tokens->value();
    }
    case Kind::kMilliseconds: {
      const absl::StatusOr<SimTime> time = ParseDuration(text);
      if (!time.ok()) return time.status();
      return *time / Milliseconds(1);
    }
  }
  return absl::InternalError("no such kind");
}

absl::StatusOr<uint64_t> ParseSeed(const Flags& flags) {
  uint64_t seed = 0;
  if (absl::SimpleAtoi(flags.seed, &seed)) return seed;
  return UsageError(absl::StrCat("--seed: found '", flags.seed,
                                 "'; accepted: 0 to 18446744073709551615"));
}

absl::StatusOr<SyntheticOptions> ToOptions(const Flags& flags) {
  SyntheticOptions options;
  const absl::StatusOr<uint64_t> seed = ParseSeed(flags);
  if (!seed.ok()) return seed.status();
  options.seed = *seed;
  if (!flags.requests.empty()) {
    return UsageError(
        "--requests: found without --preset; accepted: "
        "--sessions and --turns");
  }
  for (size_t i = 0; i < kNumNumberFlags; ++i) {
    if (flags.numbers[i].empty()) continue;
    const absl::StatusOr<int64_t> value =
        ParseNumber(kNumberFlags[i].kind, flags.numbers[i]);
    if (!value.ok()) {
      return UsageError(
          absl::StrCat(kNumberFlags[i].name, ": ", value.status().message()));
    }
    options.*kNumberFlags[i].target = *value;
  }
  const absl::Status status = CheckSyntheticOptions(options);
  if (!status.ok()) return UsageError(status.message());
  return options;
}

// Writes all rows of a SyntheticTrace or a PresetTrace.
template <typename Trace>
absl::Status WriteAll(Trace& trace, bool has_sessions, const Flags& flags,
                      CommandContext& context) {
  const absl::StatusOr<int64_t> rows =
      WriteTrace(flags.output, /*input=*/"", has_sessions, /*keep_ids=*/true,
                 context, [&trace](TraceWriter& to) -> absl::StatusOr<int64_t> {
                   TraceRequest row;
                   int64_t count = 0;
                   for (; trace.Next(&row); ++count) {
                     absl::Status status = to.Write(row);
                     if (!status.ok()) return status;
                   }
                   absl::Status status = to.Finish();
                   if (!status.ok()) return status;
                   return count;
                 });
  if (!rows.ok()) return rows.status();
  *context.err << "Wrote " << FormatCount(*rows) << " requests to "
               << flags.output.output << ".\n";
  return absl::OkStatus();
}

absl::Status SynthPreset(const Flags& flags, CommandContext& context) {
  for (size_t i = 0; i < kNumNumberFlags; ++i) {
    if (flags.numbers[i].empty()) continue;
    return UsageError(absl::StrCat(kNumberFlags[i].name,
                                   ": found beside --preset; accepted: --seed "
                                   "and --requests"));
  }
  const absl::StatusOr<uint64_t> seed = ParseSeed(flags);
  if (!seed.ok()) return seed.status();
  const absl::StatusOr<TracePreset> preset = LoadTracePreset(flags.preset);
  if (!preset.ok()) return preset.status();
  int64_t rows = preset->rows;
  if (!flags.requests.empty()) {
    const absl::StatusOr<int64_t> count = ParseCount(flags.requests);
    if (!count.ok()) {
      return UsageError(absl::StrCat("--requests: ", count.status().message()));
    }
    rows = *count;
  }
  const absl::Status fits = CheckPresetRows(*preset, rows);
  if (!fits.ok()) {
    return UsageError(absl::StrCat("--requests: ", fits.message()));
  }
  PresetTrace trace(*preset, *seed, rows);
  return WriteAll(trace, /*has_sessions=*/false, flags, context);
}

absl::Status Synth(const Flags& flags, CommandContext& context) {
  if (!flags.preset.empty()) return SynthPreset(flags, context);
  const absl::StatusOr<SyntheticOptions> options = ToOptions(flags);
  if (!options.ok()) return options.status();
  SyntheticTrace trace(*options);
  return WriteAll(trace, trace.has_sessions(), flags, context);
}

}  // namespace

void AddSynthCommand(CLI::App& trace, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      AddCommand(trace, context, "synth",
                 "Make up a workload: agents with shared system prompts. The "
                 "same flags and seed give the same bytes.",
                 ServeArguments::kRefused,
                 [flags, &context] { return Synth(*flags, context); });
  command->add_option("--seed", flags->seed, "Any 64-bit number (1).");
  command->add_option(
      "--preset", flags->preset,
      absl::StrCat(
          "Make a trace like another: a file of `kvsim trace fit`, or ",
          absl::StrJoin(ShippedPresetNames(), ", "), "."));
  command->add_option("--requests", flags->requests,
                      "With --preset: how many (as many as its source has).");
  for (size_t i = 0; i < kNumNumberFlags; ++i) {
    command->add_option(kNumberFlags[i].name, flags->numbers[i],
                        kNumberFlags[i].help);
  }
  AddTraceOutputFlags(*command, flags->output);
}

}  // namespace kvsim
