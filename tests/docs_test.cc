// Every command that README and docs show gives the output they show.
//
// A fenced block may hold lines "$ kvsim ..." or "$ tools/run ..."; what follows
// up to the next such line or the end of the block is the expected output, where
// a line "..." stands for lines that the page leaves out.
// `$ tools/run` alone stands for the arguments that the script itself puts in.
// Real times differ from run to run and are not compared.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/shell_words.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

namespace fs = std::filesystem;

struct Shown {
  std::string where;  // file:line
  std::string command;
  std::string output;
};

std::string Read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<Shown> ShownIn(const fs::path& path) {
  std::vector<Shown> found;
  bool fenced = false, taking = false;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(Read(path), '\n')) {
    ++number;
    if (absl::StartsWith(line, "```")) {
      fenced = !fenced;
      taking = false;
    } else if (fenced && absl::StartsWith(line, "$ ")) {
      found.push_back({absl::StrCat(path.string(), ":", number),
                       std::string(line.substr(2)), ""});
      taking = true;
    } else if (taking) {
      absl::StrAppend(&found.back().output, line, "\n");
    }
  }
  return found;
}

std::vector<std::string> Words(absl::string_view command) {
  absl::StatusOr<std::vector<std::string>> words = SplitShellWords(command);
  EXPECT_TRUE(words.ok()) << words.status();
  return words.ok() ? *std::move(words) : std::vector<std::string>();
}

// What tools/run does when it is called without arguments.
std::vector<std::string> DefaultArguments() {
  const std::string script = Read("tools/run");
  const size_t begin = script.find("set -- ");
  EXPECT_NE(begin, std::string::npos);
  std::string command = script.substr(begin + 7);
  command = absl::StrReplaceAll(command, {{"\\\n", " "}});
  command = command.substr(0, command.find('\n'));
  return Words(absl::StrReplaceAll(command, {{"$ROOT/", ""}, {"\"", ""}}));
}

std::string WithoutRealTimes(absl::string_view text) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "real time ")) lines.emplace_back(line);
  }
  return absl::StrJoin(lines, "\n");
}

// Whether a page shows this output. Both end in a newline, or are empty.
bool Shows(absl::string_view page, absl::string_view output) {
  const std::string shown = absl::StrCat("\n", page);
  const std::string given = absl::StrCat("\n", output);
  const std::vector<std::string> pieces = absl::StrSplit(shown, "\n...\n");
  if (pieces.size() == 1) return given == shown;
  if (!absl::StartsWith(given, pieces.front() + "\n")) return false;
  size_t at = pieces.front().size();  // the newline before what is left
  for (size_t i = 1; i + 1 < pieces.size(); ++i) {
    at = given.find(absl::StrCat("\n", pieces[i], "\n"), at);
    if (at == std::string::npos) return false;
    at += 1 + pieces[i].size();
  }
  return absl::EndsWith(given.substr(at), "\n" + pieces.back());
}

// Files that a command reads and that the project does not carry.
bool NeedsMore(const std::vector<std::string>& words) {
  if (words.size() > 1 && words[0] == "trace" && words[1] == "synth") {
    return false;  // its file is the one it writes
  }
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return absl::EndsWith(word, ".jsonl") && !fs::exists(word);
  });
}

// Works in a folder of its own, where commands may leave files.
class DocsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path project = fs::current_path();
    const fs::path work = fs::path(testing::TempDir()) / "docs_test";
    fs::remove_all(work);
    fs::create_directories(work);
    for (const fs::directory_entry& entry : fs::directory_iterator(project)) {
      fs::create_symlink(entry.path(), work / entry.path().filename());
    }
    fs::current_path(work);
  }
};

TEST(ShowsTest, DotsStandForLines) {
  EXPECT_TRUE(Shows("", ""));
  EXPECT_TRUE(Shows("a\nb\n", "a\nb\n"));
  EXPECT_FALSE(Shows("a\n", "a\nb\n"));
  EXPECT_TRUE(Shows("a\n...\nd\n", "a\nb\nc\nd\n"));
  EXPECT_TRUE(Shows("...\nb\n...\nd\n", "a\nb\nc\nd\n"));
  EXPECT_TRUE(Shows("a\n...\n", "a\nb\nc\n"));
  EXPECT_FALSE(Shows("a\n...\nc\n", "a\nb\ncc\n"));
  EXPECT_FALSE(Shows("b\n...\n", "a\nb\nc\n"));
  EXPECT_FALSE(Shows("a\n...\nc\n...\nb\n...\n", "a\nb\nc\n"));
}

TEST_F(DocsTest, EveryShownCommandGivesItsOutput) {
  std::vector<fs::path> pages = {"README.md"};
  for (const fs::directory_entry& entry : fs::directory_iterator("docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  int compared = 0;
  for (const fs::path& page : pages) {
    for (const Shown& shown : ShownIn(page)) {
      SCOPED_TRACE(absl::StrCat(shown.where, ": ", shown.command));
      std::vector<std::string> words = Words(shown.command);
      if (words[0] != "kvsim" && words[0] != "tools/run") continue;
      words.erase(words.begin());
      if (words.empty()) words = DefaultArguments();
      if (NeedsMore(words)) continue;
      const Outcome outcome = Kvsim(words);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      const std::string given = WithoutRealTimes(outcome.out);
      EXPECT_TRUE(Shows(WithoutRealTimes(shown.output), given)) << given;
      ++compared;
    }
  }
  EXPECT_GE(compared, 7);
}

}  // namespace
}  // namespace kvsim
