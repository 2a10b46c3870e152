// The values of a serve command's flags, read one after the other.
//
// Model:   a flag that is not given leaves its field alone; the first value
//          that cannot be read is the error, and nothing is read after it.
// Errors:  those of GivenFlag::Refuse: place, flag, value, what is accepted.
// Ownership: refers to the command, which must outlive it.

#ifndef KVSIM_ENGINES_SERVE_VALUES_H_
#define KVSIM_ENGINES_SERVE_VALUES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engines/serve_flags.h"

namespace kvsim {

// "8192", "-1". Errors: the problem alone.
absl::StatusOr<int64_t> ParseServeInteger(absl::string_view text);
// "0.9", "1e-3". Errors: the problem alone.
absl::StatusOr<double> ParseServeNumber(absl::string_view text);
// Accepts every text.
absl::StatusOr<std::string> ParseServeText(absl::string_view text);

// What people read of a setting that kvsim passes over, and of every flag of the
// command that is one.
std::string UnmodelledWarning(absl::string_view setting);
void WarnOfUnmodelled(const ServeCommand& command,
                      std::vector<std::string>* warnings);

class ServeValues {
 public:
  explicit ServeValues(const ServeCommand& command) : command_(command) {}

  const absl::Status& status() const { return status_; }

  // `name` is the flag's first spelling; the last value counts.
  template <typename T, typename Out>
  void Read(absl::string_view name,
            absl::StatusOr<T> (*parse)(absl::string_view), Out* out) {
    const GivenFlag* given = command_.Find(name);
    if (given == nullptr || given->values.empty() || !status_.ok()) return;
    absl::StatusOr<T> value = parse(given->values[0]);
    if (value.ok()) {
      *out = *std::move(value);
    } else {
      status_ = given->Refuse(value.status().message());
    }
  }

  template <typename Out>
  void Integer(absl::string_view name, Out* out) {
    Read(name, ParseServeInteger, out);
  }
  template <typename Out>
  void Number(absl::string_view name, Out* out) {
    Read(name, ParseServeNumber, out);
  }
  void Text(absl::string_view name, std::string* out) {
    Read(name, ParseServeText, out);
  }
  // On or off when given.
  void Switch(absl::string_view name, bool* out) {
    *out = command_.IsOn(name, *out);
  }

 private:
  const ServeCommand& command_;
  absl::Status status_;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_SERVE_VALUES_H_
