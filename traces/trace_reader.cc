#include "traces/trace_reader.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/azure_rows.h"
#include "traces/bailian_rows.h"
#include "traces/burstgpt_rows.h"
#include "traces/byte_source.h"
#include "traces/delta_rows.h"
#include "traces/dynamo_rows.h"
#include "traces/kv_event_rows.h"
#include "traces/lookup_rows.h"
#include "traces/mooncake_dialects.h"
#include "traces/mooncake_reader.h"
#include "traces/openai_rows.h"
#include "traces/row_reader.h"
#include "traces/stream_reader.h"
#include "traces/weka_reader.h"
#include "traces/wrapped_reader.h"

namespace kvsim {
namespace {

// How far the content is looked at to tell its format.
constexpr size_t kPeekBytes = 64 * 1024;

// Applies TraceOptions::limit and rate_scale to any reader.
class AdjustedReader final : public WrappedReader {
 public:
  AdjustedReader(std::unique_ptr<TraceReader> reader,
                 const TraceOptions& options)
      : WrappedReader(std::move(reader)),
        scale_(options.rate_scale),
        rows_left_(options.limit) {}

  absl::StatusOr<bool> Next(TraceRequest* row) override {
    if (rows_left_ == 0) return false;
    absl::StatusOr<bool> found = inner().Next(row);
    if (!found.ok() || !*found) return found;
    if (rows_left_.has_value()) --*rows_left_;
    row->arrival_ns = scale_.Apply(row->arrival_ns);
    return true;
  }

 private:
  RateScale scale_;
  std::optional<int64_t> rows_left_;
};

absl::StatusOr<TraceFormat> DetectFormat(ByteSource& source) {
  const absl::StatusOr<absl::string_view> begin = source.Peek(kPeekBytes);
  if (!begin.ok()) return begin.status();
  const TraceFormat format = DetectTraceFormat(*begin);
  if (format != TraceFormat::kAuto) return format;
  const std::string found =
      begin->find_first_not_of(" \t\r\n") == absl::string_view::npos
          ? "no data"
          : Excerpt(*begin);
  return absl::InvalidArgumentError(absl::StrCat(
      source.path(), ": found ", found,
      ", which is no trace that kvsim knows; accepted: ",
      AcceptedTraceFormats(),
      "; --trace-format says which when the first lines are damaged"));
}

// The decoder of a format of one record a line; null for the others.
std::unique_ptr<RowDecoder> MakeDecoder(TraceFormat format,
                                        const TraceOptions& options) {
  switch (format) {
    case TraceFormat::kAzure:
      return std::make_unique<AzureRows>();
    case TraceFormat::kBurstGpt:
      return std::make_unique<BurstGptRows>();
    case TraceFormat::kBailian:
      return std::make_unique<BailianRows>();
    case TraceFormat::kKvcacheAi:
      return std::make_unique<MooncakeDialectRows>(KvcacheAiDialect());
    case TraceFormat::kDynamoMooncake:
      return std::make_unique<MooncakeDialectRows>(DynamoMooncakeDialect());
    case TraceFormat::kAiperf:
      return std::make_unique<MooncakeDialectRows>(AiperfDialect());
    case TraceFormat::kTimedTrace:
      return std::make_unique<MooncakeDialectRows>(
          TimedTraceDialect(options.timed_trace));
    case TraceFormat::kMooncakeDelta:
      return std::make_unique<DeltaRows>();
    case TraceFormat::kDynamo:
      return std::make_unique<DynamoRows>();
    case TraceFormat::kLmcache:
      return std::make_unique<LookupRows>(LmcacheLog());
    case TraceFormat::kUcm:
      return std::make_unique<LookupRows>(UcmLog());
    case TraceFormat::kKvEvents:
      return std::make_unique<KvEventRows>();
    case TraceFormat::kOpenAi:
      return std::make_unique<OpenAiRows>();
    case TraceFormat::kAuto:
    case TraceFormat::kMooncake:
    case TraceFormat::kWeka:
    case TraceFormat::kKvsim:
      break;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenFile(
    const std::string& path, const TraceOptions& options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  TraceFormat format = options.format;
  if (format == TraceFormat::kAuto) {
    const absl::StatusOr<TraceFormat> detected = DetectFormat(**source);
    if (!detected.ok()) return detected.status();
    format = *detected;
  }
  if (std::unique_ptr<RowDecoder> decoder = MakeDecoder(format, options)) {
    return RowReader::Open(*std::move(source), std::move(decoder), format,
                           options.allow_disorder);
  }
  if (format == TraceFormat::kWeka) {
    return WekaReader::OpenFile(*std::move(source));
  }
  if (format == TraceFormat::kKvsim) {
    return StreamReader::Open(*std::move(source), options.allow_disorder);
  }
  return MooncakeReader::Open(*std::move(source), options.allow_disorder);
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenAny(
    const std::string& path, const TraceOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    return OpenFile(path, options);
  }
  if (options.format != TraceFormat::kAuto &&
      options.format != TraceFormat::kWeka) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found a folder; accepted for the format ",
                     TraceFormatName(options.format), ": one file"));
  }
  return WekaReader::OpenFolder(path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceReader>> OpenTrace(
    const std::string& path, const TraceOptions& options) {
  absl::StatusOr<std::unique_ptr<TraceReader>> reader = OpenAny(path, options);
  if (!reader.ok()) return reader;
  return std::unique_ptr<TraceReader>(
      std::make_unique<AdjustedReader>(*std::move(reader), options));
}

}  // namespace kvsim
