#include "engines/line_pattern.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kvsim {
namespace {

constexpr size_t kLongestWord = 400;

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

// The characters of a number at `at`; 0 when none is there.
size_t NumberLength(absl::string_view text, size_t at) {
  size_t end = at;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  const size_t digits = end;
  const auto is_part = [&](size_t i) {
    if (IsDigit(text[i])) return true;
    // Commas and a point only between digits.
    return (text[i] == ',' || text[i] == '.') && i > digits &&
           IsDigit(text[i - 1]) && i + 1 < text.size() && IsDigit(text[i + 1]);
  };
  while (end < text.size() && is_part(end)) ++end;
  return end == digits ? 0 : end - at;
}

// What a message must hold as it stands: up to the first gap or "=", before
// which some engines pad with blanks.
absl::string_view Head(absl::string_view pattern) {
  pattern = pattern.substr(0, pattern.find('{'));
  return absl::StripTrailingAsciiWhitespace(
      pattern.substr(0, pattern.find(" =")));
}

class Matcher {
 public:
  Matcher(absl::string_view text, PatternMatch* match)
      : text_(text), match_(match) {}

  // Whether the rest of the pattern matches at `at`.
  bool At(absl::string_view pattern, size_t at) {
    while (!pattern.empty()) {
      if (absl::ConsumePrefix(&pattern, "{#}")) {
        const size_t length = NumberLength(text_, at);
        if (length == 0) return false;
        match_->gaps.emplace_back(text_.substr(at, length));
        at += length;
      } else if (absl::ConsumePrefix(&pattern, "{w}")) {
        return Word(pattern, at);
      } else if (absl::ConsumePrefix(&pattern, "{?")) {
        return Optional(pattern, at);
      } else if (!Character(pattern[0], &at)) {
        return false;
      } else {
        pattern.remove_prefix(1);
      }
    }
    match_->end = at;
    return true;
  }

 private:
  bool Character(char c, size_t* at) {
    if (c != ' ') {
      if (*at >= text_.size() || text_[*at] != c) return false;
      ++*at;
      return true;
    }
    while (*at < text_.size() && text_[*at] == ' ') ++*at;
    return true;
  }

  bool Word(absl::string_view rest, size_t at) {
    const size_t limit = std::min(text_.size(), at + kLongestWord);
    if (rest.empty()) {
      size_t end = at;
      while (end < limit && text_[end] != ' ') ++end;
      match_->gaps.emplace_back(text_.substr(at, end - at));
      match_->end = end;
      return end > at;
    }
    const size_t gaps = match_->gaps.size();
    for (size_t end = at; end <= limit; ++end) {
      match_->gaps.emplace_back(
          absl::StripAsciiWhitespace(text_.substr(at, end - at)));
      if (At(rest, end)) return true;
      match_->gaps.resize(gaps);
    }
    return false;
  }

  bool Optional(absl::string_view pattern, size_t at) {
    const size_t close = pattern.find('}');
    const absl::string_view optional = pattern.substr(0, close);
    const absl::string_view rest = pattern.substr(close + 1);
    const size_t gaps = match_->gaps.size();
    size_t behind = at;
    const bool there =
        std::all_of(optional.begin(), optional.end(),
                    [&](char c) { return Character(c, &behind); });
    if (there && At(rest, behind)) return true;
    match_->gaps.resize(gaps);
    return At(rest, at);
  }

  absl::string_view text_;
  PatternMatch* match_;
};

}  // namespace

bool MatchPattern(absl::string_view pattern, absl::string_view text,
                  size_t from, PatternMatch* match) {
  const absl::string_view head = Head(pattern);
  while (true) {
    const size_t at = text.find(head, from);
    if (at == absl::string_view::npos) return false;
    match->gaps.clear();
    match->begin = at;
    if (Matcher(text, match)
            .At(pattern.substr(head.size()), at + head.size())) {
      return true;
    }
    from = at + 1;
  }
}

void ForEachMatch(
    absl::string_view pattern, const LogMessage& message,
    absl::FunctionRef<void(const PatternMatch&, int64_t line)> found) {
  const absl::string_view begin = pattern.substr(0, 3);
  const bool plain = begin.find('{') == absl::string_view::npos;
  if (plain && !message.MayHold(begin)) return;
  if (!message.MayHold(Head(pattern))) return;
  PatternMatch match;
  size_t from = 0;
  while (MatchPattern(pattern, message.text, from, &match)) {
    found(match, message.LineAt(match.begin));
    from = std::max(match.end, match.begin + 1);
  }
}

void ReadPatterns(std::span<const LinePattern> patterns,
                  const LogMessage& message, absl::string_view rank,
                  StartupLog* log) {
  for (const LinePattern& known : patterns) {
    ForEachMatch(
        known.pattern, message, [&](const PatternMatch& match, int64_t line) {
          const std::vector<absl::string_view> names =
              absl::StrSplit(known.names, ' ');
          for (size_t i = 0; i < names.size() && i < match.gaps.size(); ++i) {
            absl::string_view name = names[i];
            if (name == "-") continue;
            const std::string path =
                absl::ConsumePrefix(&name, "@")
                    ? absl::StrCat("ranks.", rank, ".", name)
                    : std::string(name);
            if (known.first_counts) {
              log->SetOnce(path, match.gaps[i], line);
            } else {
              log->Set(path, match.gaps[i], line);
            }
          }
        });
  }
}

}  // namespace kvsim
