#include "base/shell_words.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

// What a backslash protects inside double quotes.
bool IsEscapable(char c) {
  return c == '"' || c == '\\' || c == '$' || c == '`';
}

class Splitter {
 public:
  explicit Splitter(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<std::string>> Split() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
        EndWord();
        ++at_;
      } else if (c == '#' && !inside_) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\'' || c == '"') {
        if (absl::Status status = TakeQuoted(c); !status.ok()) return status;
      } else if (c == '\\') {
        TakeEscaped();
      } else {
        Take(c);
        ++at_;
      }
    }
    EndWord();
    return std::move(words_);
  }

 private:
  void Take(char c) {
    word_ += c;
    inside_ = true;
  }

  void EndWord() {
    if (inside_) words_.push_back(std::move(word_));
    word_.clear();
    inside_ = false;
  }

  // A backslash outside quotes; one at the very end stands for itself.
  void TakeEscaped() {
    ++at_;
    if (at_ == text_.size()) {
      Take('\\');
    } else if (text_[at_] == '\r' && at_ + 1 < text_.size() &&
               text_[at_ + 1] == '\n') {
      at_ += 2;
    } else {
      if (text_[at_] != '\n') Take(text_[at_]);
      ++at_;
    }
  }

  absl::Status TakeQuoted(char quote) {
    const size_t opened = at_++;
    inside_ = true;
    while (at_ < text_.size() && text_[at_] != quote) {
      const bool escapes = quote == '"' && text_[at_] == '\\' &&
                           at_ + 1 < text_.size() &&
                           IsEscapable(text_[at_ + 1]);
      if (escapes) ++at_;
      Take(text_[at_++]);
    }
    if (at_ < text_.size()) {
      ++at_;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the quotation mark ", std::string(1, quote),
                     " at character ", opened + 1, " is not closed"));
  }

  absl::string_view text_;
  size_t at_ = 0;
  bool inside_ = false;  // of a word, which may be empty
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitShellWords(
    absl::string_view text) {
  return Splitter(text).Split();
}

}  // namespace kvsim
