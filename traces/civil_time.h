// Times of day as logs write them.
#ifndef KVSIM_TRACES_CIVIL_TIME_H_
#define KVSIM_TRACES_CIVIL_TIME_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kvsim {

// Nanoseconds since 1970, in UTC, of "2023-11-16 18:15:46.6805900": a space or
// a T between date and time, no, or up to nine, digits behind the point, and at
// the end nothing, Z, or an offset such as +00:00. Nothing when the text is not
// of that form, names a day or time that does not exist, or is not from 1970 to
// 2043 (kMaxTraceTimeNs). No leap seconds.
std::optional<int64_t> ParseCivilTime(absl::string_view text);

inline constexpr char kAcceptedCivilTime[] =
    "a time such as 2023-11-16 18:15:46.6805900, from 1970 to 2043";

}  // namespace kvsim

#endif  // KVSIM_TRACES_CIVIL_TIME_H_
