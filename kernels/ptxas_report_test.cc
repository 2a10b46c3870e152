// What the CUDA compiler says of every kernel, for every architecture: none may
// spill registers or keep a stack frame.
//
// The arguments are the reports of kvsim_cuda_library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace kvsim {
namespace {

using testing::IsSupersetOf;

std::vector<std::string>& Reports() {
  static auto& reports = *new std::vector<std::string>;
  return reports;
}

struct Kernel {
  std::string name;
  std::string architecture;
  std::string frame;  // "N bytes stack frame, N bytes spill stores, …"
};

std::vector<Kernel> KernelsOf(std::istream& report) {
  static const std::regex kEntry(
      "Compiling entry function '([^']+)' for '([^']+)'");
  static const std::regex kFrame("([0-9]+ bytes stack frame.*)");
  std::vector<Kernel> kernels;
  std::string line;
  std::smatch match;
  while (std::getline(report, line)) {
    if (std::regex_search(line, match, kEntry)) {
      kernels.push_back({match[1], match[2], ""});
    } else if (!kernels.empty() && kernels.back().frame.empty() &&
               std::regex_search(line, match, kFrame)) {
      kernels.back().frame = match[1];
    }
  }
  return kernels;
}

TEST(PtxasReportTest, NoKernelSpillsOrKeepsAStackFrame) {
  ASSERT_FALSE(Reports().empty());
  for (const std::string& path : Reports()) {
    std::ifstream file(path);
    ASSERT_TRUE(file.good()) << path;
    std::map<std::string, std::set<std::string>> architectures;  // by kernel
    for (const Kernel& kernel : KernelsOf(file)) {
      EXPECT_EQ(kernel.frame,
                "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
                "loads")
          << path << ": " << kernel.name << " for " << kernel.architecture;
      architectures[kernel.name].insert(kernel.architecture);
    }
    EXPECT_FALSE(architectures.empty()) << path << " names no kernel";
    for (const auto& [kernel, built_for] : architectures) {
      EXPECT_THAT(built_for, IsSupersetOf({"sm_80", "sm_90", "sm_100"}))
          << path << ": " << kernel;
    }
  }
}

TEST(PtxasReportTest, SeesASpill) {
  std::istringstream report(
      "ptxas info    : Compiling entry function '_Zk' for 'sm_90'\n"
      "ptxas info    : Function properties for _Zk\n"
      "    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 255 registers\n");
  const std::vector<Kernel> kernels = KernelsOf(report);
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_EQ(kernels[0].architecture, "sm_90");
  EXPECT_EQ(kernels[0].frame,
            "16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads");
}

}  // namespace
}  // namespace kvsim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  kvsim::Reports().assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
