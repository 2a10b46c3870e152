#include "tools/replay_report.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "sim/report_json.h"
#include "tools/version.h"
#include "traces/trace_hash.h"

namespace kvsim {
namespace {

// As a shell would take it back.
std::string Quoted(const std::string& argument) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "@%_-+=:,./";
  if (!argument.empty() &&
      argument.find_first_not_of(kPlain) == std::string::npos) {
    return argument;
  }
  return absl::StrCat("'", absl::StrReplaceAll(argument, {{"'", "'\\''"}}),
                      "'");
}

}  // namespace

absl::Status FillManifest(const ReplayFlags& flags,
                          const CommandContext& context, Manifest* manifest) {
  const absl::StatusOr<std::string> hash = TraceHash(flags.trace);
  if (!hash.ok()) return hash.status();
  manifest->set_version(kVersion);
  manifest->set_command(
      absl::StrJoin(context.command_line, " ",
                    [](std::string* out, const std::string& argument) {
                      out->append(Quoted(argument));
                    }));
  manifest->set_trace(flags.trace);
  manifest->set_trace_hash(*hash);
  return absl::OkStatus();
}

void PrintReport(const ReplayFlags& flags, const CommandContext& context,
                 const google::protobuf::Message& report,
                 const std::string& text) {
  *context.out << (flags.json ? ReportJson(report) : text);
}

}  // namespace kvsim
