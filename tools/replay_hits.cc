#include "tools/replay_hits.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "base/units.h"
#include "sim/hits.h"
#include "sim/report.h"
#include "sim/report_text.h"
#include "tools/flag_reader.h"
#include "tools/replay_report.h"

namespace kvsim {
namespace {

constexpr int64_t kMaxBlockTokens = int64_t{1} << 31;

struct HitFlags {
  HitOptions options;
  Tokens block_size{512};
};

// Entries from --blocks, or from bytes.
absl::Status ReadBlocks(const ReplayFlags& flags, FlagReader& reader,
                        HitFlags* hits) {
  std::optional<Bytes> memory;
  int64_t bytes_per_token = 0;
  reader.Read("--blocks", flags.blocks, ParseCount, &hits->options.num_blocks);
  reader.Read("--kv-memory", flags.kv_memory, ParseBytes, &memory);
  reader.Read("--kv-bytes-per-token", flags.kv_bytes_per_token, ParseCount,
              &bytes_per_token);
  if (!reader.status().ok()) return reader.status();
  if (!flags.blocks.empty()) {
    if (!memory.has_value() && bytes_per_token == 0) return absl::OkStatus();
    return UsageError(
        "--blocks and --kv-memory with --kv-bytes-per-token say the same: "
        "give one of them");
  }
  if (!memory.has_value() || bytes_per_token <= 0 ||
      bytes_per_token > int64_t{1} << 30) {
    return UsageError(
        "--mode hits needs --blocks, or --kv-memory with --kv-bytes-per-token "
        "(1 to 2^30)");
  }
  hits->options.num_blocks =
      *memory / Bytes(bytes_per_token * hits->block_size.value());
  return absl::OkStatus();
}

absl::StatusOr<HitFlags> ReadHitFlags(const ReplayFlags& flags) {
  HitFlags hits;
  FlagReader reader;
  reader.Read("--policy", flags.policy, ParseHitPolicy, &hits.options.policy);
  ReadHitScope(flags, &reader, &hits.block_size, &hits.options.measured_share);
  if (!reader.status().ok()) return reader.status();
  const absl::Status status = ReadBlocks(flags, reader, &hits);
  if (!status.ok()) return status;
  return hits;
}

void AddSwitches(const ReplayFlags& flags, const HitReport& report,
                 Manifest* manifest) {
  AddSwitch("mode", "hits", manifest);
  AddSwitch("policy", report.policy(), manifest);
  AddSwitch("blocks", absl::StrCat(report.blocks()), manifest);
  AddSwitch("block-size", absl::StrCat(report.block_tokens()), manifest);
  AddSwitch("partial-tail", report.partial_tail(), manifest);
  AddSwitch("measure-last",
            flags.measure_last.empty() ? "100%" : flags.measure_last, manifest);
  AddSwitch("limit", flags.limit.empty() ? "none" : flags.limit, manifest);
}

}  // namespace

void ReadHitScope(const ReplayFlags& flags, FlagReader* reader,
                  Tokens* block_size, double* measured_share) {
  reader->Read("--block-size", flags.block_size, ParseTokens, block_size);
  reader->Read("--measure-last", flags.measure_last, ParseFraction,
               measured_share);
  if (*block_size < Tokens(1) || *block_size > Tokens(kMaxBlockTokens)) {
    reader->Refuse("--block-size", flags.block_size, "accepted: 1 to 2^31");
  }
}

absl::StatusOr<HitTrace> ReadHitTrace(TraceReader* reader,
                                      const TraceOptions& options,
                                      Tokens block_size) {
  if (options.continue_sessions &&
      options.partial_tail == PartialTail::kShared) {
    return UsageError(
        "--continue-sessions and --partial-tail shared both say what a "
        "partial block continues with: give one of them");
  }
  return HitTrace::Read(reader,
                        {.partial_tail = options.partial_tail,
                         .continue_sessions = options.continue_sessions},
                        block_size.value());
}

absl::Status ReplayHits(const ReplayFlags& flags,
                        const CommandContext& context) {
  const absl::StatusOr<HitFlags> hits = ReadHitFlags(flags);
  if (!hits.ok()) return hits.status();
  const absl::StatusOr<ReplayTraceOptions> trace_options =
      TraceOptionsOf(flags);
  if (!trace_options.ok()) return trace_options.status();
  const TraceOptions& options = trace_options->options;
  const absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.trace, options);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<HitTrace> trace =
      ReadHitTrace(reader->get(), options, hits->block_size);
  if (!trace.ok()) return trace.status();
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<HitResult> result = trace->Replay(hits->options);
  if (!result.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--blocks: ", result.status().message()));
  }
  HitReport report;
  report.set_wall_ns(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start)
          .count());
  report.set_policy(HitPolicyName(hits->options.policy));
  report.set_blocks(hits->options.num_blocks);
  report.set_block_tokens(hits->block_size.value());
  report.set_partial_tail(PartialTailName(options.partial_tail));
  FillHits(*result, &report);
  const absl::Status status =
      FillManifest(flags, context, report.mutable_manifest());
  if (!status.ok()) return status;
  report.mutable_manifest()->set_trace_format(
      TraceFormatName((*reader)->format()));
  AddSwitches(flags, report, report.mutable_manifest());
  PrintReport(flags, context, report, HitReportText(report));
  return absl::OkStatus();
}

}  // namespace kvsim
