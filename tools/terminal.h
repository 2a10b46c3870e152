// Whether somebody is watching.

#ifndef KVSIM_TOOLS_TERMINAL_H_
#define KVSIM_TOOLS_TERMINAL_H_

#include <unistd.h>

#include <iostream>

namespace kvsim {

// True when `err` is the process's standard error and that is a terminal: then
// progress may be shown, one line over the last one.
inline bool IsTerminal(const std::ostream* err) {
  return err == &std::cerr && isatty(STDERR_FILENO) == 1;
}

// Begins a line over the last one.
inline constexpr char kOverLastLine[] = "\r\033[K";

}  // namespace kvsim

#endif  // KVSIM_TOOLS_TERMINAL_H_
