#include "traces/trace_writer.h"

#include <utility>

#include "base/check.h"
#include "traces/mooncake_writer.h"
#include "traces/stream_writer.h"

namespace kvsim {

std::unique_ptr<TraceWriter> MakeTraceWriter(const TraceWriterOptions& options,
                                             std::unique_ptr<ByteSink> sink) {
  if (options.format == TraceFormat::kMooncake) {
    return std::make_unique<MooncakeWriter>(options, std::move(sink));
  }
  KVSIM_CHECK(options.format == TraceFormat::kKvsim)
      << TraceFormatName(options.format);
  return std::make_unique<StreamWriter>(options, std::move(sink));
}

}  // namespace kvsim
