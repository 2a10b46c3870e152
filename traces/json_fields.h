// Reads the fields of one JSON object and remembers what was wrong with them.
//
// Model:      a reader asks for every field it knows by name, type and range; a
//             value that does not fit becomes a TraceProblem with the field's
//             path, and the caller goes on, so that one pass finds all
//             problems. Unknown fields are ignored: dialects add their own.
// Threads:    one. Costs: a scan over the object's keys per field.
#ifndef KVSIM_TRACES_JSON_FIELDS_H_
#define KVSIM_TRACES_JSON_FIELDS_H_

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/trace_problem.h"

namespace kvsim {

class JsonFields {
 public:
  // `place` is the file and line of every problem; `prefix` stands before each
  // field name ("requests[3]."). Fields that appear twice become problems here.
  // REQUIRES: *problems and the document outlive this.
  JsonFields(simdjson::dom::object object, const TraceProblem& place,
             std::string prefix, std::vector<TraceProblem>* problems);

  // The field, or nothing when it is missing. null counts as missing.
  std::optional<simdjson::dom::element> Find(absl::string_view name) const;

  // An integer in [min, max]. A wrong or missing value is a problem that quotes
  // `accepted`; the result is then `min`.
  int64_t Integer(absl::string_view name, int64_t min, int64_t max,
                  absl::string_view accepted);
  // The same, but a missing field is `fallback` and no problem.
  int64_t OptionalInteger(absl::string_view name, int64_t min, int64_t max,
                          int64_t fallback, absl::string_view accepted);

  // A list of unsigned 64-bit integers.
  void Ids(absl::string_view name, std::vector<uint64_t>* ids);

  // A list of hashes: hexadecimal text (hash_name.h) or integers of 64 bits;
  // negative ones are the unsigned numbers of the same bits.
  void HashNames(absl::string_view name, std::vector<uint64_t>* ids);

  // A time >= 0 in nanoseconds, integer or decimal in the file. Milliseconds
  // are rounded to whole microseconds, seconds to whole nanoseconds (from 2^22
  // on, as in times since 1970, to microseconds), halves to even.
  int64_t Milliseconds(absl::string_view name);
  int64_t Seconds(absl::string_view name);
  std::optional<int64_t> OptionalMilliseconds(absl::string_view name);
  std::optional<int64_t> OptionalSeconds(absl::string_view name);

  // The same in units of unit_ns nanoseconds, rounded to whole nanoseconds.
  // REQUIRES: unit_ns > 0.
  std::optional<int64_t> OptionalTime(absl::string_view name, int64_t unit_ns);

  // A string or an integer, as text; "" when it is missing.
  std::string OptionalName(absl::string_view name);
  // An object inside this one. Nothing when it is missing, and nothing with a
  // problem when it is something else.
  std::optional<simdjson::dom::object> OptionalObject(absl::string_view name);

  // The first of the names that the object has; the first one when it has none.
  // REQUIRES: there is a name.
  std::string OneOf(const std::vector<std::string>& names) const;

  // Adds a problem with this object's place.
  void AddProblem(absl::string_view name, std::string found,
                  absl::string_view accepted);
  void AddMissing(absl::string_view name, absl::string_view accepted);

 private:
  std::optional<int64_t> Time(absl::string_view name, bool is_seconds);

  simdjson::dom::object object_;
  TraceProblem place_;
  std::string prefix_;
  std::vector<TraceProblem>* problems_;
};

// The id of one hash as HashNames reads it; nothing when it is none.
std::optional<uint64_t> HashId(simdjson::dom::element value);

// What is wrong with a text that does not parse: where the first bad value or
// byte stands. `error` is what the parser said.
TraceProblem DescribeJsonError(absl::string_view text,
                               simdjson::error_code error,
                               const TraceProblem& place);

}  // namespace kvsim

#endif  // KVSIM_TRACES_JSON_FIELDS_H_
