// Predicts what engines printed at start-up and says where it agrees.
//
//   startup_case_check DIR
//
// A line per *.json of DIR: `ID agree|differs|unsupported DETAIL`; last line
// `AGREE of TOTAL agree`. Exit 0 whatever the count; 2 when DIR or a file in it
// cannot be used.

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/startup_agreement.h"
#include "tests/startup_case.h"
#include "tests/startup_predictor.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: startup_case_check DIR\n";
    return 2;
  }
  const absl::StatusOr<std::vector<kvsim::StartupCase>> cases =
      kvsim::ReadStartupCases(argv[1]);
  if (!cases.ok()) {
    std::cerr << cases.status().message() << "\n";
    return 2;
  }
  int agree = 0;
  for (const kvsim::StartupCase& startup : *cases) {
    const kvsim::StartupResult result = kvsim::CompareStartup(
        startup, kvsim::FindStartupPredict(startup.engine));
    if (result.agreement == kvsim::Agreement::kAgrees) ++agree;
    std::cout << startup.id << " " << kvsim::AgreementName(result.agreement)
              << " " << result.detail << "\n";
  }
  std::cout << agree << " of " << cases->size() << " agree\n";
  return 0;
}
