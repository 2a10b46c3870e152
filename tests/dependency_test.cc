// Dependencies between folders point down only.
//
// Reads every source file's `#include "folder/…"` lines and every BUILD file's
// `//folder` labels, and compares them with the table below, which is the one
// of docs/design.md. Tests and benchmarks obey it too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace kvsim {
namespace {

using Folders = std::set<std::string>;

// What each folder may name besides itself and third_party. `tools` also holds
// Bazel macros, which BUILD files of every folder may load.
const std::map<std::string, Folders>& AllowedTable() {
  static const auto& table = *new std::map<std::string, Folders>{
      {"base", {}},
      {"models", {"base"}},
      {"allocator", {"base"}},
      {"kernels", {"base"}},
      {"traces", {"base"}},
      {"engines", {"base", "models", "allocator"}},
      {"sim", {"base", "models", "allocator", "engines", "kernels", "traces"}},
      {"tools",
       {"base", "models", "allocator", "engines", "kernels", "traces", "sim"}},
      {"python",
       {"base", "models", "allocator", "engines", "kernels", "traces", "sim",
        "tools"}},
      {"tests",
       {"base", "models", "allocator", "engines", "kernels", "traces", "sim",
        "tools"}},
  };
  return table;
}

// The project's folders named in `text` by `pattern`'s first group.
Folders NamedIn(const std::string& text, const std::regex& pattern) {
  Folders named;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end;
       it != end; ++it) {
    const std::string folder = (*it)[1];
    if (AllowedTable().contains(folder)) named.insert(folder);
  }
  return named;
}

Folders IncludedBy(const std::string& source) {
  static const std::regex kInclude("#include \"([a-z_]+)/");
  return NamedIn(source, kInclude);
}

Folders LabelledBy(const std::string& build) {
  // Macros and their helpers are the workshop's, not the product's.
  static const std::regex kMacro("load\\(\"//tools:[a-z_]+\\.bzl\"");
  static const std::regex kComment("#[^\n]*");
  static const std::regex kVisibility("visibility = \\[[^\\]]*\\]");
  static const std::regex kLabel("\"//([a-z_]+)[:/\"]");
  std::string text = std::regex_replace(build, kComment, "");
  text = std::regex_replace(text, kMacro, "");
  text = std::regex_replace(text, kVisibility, "");
  return NamedIn(text, kLabel);
}

// Everything named that the table does not allow `folder` to name.
Folders Forbidden(const std::string& folder, const Folders& named) {
  Folders forbidden = named;
  forbidden.erase(folder);
  for (const std::string& allowed : AllowedTable().at(folder)) {
    forbidden.erase(allowed);
  }
  return forbidden;
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsSource(const std::filesystem::path& path) {
  const std::string extension = path.extension();
  return extension == ".h" || extension == ".cc" || extension == ".cu" ||
         extension == ".cuh";
}

TEST(DependencyTest, TableItselfPointsDown) {
  // Along an order in which every folder's needs come before it.
  const std::vector<std::string> order = {
      "base",    "models", "allocator", "kernels", "traces",
      "engines", "sim",    "tools",     "python",  "tests"};
  Folders above;
  for (const std::string& folder : order) {
    for (const std::string& allowed : AllowedTable().at(folder)) {
      EXPECT_TRUE(above.contains(allowed)) << folder << " -> " << allowed;
    }
    above.insert(folder);
  }
  EXPECT_EQ(above.size(), AllowedTable().size());
}

TEST(DependencyTest, ReadsIncludesAndLabels) {
  EXPECT_EQ(IncludedBy("#include <vector>\n#include \"sim/report.pb.h\"\n"),
            Folders{"sim"});
  EXPECT_EQ(LabelledBy("load(\"//tools:proto.bzl\", \"x\")\n"
                       "# see \"//sim:y\"\n"
                       "visibility = [\"//tests:__pkg__\"],\n"
                       "deps = [\":a\", \"//base:b\", \"//third_party:c\"],\n"
                       "deps = [\"//engines/vllm:d\"],\n"),
            (Folders{"base", "engines"}));
  EXPECT_EQ(Forbidden("models", {"models", "base", "sim"}), Folders{"sim"});
}

// The test's own WORKSPACE is a link into the source tree.
std::filesystem::path SourceRoot() {
  return std::filesystem::canonical("WORKSPACE").parent_path();
}

TEST(DependencyTest, EveryFileObeysTheTable) {
  const std::filesystem::path root = SourceRoot();
  int files = 0;
  for (const auto& [folder, allowed] : AllowedTable()) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::filesystem::path& path = entry.path();
      Folders named;
      if (IsSource(path)) {
        named = IncludedBy(Read(path));
      } else if (path.filename() == "BUILD.bazel") {
        named = LabelledBy(Read(path));
      } else {
        continue;
      }
      ++files;
      EXPECT_THAT(Forbidden(folder, named), ::testing::IsEmpty()) << path;
    }
  }
  // base alone has this many: the source tree is really here.
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace kvsim
