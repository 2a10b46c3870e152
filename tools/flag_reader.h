// Reads flags' texts one after the other and keeps the first error.
//
//   FlagReader reader;
//   reader.Read("--block-size", flags.block_size, ParseTokens, &block_size);
//   if (!reader.status().ok()) return reader.status();
//
// Every error has the form "--flag 'value': what would be accepted".

#ifndef KVSIM_TOOLS_FLAG_READER_H_
#define KVSIM_TOOLS_FLAG_READER_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kvsim {

class FlagReader {
 public:
  const absl::Status& status() const { return status_; }

  // Leaves *out alone when the flag is not given (an empty text) or an error
  // came before.
  template <typename T, typename Out>
  void Read(absl::string_view flag, const std::string& text,
            absl::StatusOr<T> (*parse)(absl::string_view), Out* out) {
    if (text.empty() || !status_.ok()) return;
    absl::StatusOr<T> value = parse(text);
    if (value.ok()) {
      *out = *std::move(value);
    } else {
      Refuse(flag, text, value.status().message());
    }
  }

  void Refuse(absl::string_view flag, absl::string_view text,
              absl::string_view reason) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(flag, " '", text, "': ", reason));
  }

 private:
  absl::Status status_;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FLAG_READER_H_
