#include "base/text_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

// Code points: every byte that does not continue one.
size_t Width(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void TextTable::AddRow(std::vector<std::string> cells) {
  rows_.push_back({std::move(cells), false});
}

void TextTable::AddSection(std::string text) {
  rows_.push_back({{std::move(text)}, true});
}

std::string TextTable::Print(absl::string_view indent) const {
  std::vector<size_t> widths;
  for (const Row& row : rows_) {
    if (row.section) continue;
    if (row.cells.size() > widths.size()) widths.resize(row.cells.size(), 0);
    for (size_t c = 0; c < row.cells.size(); ++c) {
      widths[c] = std::max(widths[c], Width(row.cells[c]));
    }
  }
  std::string text;
  for (const Row& row : rows_) {
    std::string line(indent);
    for (size_t c = 0; c < row.cells.size(); ++c) {
      if (c > 0) line += "  ";
      const std::string& cell = row.cells[c];
      const size_t width = row.section ? 0 : widths[c];
      const std::string gap(width - std::min(width, Width(cell)), ' ');
      const bool right = c < columns_.size() && columns_[c] == Align::kRight;
      absl::StrAppend(&line, right ? gap : "", cell, right ? "" : gap);
    }
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace kvsim
