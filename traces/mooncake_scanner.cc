#include "traces/mooncake_scanner.h"

#include <bit>
#include <cstring>
#include <limits>

#include "absl/base/attributes.h"

namespace kvsim {
namespace {

static_assert(std::endian::native == std::endian::little);

// A position in the line. Reads may go past the end, into the padding; what was
// read there is never accepted, because the end is checked last.
class Cursor {
 public:
  explicit Cursor(absl::string_view line)
      : at_(line.data()), end_(line.data() + line.size()) {}

  bool IsAtEnd() const { return at_ == end_; }

  ABSL_ATTRIBUTE_ALWAYS_INLINE void SkipSpace() {
    while (at_ < end_ &&
           (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) {
      ++at_;
    }
  }

  // Takes `c` and the white space around it.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Take(char c) {
    if (*at_ != c) SkipSpace();
    if (at_ >= end_ || *at_ != c) return false;
    ++at_;
    SkipSpace();
    return true;
  }

  // Takes a comma, in the one spelling that every known file uses.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool TakeCommaSpace() {
    if (at_[0] != ',' || at_[1] != ' ' || at_[2] <= ' ') return false;
    at_ += 2;
    return true;
  }

  // A string without escapes; *text excludes the quotes.
  bool TakeName(absl::string_view* text) {
    if (at_ >= end_ || *at_ != '"') return false;
    const char* const begin = ++at_;
    while (at_ < end_ && (*at_ == '_' || (*at_ >= 'a' && *at_ <= 'z'))) ++at_;
    *text = absl::string_view(begin, static_cast<size_t>(at_ - begin));
    return *at_ == '"' && Take('"');
  }

  // A non-negative integer as JSON writes it.
  bool TakeInteger(uint64_t* value) {
    Width width;
    return TakeInteger(&width, value);
  }

  // How many digits the number before had. Neighbours in a list of ids are
  // mostly as wide; a right guess lets the processor start on the next number
  // before this one's end is found.
  struct Width {
    int digits = 1;
    uint64_t end = 0x8000;      // the high bit of the byte behind the digits
    uint64_t through = 0x8080;  // the high bits of all bytes up to that

    void Set(int new_digits) {
      digits = new_digits;
      end = uint64_t{0x80} << (8 * digits);
      through = kHighBits >> (8 * (7 - digits));
    }
  };

  ABSL_ATTRIBUTE_ALWAYS_INLINE bool TakeInteger(Width* width, uint64_t* value) {
    const char* const begin = at_;
    uint64_t bytes = 0;
    std::memcpy(&bytes, at_, sizeof(bytes));
    bytes ^= 0x3030303030303030;  // '0'..'9' become 0..9
    // The high bit of the first byte above 9 is set (later ones may err).
    const uint64_t others = ((bytes + 0x7676767676767676) | bytes) & kHighBits;
    if ((others & width->through) == width->end) [[likely]] {
      at_ += width->digits;
    } else if (others == 0) {
      at_ += 8;
      *value = Number(bytes, 8);
      return *begin != '0' && TakeMoreDigits(value) && at_ <= end_;
    } else {
      width->Set(std::countr_zero(others) / 8);
      if (width->digits == 0) return false;
      at_ += width->digits;
    }
    *value = Number(bytes, width->digits);
    return (*begin != '0' || width->digits == 1) && at_ <= end_;
  }

 private:
  static constexpr uint64_t kHighBits = 0x8080808080808080;

  // The first `digits` bytes, each 0..9, as a decimal number.
  static uint64_t Number(uint64_t bytes, int digits) {
    bytes <<= 8 * (8 - digits);         // leading zeros
    bytes = bytes * 10 + (bytes >> 8);  // pairs
    constexpr uint64_t kPair = 0x000000ff000000ff;
    return ((bytes & kPair) * 0x000f424000000064 +
            ((bytes >> 16) & kPair) * 0x0000271000000001) >>
           32;
  }

  // Goes on behind eight digits. False when the number leaves 64 bits.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool TakeMoreDigits(uint64_t* number) {
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      const auto digit = static_cast<uint64_t>(*at_ - '0');
      if (*number > (kMax - digit) / 10) return false;
      *number = *number * 10 + digit;
    }
    return true;
  }

  const char* at_;
  const char* end_;
};

bool TakeIds(Cursor& cursor, std::vector<uint64_t>* ids) {
  if (!cursor.Take('[')) return false;
  Cursor here = cursor;  // a copy that can stay in registers
  Cursor::Width width;
  do {
    uint64_t id = 0;
    if (!here.TakeInteger(&width, &id)) return false;
    ids->push_back(id);
  } while (here.TakeCommaSpace() || here.Take(','));
  cursor = here;
  return cursor.Take(']');
}

bool TakeLength(Cursor& cursor, int64_t* length) {
  uint64_t value = 0;
  if (!cursor.TakeInteger(&value) ||
      value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  *length = static_cast<int64_t>(value);
  return true;
}

// Fields seen, as bits.
enum Field : unsigned {
  kUnknown = 0,
  kTimestamp = 1,
  kInputLength = 2,
  kOutputLength = 4,
  kHashIds = 8,
  kPriority = 16,
};
constexpr unsigned kRequired =
    kTimestamp | kInputLength | kOutputLength | kHashIds;

Field FieldOf(absl::string_view name) {
  if (name == "timestamp") return kTimestamp;
  if (name == "input_length") return kInputLength;
  if (name == "output_length") return kOutputLength;
  if (name == "hash_ids") return kHashIds;
  if (name == "priority") return kPriority;
  return kUnknown;
}

bool TakeField(Cursor& cursor, Field field, TraceRequest* request,
               uint64_t* timestamp_ms) {
  switch (field) {
    case kTimestamp:
      return cursor.TakeInteger(timestamp_ms);
    case kInputLength:
      return TakeLength(cursor, &request->input_length);
    case kOutputLength:
      return TakeLength(cursor, &request->output_length);
    case kPriority:
      return TakeLength(cursor, &request->priority);
    case kHashIds:
      return TakeIds(cursor, &request->hash_ids);
    case kUnknown:
      break;
  }
  return false;
}

}  // namespace

bool ScanMooncakeLine(absl::string_view line, TraceRequest* request,
                      uint64_t* timestamp_ms) {
  request->hash_ids.clear();
  Cursor cursor(line);
  cursor.SkipSpace();
  if (!cursor.Take('{')) return false;
  unsigned seen = 0;
  do {
    absl::string_view name;
    if (!cursor.TakeName(&name) || !cursor.Take(':')) return false;
    const Field field = FieldOf(name);
    if ((seen & field) != 0) return false;
    if (!TakeField(cursor, field, request, timestamp_ms)) return false;
    seen |= field;
  } while (cursor.Take(','));
  return cursor.Take('}') && cursor.IsAtEnd() &&
         (seen & kRequired) == kRequired;
}

}  // namespace kvsim
