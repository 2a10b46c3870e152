#include "traces/mooncake_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/mooncake_row.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

// Milliseconds with as many decimals as whole microseconds need.
void AppendMilliseconds(int64_t time_ns, std::string* line) {
  const int64_t us = time_ns / 1000 + (time_ns % 1000 >= 500 ? 1 : 0);
  absl::StrAppend(line, us / 1000);
  const int64_t rest = us % 1000;
  if (rest != 0) {
    absl::StrAppend(line, ".", absl::Dec(rest, absl::kZeroPad3));
    while (line->back() == '0') line->pop_back();
  }
}

// A row without ids becomes one block (or very few) of its own.
int64_t WrittenHashBlock(const TraceRequest& row) {
  if (row.hash_block > 0) return row.hash_block;
  return std::clamp(row.input_length, kMooncakeHashBlock, kMaxHashBlock);
}

}  // namespace

MooncakeWriter::MooncakeWriter(const TraceWriterOptions& options,
                               std::unique_ptr<ByteSink> sink)
    : options_(options), sink_(std::move(sink)) {}

absl::Status MooncakeWriter::Write(const TraceRequest& row) {
  const int64_t hash_block = WrittenHashBlock(row);
  line_ = "{\"timestamp\": ";
  AppendMilliseconds(row.arrival_ns, &line_);
  absl::StrAppend(&line_, ", \"input_length\": ", row.input_length,
                  ", \"output_length\": ", row.output_length,
                  ", \"hash_ids\": [");
  if (options_.keep_ids) {
    AppendIds(row);
  } else {
    AppendRenumbered(row, hash_block);
  }
  line_ += ']';
  if (hash_block != kMooncakeHashBlock) {
    absl::StrAppend(&line_, ", \"block_size\": ", hash_block);
  }
  if (row.priority != 0) {
    absl::StrAppend(&line_, ", \"priority\": ", row.priority);
  }
  AppendSession(row);
  line_ += "}\n";
  return sink_->Append(line_);
}

void MooncakeWriter::AppendIds(const TraceRequest& row) {
  const char* separator = "";
  for (const uint64_t id : row.hash_ids) {
    absl::StrAppend(&line_, separator, id);
    separator = ", ";
  }
}

void MooncakeWriter::AppendRenumbered(const TraceRequest& row,
                                      int64_t hash_block) {
  const char* separator = "";
  for (const uint64_t id : row.hash_ids) {
    const auto [it, is_new] =
        numbers_.try_emplace(std::pair(row.scope, id), next_number_);
    if (is_new) ++next_number_;
    absl::StrAppend(&line_, separator, it->second);
    separator = ", ";
  }
  // Blocks without an id: the tail of a row with whole blocks only, or all
  // blocks of a row without ids.
  const int64_t covered =
      static_cast<int64_t>(row.hash_ids.size()) * hash_block;
  for (int64_t at = covered; at < row.input_length; at += hash_block) {
    absl::StrAppend(&line_, separator, next_number_++);
    separator = ", ";
  }
}

void MooncakeWriter::AppendSession(const TraceRequest& row) {
  if (row.session >= 0) {
    absl::StrAppend(&line_, ", \"session_id\": ", row.session);
    if (row.think_time_ns > 0) {
      line_ += ", \"delay\": ";
      AppendMilliseconds(row.think_time_ns, &line_);
    }
  } else if (options_.has_sessions && row.id == 0) {
    line_ += ", \"session_id\": null";  // announces the sessions behind it
  }
}

absl::Status MooncakeWriter::Finish() { return sink_->Close(); }

}  // namespace kvsim
