// The durations of a recorded run, one per step.
//
// Model:      step i of the replay takes the i-th duration of the file,
// whatever
//             is in the batch. Only batches with tokens count as steps.
// File:       one duration a line: "19873us", "20 ms", or a bare number of
//             nanoseconds; blank lines and what follows a # are skipped.
// Errors:     a bad line is InvalidArgument with file, line and value. When the
//             durations run out, status() says so and the last one is repeated.
#ifndef KVSIM_SIM_RECORDED_COST_H_
#define KVSIM_SIM_RECORDED_COST_H_

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cost_model.h"

namespace kvsim {

class RecordedCost final : public CostModel {
 public:
  static absl::StatusOr<std::unique_ptr<RecordedCost>> Open(
      const std::string& path);
  // `name` stands for the file in messages.
  static absl::StatusOr<std::unique_ptr<RecordedCost>> Read(
      std::istream& in, const std::string& name);

  int64_t StepNs(const StepPlan& batch) override;
  absl::Status status() const override;

  int64_t num_durations() const {
    return static_cast<int64_t>(durations_ns_.size());
  }

 private:
  RecordedCost(std::string name, std::vector<int64_t> durations_ns,
               int64_t last_line)
      : name_(std::move(name)),
        durations_ns_(std::move(durations_ns)),
        last_line_(last_line) {}

  std::string name_;
  std::vector<int64_t> durations_ns_;
  int64_t last_line_;
  size_t next_ = 0;  // beyond the end once they ran out
};

}  // namespace kvsim

#endif  // KVSIM_SIM_RECORDED_COST_H_
