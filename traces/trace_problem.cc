#include "traces/trace_problem.h"

#include "absl/strings/str_cat.h"

namespace kvsim {

std::string TraceProblem::ToString() const {
  std::string text = file;
  if (line > 0) absl::StrAppend(&text, ":", line);
  absl::StrAppend(&text, ": ");
  if (!field.empty()) absl::StrAppend(&text, "field `", field, "`: ");
  absl::StrAppend(&text, "found ", found, "; accepted: ", accepted);
  return text;
}

absl::Status TraceProblem::ToStatus() const {
  return absl::InvalidArgumentError(ToString());
}

namespace {

// Printable ASCII as it is, other bytes as \xNN.
std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      printable.push_back(c);
    } else {
      absl::StrAppend(
          &printable, "\\x",
          absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return printable;
}

}  // namespace

std::string Excerpt(absl::string_view text, size_t max_chars) {
  if (text.size() <= max_chars) {
    return absl::StrCat("'", Printable(text), "'");
  }
  return absl::StrCat("'", Printable(text.substr(0, max_chars)), "'... (",
                      text.size(), " bytes)");
}

}  // namespace kvsim
