#include "base/text_table.h"

#include <gtest/gtest.h>

namespace kvsim {
namespace {

using Align = TextTable::Align;

TEST(TextTableTest, AlignsColumnsAndLeavesNoSpacesAtTheEnd) {
  TextTable table({Align::kLeft, Align::kRight});
  table.AddRow({"peak", "87", "note"});
  table.AddSection("a section is as long as it likes");
  table.AddRow({"mean", "23.31"});
  table.AddRow({"mean of it"});
  EXPECT_EQ(table.Print("  "),
            "  peak           87  note\n"
            "  a section is as long as it likes\n"
            "  mean        23.31\n"
            "  mean of it\n");
}

TEST(TextTableTest, CountsCharactersNotBytes) {
  TextTable table({Align::kRight, Align::kRight});
  table.AddRow({"Σ", "1"});
  table.AddRow({"ab", "2"});
  EXPECT_EQ(table.Print(), " Σ  1\nab  2\n");
}

TEST(TextTableTest, NothingPrintsNothing) {
  EXPECT_EQ(TextTable({}).Print("  "), "");
}

}  // namespace
}  // namespace kvsim
