// Reads an engine's start-up log, whichever engine wrote it.
//
// Model:   every engine's lines are looked for; the engine of which the most
//          facts are found has written the log. Lines that no engine knows are
//          passed over, so a log may hold anything beside them.
// Costs:   one pass; see engines/log_lines.h for the bounds on memory.
// Errors:  InvalidArgument "NAME: ...", with the lines looked at and the lines
//          that would be accepted, when nothing about a cache is found.

#ifndef KVSIM_ENGINES_LOG_READER_H_
#define KVSIM_ENGINES_LOG_READER_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engines/startup_log.h"

namespace kvsim {

// `name` is the file's, for errors.
absl::StatusOr<StartupLog> ReadStartupLog(std::istream& stream,
                                          absl::string_view name);

// NotFound when the file cannot be opened.
absl::StatusOr<StartupLog> ReadStartupLogFile(const std::string& path);

}  // namespace kvsim

#endif  // KVSIM_ENGINES_LOG_READER_H_
