// Whether a prediction agrees with what an engine printed.
//
// Rule:    memory is printed to some decimals, so the pool's size is known to
//          within a few blocks. ONE size that the printed memory allows must
//          reproduce every printed figure: integers exactly, others at two
//          decimals. Exact memory, or a size given as input, allows one size
//          only. A refusal must be refused: the bytes it needs are exact, the
//          length it suggests lies within what the memory allows.

#ifndef KVSIM_TESTS_STARTUP_AGREEMENT_H_
#define KVSIM_TESTS_STARTUP_AGREEMENT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tests/startup_case.h"
#include "tests/startup_figures.h"

namespace kvsim {

enum class Agreement { kAgrees, kDiffers, kUnsupported };

struct StartupResult {
  Agreement agreement = Agreement::kUnsupported;
  std::string detail;  // what agreed, or the first figure that does not
};

// `predict` may be null: unsupported.
StartupResult CompareStartup(const StartupCase& startup,
                             StartupPredict predict);

// "agree", "differs", "unsupported".
absl::string_view AgreementName(Agreement agreement);

}  // namespace kvsim

#endif  // KVSIM_TESTS_STARTUP_AGREEMENT_H_
