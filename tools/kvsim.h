// The kvsim command as a function, so that tests run it without a process.

#ifndef KVSIM_TOOLS_KVSIM_H_
#define KVSIM_TOOLS_KVSIM_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/version.h"  // IWYU pragma: export

namespace kvsim {

// Runs the command line `arguments` (without the program's own name) and
// returns the exit code: 0 ok, 1 bad input, 2 wrong usage. Results go to
// `out`, everything else to `err`. Arguments after the first bare `--` are not
// parsed here; they reach the command as its serve arguments. `commit` is what
// --version says the program was built from.
int RunKvsim(const std::vector<std::string>& arguments, std::ostream& out,
             std::ostream& err, const std::string& commit = "unknown");

}  // namespace kvsim

#endif  // KVSIM_TOOLS_KVSIM_H_
