#include "models/gguf_header.h"

#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

constexpr absl::string_view kMagic = "GGUF";
constexpr uint64_t kLongestKey = 65535;     // the specification's limit
constexpr uint64_t kLongestText = 1 << 24;  // templates are long
constexpr uint64_t kMostPairs = 1 << 16;
constexpr uint64_t kMostKeptEntries = 1 << 16;  // lists per layer are short

enum GgufType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// Bytes of one scalar; 0 for a type without a fixed size.
uint64_t SizeOf(uint32_t type) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kBool:
      return 1;
    case kUint16:
    case kInt16:
      return 2;
    case kUint32:
    case kInt32:
    case kFloat32:
      return 4;
    case kUint64:
    case kInt64:
    case kFloat64:
      return 8;
    default:
      return 0;
  }
}

bool IsInteger(uint32_t type) {
  return SizeOf(type) > 0 && type != kFloat32 && type != kFloat64;
}

// Reads from the front of the bytes; the first failure stays.
class Cursor {
 public:
  Cursor(absl::string_view bytes, absl::string_view name)
      : bytes_(bytes), name_(name) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  uint64_t left() const { return bytes_.size() - at_; }

  void Fail(absl::string_view what) {
    if (!ok()) return;
    status_ = absl::InvalidArgumentError(absl::StrCat(
        name_, ": byte ", at_, key_.empty() ? "" : absl::StrCat(", key ", key_),
        ": ", what));
  }

  void set_key(absl::string_view key) { key_ = std::string(key); }

  absl::string_view Take(uint64_t count, absl::string_view what) {
    if (!ok()) return {};
    if (count > left()) {
      Fail(absl::StrCat(what, " of ", count, " bytes, but only ", left(),
                        " are left; accepted: a whole GGUF header"));
      return {};
    }
    const absl::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  uint64_t Unsigned(uint64_t size) {
    uint64_t value = 0;
    const absl::string_view taken = Take(size, "a number");
    for (size_t i = taken.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(taken[i]);
    }
    return value;
  }

  absl::string_view Text(uint64_t longest, absl::string_view what) {
    const uint64_t length = Unsigned(8);
    if (ok() && length > longest) {
      Fail(absl::StrCat(what, " of ", length, " bytes; accepted: at most ",
                        longest));
    }
    return Take(length, what);
  }

  int64_t Integer(uint32_t type) {
    const uint64_t bits = Unsigned(SizeOf(type));
    switch (type) {
      case kInt8:
        return static_cast<int8_t>(bits);
      case kInt16:
        return static_cast<int16_t>(bits);
      case kInt32:
        return static_cast<int32_t>(bits);
      case kUint64:
        if (bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
          Fail(absl::StrCat("is ", bits, "; accepted: numbers below 2^63"));
          return 0;
        }
        break;
      default:
        break;
    }
    return static_cast<int64_t>(bits);
  }

 private:
  absl::string_view bytes_;
  std::string name_;
  std::string key_;
  size_t at_ = 0;
  absl::Status status_;
};

GgufValue ReadIntegers(uint32_t type, uint64_t count, Cursor& cursor) {
  std::vector<int64_t> entries;
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    entries.push_back(cursor.Integer(type));
  }
  return entries;
}

// Lists of integers that may describe layers are kept, others passed over.
GgufValue ReadList(Cursor& cursor) {
  const auto type = static_cast<uint32_t>(cursor.Unsigned(4));
  const uint64_t count = cursor.Unsigned(8);
  if (!cursor.ok()) return GgufListLength();
  // Even an empty text has a length of 8 bytes in front.
  const uint64_t least = type == kString ? 8 : SizeOf(type);
  if (least == 0) {
    cursor.Fail(absl::StrCat("a list of type ", type,
                             "; accepted: lists of numbers or texts"));
    return GgufListLength();
  }
  if (count > cursor.left() / least) {
    cursor.Fail(absl::StrCat("a list of ", count, " entries, but only ",
                             cursor.left(), " bytes are left"));
    return GgufListLength();
  }
  if (IsInteger(type) && count <= kMostKeptEntries) {
    return ReadIntegers(type, count, cursor);
  }
  if (type == kString) {
    for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
      cursor.Text(kLongestText, "a text");
    }
  } else {
    cursor.Take(count * least, "a list");
  }
  return GgufListLength{static_cast<int64_t>(count)};
}

GgufValue ReadValue(uint32_t type, Cursor& cursor) {
  switch (type) {
    case kBool:
      return cursor.Unsigned(1) != 0;
    case kString:
      return std::string(cursor.Text(kLongestText, "a text"));
    case kFloat32:
      return static_cast<double>(
          std::bit_cast<float>(static_cast<uint32_t>(cursor.Unsigned(4))));
    case kFloat64:
      return std::bit_cast<double>(cursor.Unsigned(8));
    case kArray:
      return ReadList(cursor);
    default:
      break;
  }
  if (IsInteger(type)) return cursor.Integer(type);
  cursor.Fail(absl::StrCat("type ", type, " is unknown; accepted: 0 to 12"));
  return false;
}

}  // namespace

std::optional<int64_t> GgufHeader::Int(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const auto* value = std::get_if<int64_t>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<int64_t>(*value);
}

std::optional<std::string> GgufHeader::Text(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const auto* value = std::get_if<std::string>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
}

const std::vector<int64_t>* GgufHeader::Ints(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end()
             ? nullptr
             : std::get_if<std::vector<int64_t>>(&found->second);
}

std::optional<int64_t> GgufHeader::Length(const std::string& key) const {
  if (const std::vector<int64_t>* list = Ints(key)) {
    return static_cast<int64_t>(list->size());
  }
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const auto* length = std::get_if<GgufListLength>(&found->second);
  return length == nullptr ? std::nullopt
                           : std::optional<int64_t>(length->entries);
}

bool IsGguf(absl::string_view bytes) {
  return bytes.substr(0, kMagic.size()) == kMagic;
}

absl::StatusOr<GgufHeader> ParseGgufHeader(absl::string_view bytes,
                                           absl::string_view name) {
  Cursor cursor(bytes, name);
  if (cursor.Take(kMagic.size(), "a magic number") != kMagic) {
    cursor.Fail("no GGUF magic; accepted: a file that begins with \"GGUF\"");
    return cursor.status();
  }
  GgufHeader header;
  header.version = static_cast<int64_t>(cursor.Unsigned(4));
  if (cursor.ok() && header.version != 2 && header.version != 3) {
    cursor.Fail(absl::StrCat("version ", header.version,
                             "; accepted: 2 and 3, little-endian"));
  }
  header.tensors = cursor.Integer(kUint64);
  const uint64_t pairs = cursor.Unsigned(8);
  if (cursor.ok() && pairs > kMostPairs) {
    cursor.Fail(absl::StrCat(pairs, " key-value pairs; accepted: at most ",
                             kMostPairs));
  }
  for (uint64_t i = 0; i < pairs && cursor.ok(); ++i) {
    cursor.set_key("");
    const std::string key(cursor.Text(kLongestKey, "a key"));
    cursor.set_key(key);
    const auto type = static_cast<uint32_t>(cursor.Unsigned(4));
    GgufValue value = ReadValue(type, cursor);
    if (cursor.ok() && !header.values.emplace(key, std::move(value)).second) {
      cursor.Fail("appears twice; accepted: every key once");
    }
  }
  if (!cursor.ok()) return cursor.status();
  return header;
}

}  // namespace kvsim
