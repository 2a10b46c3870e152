// Rows of text in aligned columns, for people.
//
//   TextTable table({Align::kLeft, Align::kRight});
//   table.AddRow({"peak", "87"});
//   table.AddRow({"mean", "23.31"});
//   table.Print("  ");        "  peak     87\n"
//                             "  mean  23.31\n"
//
// Model:      a cell is as wide as its characters (UTF-8 code points, each one
//             column); two spaces stand between columns; no line ends in
//             spaces. A missing cell is empty. A section is a row of one text
//             that widens no column.
#ifndef KVSIM_BASE_TEXT_TABLE_H_
#define KVSIM_BASE_TEXT_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace kvsim {

class TextTable {
 public:
  enum class Align { kLeft, kRight };

  // A row's cells beyond these columns are left-aligned.
  explicit TextTable(std::vector<Align> columns)
      : columns_(std::move(columns)) {}

  void AddRow(std::vector<std::string> cells);
  void AddSection(std::string text);

  // Each line starts with `indent` and ends with a newline.
  std::string Print(absl::string_view indent = "") const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool section = false;
  };
  std::vector<Align> columns_;
  std::vector<Row> rows_;
};

}  // namespace kvsim

#endif  // KVSIM_BASE_TEXT_TABLE_H_
