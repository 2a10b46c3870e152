// Helpers of tests: files to read, rows to expect.
#ifndef KVSIM_TRACES_TEST_TRACES_H_
#define KVSIM_TRACES_TEST_TRACES_H_

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "traces/trace_reader.h"

namespace kvsim {

inline std::string WriteTestFile(const std::string& name,
                                 const std::string& content) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

inline std::string ReadTestFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A public trace that the project does not ship: the environment variable
// KVSIM_SHARED names the folder of reference data. Empty when it is not set.
inline std::string PublicTrace(const std::string& name) {
  const char* folder = std::getenv("KVSIM_SHARED");
  return folder == nullptr ? "" : absl::StrCat(folder, "/traces/", name);
}

// What reading a trace gave: the rows up to the end or to an error that cannot
// be passed over, and every message on the way.
struct ReadResult {
  std::vector<TraceRequest> rows;
  std::vector<std::string> errors;
};

inline ReadResult ReadTrace(const std::string& path,
                            const TraceOptions& options = {}) {
  ReadResult result;
  const auto reader = OpenTrace(path, options);
  if (!reader.ok()) {
    result.errors.push_back(std::string(reader.status().message()));
    return result;
  }
  while (true) {
    TraceRequest row;
    const absl::StatusOr<bool> found = (*reader)->Next(&row);
    if (found.ok() && !*found) break;
    if (found.ok()) {
      result.rows.push_back(std::move(row));
      continue;
    }
    if ((*reader)->problems().empty()) {
      result.errors.push_back(std::string(found.status().message()));
    }
    for (const TraceProblem& problem : (*reader)->problems()) {
      result.errors.push_back(problem.ToString());
    }
    if (!(*reader)->can_continue()) break;
  }
  return result;
}

// Reads a text whose format the content must tell.
inline ReadResult ReadDetected(const std::string& name, const std::string& text,
                               TraceFormat format) {
  const std::string path = WriteTestFile(name, text);
  const auto reader = OpenTrace(path, {});
  EXPECT_TRUE(reader.ok()) << text;
  if (reader.ok()) {
    EXPECT_STREQ(TraceFormatName((*reader)->format()), TraceFormatName(format))
        << text;
  }
  return ReadTrace(path);
}

}  // namespace kvsim

#endif  // KVSIM_TRACES_TEST_TRACES_H_
