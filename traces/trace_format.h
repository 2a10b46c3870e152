// The trace formats that kvsim reads: their names and how content tells them.
//
// Model:      one table. Each format has a name for --trace-format, a sentence
//             for messages, and a detector that looks at the first record. The
//             first detector that agrees wins, so special shapes stand before
//             general ones. Formats whose rows look like another's (other
//             units, other meaning of a length) have no detector: they must be
//             named.
#ifndef KVSIM_TRACES_TRACE_FORMAT_H_
#define KVSIM_TRACES_TRACE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

enum class TraceFormat : uint8_t {
  kAuto,            // told by the content
  kMooncake,        // JSONL, one request a line
  kWeka,            // JSON, one conversation a file; a file or a folder of them
  kKvsim,           // kvsim's own protobuf stream
  kAzure,           // CSV of token counts
  kBurstGpt,        // CSV of token counts, with conversations
  kBailian,         // JSONL, chats with parents, 16 tokens per id
  kKvcacheAi,       // Mooncake rows of any block size, without times
  kDynamoMooncake,  // Mooncake rows with Dynamo's names
  kAiperf,          // Mooncake rows without ids, times or outputs
  kMooncakeDelta,   // Mooncake rows that name what a turn adds
  kTimedTrace,      // vLLM's benchmark: seconds, 16 tokens per id, any names
  kDynamo,          // Dynamo's request trace, one event a line
  kLmcache,         // LMCache's log of look-ups
  kUcm,             // UCM's log of operations
  kKvEvents,        // vLLM's KV-event batches
  kOpenAi,          // answers of an OpenAI-style API: token counts
};

// "auto" or a name of the table. An error names the value found and what would
// be accepted.
absl::StatusOr<TraceFormat> ParseTraceFormat(absl::string_view text);
const char* TraceFormatName(TraceFormat format);

// The format of a file that begins with `begin`; kAuto when none is known.
// Costs: one pass over the first record.
TraceFormat DetectTraceFormat(absl::string_view begin);

// Every format's name: "weka, kvsim, ...".
std::string TraceFormatNames();

// "azure (CSV with ...); burstgpt (...": what an error message may promise.
std::string AcceptedTraceFormats();

}  // namespace kvsim

#endif  // KVSIM_TRACES_TRACE_FORMAT_H_
