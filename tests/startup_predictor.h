// The engines whose start-up figures can be predicted.
//
// Adding an engine: a file pair tests/startup_NAME.{h,cc} with a function of
// type StartupPredict, and a row in startup_predictor.cc.

#ifndef KVSIM_TESTS_STARTUP_PREDICTOR_H_
#define KVSIM_TESTS_STARTUP_PREDICTOR_H_

#include "absl/strings/string_view.h"
#include "tests/startup_figures.h"

namespace kvsim {

// nullptr for an engine without a predictor.
StartupPredict FindStartupPredict(absl::string_view engine);

}  // namespace kvsim

#endif  // KVSIM_TESTS_STARTUP_PREDICTOR_H_
