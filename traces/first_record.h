// The beginning of a file as a format's detector sees it.
//
// Model:      the first line, and, when the text begins with a JSON object, the
//             fields of that object as far as they are there: the object may
//             span lines, may be cut off, and need not be sound.
// Costs:      one pass over the first record.
// Ownership:  points into the text, which must outlive it.
#ifndef KVSIM_TRACES_FIRST_RECORD_H_
#define KVSIM_TRACES_FIRST_RECORD_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace kvsim {

class FirstRecord {
 public:
  explicit FirstRecord(absl::string_view begin);

  absl::string_view raw() const { return raw_; }
  // From the first character that is not white space.
  absl::string_view text() const { return text_; }
  // The first line of text(), without its end.
  absl::string_view line() const;

  // True when the outermost object has a field of one of these names.
  bool HasAny(std::initializer_list<absl::string_view> names) const;
  bool HasAll(std::initializer_list<absl::string_view> names) const;

  // How many elements a list has; nothing when it is no complete list.
  std::optional<int64_t> ListSize(absl::string_view name) const;
  // A natural number.
  std::optional<int64_t> Number(absl::string_view name) const;

 private:
  struct Field {
    absl::string_view name;
    absl::string_view value;  // as written; may be cut off
  };

  const Field* Find(absl::string_view name) const;
  void ScanObject();

  absl::string_view raw_;
  absl::string_view text_;
  std::vector<Field> fields_;
};

}  // namespace kvsim

#endif  // KVSIM_TRACES_FIRST_RECORD_H_
