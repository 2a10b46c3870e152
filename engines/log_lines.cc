#include "engines/log_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace kvsim {
namespace {

constexpr size_t kLongestLine = size_t{1} << 16;
constexpr size_t kMostLines = 16;

// What begins a line of some engine's log.
constexpr absl::string_view kBegins[] = {
    "INFO ",  "WARNING ",      "ERROR ",        "DEBUG ",
    "pid=",   "[20",           "[TensorRT-LLM", "[TRT-LLM]",
    "llama_", "load_tensors:", "print_info:",   "sched_reserve:"};

bool BeginsMessage(absl::string_view text) {
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [text](absl::string_view begin) {
                       return absl::StrContains(text, begin);
                     });
}

// "\033[32m" and its like.
void DropColours(std::string* text) {
  if (text->find('\033') == std::string::npos) return;
  std::string plain;
  for (size_t i = 0; i < text->size(); ++i) {
    if ((*text)[i] != '\033') {
      plain += (*text)[i];
      continue;
    }
    if (i + 1 >= text->size() || (*text)[i + 1] != '[') continue;
    i += 2;
    while (i < text->size() &&
           !absl::ascii_isalpha(static_cast<unsigned char>((*text)[i]))) {
      ++i;
    }
  }
  *text = std::move(plain);
}

void Clean(std::string* text) {
  DropColours(text);
  absl::string_view rest = absl::StripAsciiWhitespace(*text);
  while (absl::ConsumePrefix(&rest, "> ")) {
    rest = absl::StripLeadingAsciiWhitespace(rest);
  }
  *text = std::string(rest);
}

// Where three characters are noted.
size_t Group(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(text[i]));
  };
  return (byte(at) * 961 + byte(at + 1) * 31 + byte(at + 2)) % 4096;
}

}  // namespace

bool LogMessage::MayHold(absl::string_view part) const {
  if (!indexed_ || part.size() < 3) return true;
  const size_t last = part.size() - 3;
  return groups_[Group(part, 0)] && groups_[Group(part, last)] &&
         groups_[Group(part, last / 2)];
}

void LogMessage::Index() {
  groups_.reset();
  for (size_t i = 0; i + 3 <= text.size(); ++i) groups_.set(Group(text, i));
  indexed_ = true;
}

int64_t LogMessage::LineAt(size_t offset) const {
  int64_t line = starts.front().second;
  for (const auto& [start, number] : starts) {
    if (start > offset) break;
    line = number;
  }
  return line;
}

bool LogLines::NextPiece(std::string* piece, int64_t* line) {
  if (waiting_) {
    waiting_ = false;
    *piece = std::move(piece_);
    *line = piece_line_;
    return true;
  }
  piece->clear();
  std::streambuf* buffer = stream_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  while (true) {
    const int next = buffer->sbumpc();
    if (next == kEnd && piece->empty()) return false;
    if (next != kEnd && begin_) {
      ++line_;
      begin_ = false;
    }
    *line = line_;
    const bool newline = next == '\n';
    if (newline) begin_ = true;
    const bool ends = newline || next == '\r' || next == kEnd;
    if (!ends) *piece += static_cast<char>(next);
    if (!ends && piece->size() < kLongestLine) continue;
    Clean(piece);
    if (!piece->empty()) return true;
    if (next == kEnd) return false;
  }
}

bool LogLines::Next(LogMessage* message) {
  message->text.clear();
  message->starts.clear();
  std::string piece;
  int64_t line = 0;
  while (message->starts.size() < kMostLines && NextPiece(&piece, &line)) {
    if (!message->starts.empty() && BeginsMessage(piece)) {
      piece_ = std::move(piece);
      piece_line_ = line;
      waiting_ = true;
      break;
    }
    if (!message->text.empty()) message->text += ' ';
    message->starts.emplace_back(message->text.size(), line);
    message->text += piece;
  }
  if (message->starts.empty()) return false;
  message->Index();
  return true;
}

}  // namespace kvsim
