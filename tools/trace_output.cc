#include "tools/trace_output.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/byte_sink.h"

namespace kvsim {
namespace {

absl::StatusOr<TraceFormat> OutputFormat(const TraceOutputFlags& flags) {
  const absl::StatusOr<TraceFormat> format = ParseTraceFormat(flags.to);
  if (!format.ok() ||
      (*format != TraceFormat::kMooncake && *format != TraceFormat::kKvsim)) {
    return UsageError(absl::StrCat("--to: found '", flags.to,
                                   "'; accepted: mooncake, kvsim"));
  }
  return format;
}

absl::StatusOr<std::unique_ptr<ByteSink>> OpenOutput(
    const TraceOutputFlags& flags, TraceFormat format,
    CommandContext& context) {
  const Compression compression =
      format == TraceFormat::kKvsim || flags.compress ? Compression::kZstd
                                                      : Compression::kNone;
  if (flags.output == "-") {
    return ByteSink::ToStream(context.out, "the standard output", compression);
  }
  return ByteSink::Open(flags.output, compression);
}

}  // namespace

void AddTraceOutputFlags(CLI::App& command, TraceOutputFlags& flags) {
  command
      .add_option("--output,output", flags.output,
                  "The file to write; - is the standard output.")
      ->required();
  command.add_option("--to", flags.to,
                     "kvsim (protobuf, zstd) or mooncake (JSONL).");
  command.add_flag("--zstd", flags.compress,
                   "Compress mooncake too; kvsim always is.");
}

absl::StatusOr<int64_t> WriteTrace(
    const TraceOutputFlags& flags, const std::string& input, bool has_sessions,
    bool keep_ids, CommandContext& context,
    const std::function<absl::StatusOr<int64_t>(TraceWriter&)>& write) {
  const absl::StatusOr<TraceFormat> format = OutputFormat(flags);
  if (!format.ok()) return format.status();
  std::error_code ignored;
  if (!input.empty() &&
      std::filesystem::equivalent(input, flags.output, ignored)) {
    return UsageError(absl::StrCat("--output: found the input itself, ",
                                   flags.output, "; accepted: another file"));
  }
  absl::StatusOr<std::unique_ptr<ByteSink>> sink =
      OpenOutput(flags, *format, context);
  if (!sink.ok()) return sink.status();
  std::unique_ptr<TraceWriter> writer =
      MakeTraceWriter({*format, has_sessions, keep_ids}, *std::move(sink));
  absl::StatusOr<int64_t> rows = write(*writer);
  writer.reset();
  if (!rows.ok() && std::filesystem::is_regular_file(flags.output, ignored)) {
    std::filesystem::remove(flags.output, ignored);
  }
  return rows;
}

}  // namespace kvsim
