// A trace written by hand, for tests of what reads traces.
#ifndef KVSIM_SIM_VECTOR_TRACE_READER_H_
#define KVSIM_SIM_VECTOR_TRACE_READER_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/trace_reader.h"

namespace kvsim {

class VectorTraceReader final : public TraceReader {
 public:
  // Numbers the rows from 0.
  explicit VectorTraceReader(std::vector<TraceRequest> rows)
      : rows_(std::move(rows)) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].id = static_cast<int64_t>(i);
    }
  }

  absl::StatusOr<bool> Next(TraceRequest* row) override {
    if (next_ == rows_.size()) return false;
    *row = rows_[next_++];
    return true;
  }
  std::span<const TraceProblem> problems() const override { return {}; }
  bool can_continue() const override { return false; }
  TraceFormat format() const override { return TraceFormat::kMooncake; }
  bool has_sessions() const override { return false; }

 private:
  std::vector<TraceRequest> rows_;
  size_t next_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_SIM_VECTOR_TRACE_READER_H_
