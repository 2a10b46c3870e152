// Numbers as people read and type them, always with their unit.
//
// Units:   GiB is 2^30 bytes and is what every report prints. GB is 10^9 bytes
//          and is printed only where a vendor's figure is quoted, but is read
//          wherever a size is read. Bare K, M, G are refused for bytes, where
//          they could mean either, and are binary for tokens: a model card's
//          128K is 131,072 and its 1M is 1,048,576.
// Method:  integers throughout; one rounding, halves away from zero. The same
//          text on every compiler.
// Errors:  a parser's message quotes the value and says what it would accept.
//          The caller puts the flag, file or field in front of it.

#ifndef KVSIM_BASE_TEXT_H_
#define KVSIM_BASE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"

namespace kvsim {

// "1,234,567"; "-1,000".
std::string FormatCount(int64_t count);

// numerator / denominator with `decimals` digits: (2, 3, 2) gives "0.67".
// REQUIRES: denominator > 0, 0 <= decimals <= 9.
std::string FormatRatio(int64_t numerator, int64_t denominator, int decimals);

// "33.3 %"; "n/a" when `whole` is 0. REQUIRES: whole >= 0, decimals <= 7.
std::string FormatPercent(int64_t part, int64_t whole, int decimals = 1);

// What people read bytes in: powers of 1024 (KiB, MiB, GiB), as engines print
// them, or powers of 1000 (kB, MB, GB).
enum class ByteUnits { kBinary, kDecimal };

// In the largest unit that leaves at least 1: "512 B", "27.00 KiB", "35.44 GiB";
// decimal: "38.05 GB".
std::string FormatBytes(Bytes bytes, ByteUnits units = ByteUnits::kBinary);

// Always in GiB, for columns: "0.05 GiB".
std::string FormatGiB(Bytes bytes, int decimals = 2);

// Always in GiB, or in GB, for columns.
std::string FormatGiga(Bytes bytes, ByteUnits units, int decimals = 2);

// Always in GB = 10^9 bytes: "141.00 GB". Only beside a vendor's figure.
std::string FormatGB(Bytes bytes, int decimals = 2);

// In the largest unit that leaves at least 1: "950 ns", "1.50 us", "20.00 ms",
// "2.50 s"; from one minute on "1 min 05 s", from one hour on "2 h 03 min".
std::string FormatDuration(SimTime time);

// A plain count without unit: "131072", "1,048,576". Commas may only separate
// thousands.
absl::StatusOr<int64_t> ParseCount(absl::string_view text);

// Bytes: a decimal number and a unit, which may be missing (bytes) and may
// follow a space: "33.35GiB", "141 GB", "1.56TB", "4096".
absl::StatusOr<Bytes> ParseBytes(absl::string_view text);

// Tokens: a count as ParseCount reads it, or a decimal number with K (2^10) or
// M (2^20): "131072", "128K", "1M", "1.5M". Lower case is refused, because
// engines read 128k as 128,000.
absl::StatusOr<Tokens> ParseTokens(absl::string_view text);

// Time: a decimal number with ns, us, ms, s, min or h: "20ms", "1.5 s".
absl::StatusOr<SimTime> ParseDuration(absl::string_view text);

// A share of a whole, "50%" or "0.5", as a double in [0, 1].
absl::StatusOr<double> ParseFraction(absl::string_view text);

}  // namespace kvsim

#endif  // KVSIM_BASE_TEXT_H_
