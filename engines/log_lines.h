// The messages of a log file, one after the other, whatever carried them.
//
// Model:   ANSI colours are dropped, carriage returns end a line as newlines
//          do, and a quotation mark ("> ") at the start of a line goes. A line
//          that does not look like the start of a log line is taken as the rest
//          of the line before, as Markdown leaves long lines wrapped: the two
//          are joined with a blank. Line numbers are the file's.
// Costs:   reads the stream once; keeps one message. Lines are cut at 64 KiB,
//          messages at 16 lines, so that no file can fill the memory.
// Ownership: the stream must outlive it.

#ifndef KVSIM_ENGINES_LOG_LINES_H_
#define KVSIM_ENGINES_LOG_LINES_H_

#include <bitset>
#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace kvsim {

class LogMessage {
 public:
  LogMessage() = default;
  LogMessage(std::string message, std::vector<std::pair<size_t, int64_t>> lines)
      : text(std::move(message)), starts(std::move(lines)) {}

  std::string text;
  // Where each line of the file begins in `text`, ascending, and its number.
  std::vector<std::pair<size_t, int64_t>> starts;

  // The file's line that holds `offset`. REQUIRES: starts is not empty.
  int64_t LineAt(size_t offset) const;

  // False only when `part` is not in the text: a quick look at three of its
  // groups of three characters. True for all when Index() was not called.
  bool MayHold(absl::string_view part) const;
  void Index();

 private:
  std::bitset<4096> groups_;
  bool indexed_ = false;
};

class LogLines {
 public:
  explicit LogLines(std::istream& stream) : stream_(stream) {}

  // False at the end; otherwise *message is the next one.
  bool Next(LogMessage* message);

  // Lines read so far.
  int64_t count() const { return line_; }

 private:
  bool NextPiece(std::string* piece, int64_t* line);

  std::istream& stream_;
  int64_t line_ = 0;  // the last one that was begun
  bool begin_ = true;
  bool waiting_ = false;  // piece_ was read and belongs to the next message
  std::string piece_;
  int64_t piece_line_ = 0;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_LOG_LINES_H_
