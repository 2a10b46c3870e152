// What every report of `kvsim replay` starts and ends with.

#ifndef KVSIM_TOOLS_REPLAY_REPORT_H_
#define KVSIM_TOOLS_REPLAY_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "sim/report.pb.h"
#include "tools/command.h"
#include "tools/replay_flags.h"

namespace kvsim {

// Version, command line and trace with its fingerprint. Reads the file.
absl::Status FillManifest(const ReplayFlags& flags,
                          const CommandContext& context, Manifest* manifest);

// Prints the message as JSON when --json is given, else `text`.
void PrintReport(const ReplayFlags& flags, const CommandContext& context,
                 const google::protobuf::Message& report,
                 const std::string& text);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_REPLAY_REPORT_H_
