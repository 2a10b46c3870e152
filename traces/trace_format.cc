#include "traces/trace_format.h"

#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "traces/first_record.h"
#include "traces/stream_magic.h"
#include "traces/trace_problem.h"

namespace kvsim {
namespace {

// True when the first line is a CSV header with all these columns. A quoted
// name does not matter here: the reader looks again.
bool HasColumns(const FirstRecord& record,
                std::initializer_list<absl::string_view> columns) {
  const std::vector<absl::string_view> found =
      absl::StrSplit(record.line(), ',');
  for (const absl::string_view column : columns) {
    bool is_there = false;
    for (const absl::string_view name : found) {
      is_there = is_there || name == column ||
                 name == absl::StrCat("\"", column, "\"");
    }
    if (!is_there) return false;
  }
  return true;
}

// True when the row's ids cover its prompt in blocks of this size.
bool IdsFit(const FirstRecord& record, int64_t block) {
  const std::optional<int64_t> length = record.Number("input_length");
  const std::optional<int64_t> ids = record.ListSize("hash_ids");
  if (!length.has_value() || !ids.has_value()) return false;
  return *ids == *length / block ||
         *ids == *length / block + (*length % block == 0 ? 0 : 1);
}

bool IsKvsim(const FirstRecord& record) {
  return record.raw().size() > kStreamMagicAt &&
         absl::StartsWith(record.raw().substr(kStreamMagicAt), kStreamMagic);
}

bool IsAzure(const FirstRecord& record) {
  return HasColumns(record, {"TIMESTAMP", "ContextTokens", "GeneratedTokens"});
}

bool IsBurstGpt(const FirstRecord& record) {
  return HasColumns(record, {"Timestamp", "Request tokens", "Response tokens"});
}

bool IsWeka(const FirstRecord& record) { return record.HasAny({"requests"}); }

bool IsKvEvents(const FirstRecord& record) {
  return absl::StartsWith(record.text(), "[") || record.HasAny({"events"});
}

bool IsDynamo(const FirstRecord& record) {
  return record.HasAny({"event_type"}) || record.HasAll({"timestamp", "event"});
}

bool IsLmcache(const FirstRecord& record) {
  return record.HasAny({"chunk_hashes"});
}

bool IsUcm(const FirstRecord& record) { return record.HasAny({"op_type"}); }

bool IsOpenAi(const FirstRecord& record) {
  return record.HasAny({"usage", "prompt_tokens"});
}

bool IsBailian(const FirstRecord& record) {
  return record.HasAll({"chat_id", "parent_chat_id"});
}

bool IsDynamoMooncake(const FirstRecord& record) {
  return record.HasAny({"input_tokens", "output_tokens", "created_time",
                        "delay_ms", "output_token_ids", "wait_for"});
}

bool IsAiperf(const FirstRecord& record) {
  return record.HasAny({"text_input"}) ||
         (record.HasAny({"input_length"}) && !record.HasAny({"hash_ids"}) &&
          !record.HasAny({"block_size"}));
}

bool IsKvcacheAi(const FirstRecord& record) {
  return record.HasAll({"block_size", "hash_ids", "input_length"}) &&
         !record.HasAll({"timestamp", "output_length"});
}

bool IsTimedTrace(const FirstRecord& record) {
  return !record.HasAny({"block_size"}) && !IdsFit(record, 512) &&
         IdsFit(record, 16);
}

bool IsMooncake(const FirstRecord& record) {
  return record.HasAny({"input_length", "timestamp", "hash_ids"});
}

struct FormatInfo {
  TraceFormat format;
  const char* name;
  const char* looks_like;
  bool (*detect)(const FirstRecord& record);  // null: must be named
};

// In the order in which the detectors are asked.
constexpr FormatInfo kFormats[] = {
    {TraceFormat::kWeka, "weka", "a JSON object with `requests`", IsWeka},
    {TraceFormat::kKvsim, "kvsim", "kvsim's own stream", IsKvsim},
    {TraceFormat::kAzure, "azure",
     "CSV with TIMESTAMP, ContextTokens, GeneratedTokens", IsAzure},
    {TraceFormat::kBurstGpt, "burstgpt",
     "CSV with Timestamp, Request tokens, Response tokens", IsBurstGpt},
    {TraceFormat::kBailian, "bailian",
     "JSON lines with `chat_id` and `parent_chat_id`", IsBailian},
    {TraceFormat::kDynamo, "dynamo", "JSON lines with `event_type`", IsDynamo},
    {TraceFormat::kLmcache, "lmcache", "JSON lines with `chunk_hashes`",
     IsLmcache},
    {TraceFormat::kUcm, "ucm", "JSON lines with `op_type`", IsUcm},
    {TraceFormat::kKvEvents, "kv-events",
     "JSON lines `[time, [event, ...], rank]`", IsKvEvents},
    {TraceFormat::kOpenAi, "openai", "JSON lines with `usage`", IsOpenAi},
    {TraceFormat::kDynamoMooncake, "dynamo-mooncake",
     "Mooncake lines with `input_tokens`, `created_time` or `delay_ms`",
     IsDynamoMooncake},
    {TraceFormat::kKvcacheAi, "kvcache-ai",
     "Mooncake lines with `block_size` and without times", IsKvcacheAi},
    {TraceFormat::kAiperf, "aiperf", "Mooncake lines without `hash_ids`",
     IsAiperf},
    {TraceFormat::kTimedTrace, "timed-trace",
     "Mooncake lines of 16 tokens per id", IsTimedTrace},
    {TraceFormat::kMooncakeDelta, "mooncake-delta",
     "Mooncake lines that say what a turn adds; must be named", nullptr},
    {TraceFormat::kMooncake, "mooncake",
     "JSON lines with `input_length` and `hash_ids`", IsMooncake},
};

}  // namespace

absl::StatusOr<TraceFormat> ParseTraceFormat(absl::string_view text) {
  if (text == "auto") return TraceFormat::kAuto;
  for (const FormatInfo& info : kFormats) {
    if (text == info.name) return info.format;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", Excerpt(text), "; accepted: auto, ", TraceFormatNames()));
}

std::string TraceFormatNames() {
  std::string names;
  for (const FormatInfo& info : kFormats) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", info.name);
  }
  return names;
}

const char* TraceFormatName(TraceFormat format) {
  for (const FormatInfo& info : kFormats) {
    if (info.format == format) return info.name;
  }
  return format == TraceFormat::kAuto ? "auto" : "unknown";
}

TraceFormat DetectTraceFormat(absl::string_view begin) {
  const FirstRecord record(begin);
  for (const FormatInfo& info : kFormats) {
    if (info.detect != nullptr && info.detect(record)) return info.format;
  }
  return TraceFormat::kAuto;
}

std::string AcceptedTraceFormats() {
  std::string text;
  for (const FormatInfo& info : kFormats) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", info.name, " (",
                    info.looks_like, ")");
  }
  return text;
}

}  // namespace kvsim
