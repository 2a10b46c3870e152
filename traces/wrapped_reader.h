// A reader around another that changes its rows and nothing else.
#ifndef KVSIM_TRACES_WRAPPED_READER_H_
#define KVSIM_TRACES_WRAPPED_READER_H_

#include <memory>
#include <span>
#include <utility>

#include "traces/trace_reader.h"

namespace kvsim {

class WrappedReader : public TraceReader {
 public:
  std::span<const TraceProblem> problems() const final {
    return reader_->problems();
  }
  bool can_continue() const final { return reader_->can_continue(); }
  TraceFormat format() const final { return reader_->format(); }
  bool has_sessions() const final { return reader_->has_sessions(); }

 protected:
  explicit WrappedReader(std::unique_ptr<TraceReader> reader)
      : reader_(std::move(reader)) {}

  TraceReader& inner() { return *reader_; }

 private:
  std::unique_ptr<TraceReader> reader_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_WRAPPED_READER_H_
