#include "tools/anonymise_command.h"

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "tools/trace_flags.h"
#include "tools/trace_output.h"
#include "traces/anonymiser.h"
#include "traces/trace_convert.h"
#include "traces/trace_reader.h"

namespace kvsim {
namespace {

// A shorter one can be found by trying.
constexpr size_t kMinSalt = 8;

struct Flags {
  TraceFlags input;
  TraceOutputFlags output{.output = "", .to = "mooncake", .compress = false};
  std::string salt;
};

absl::Status Anonymise(const Flags& flags, CommandContext& context) {
  if (flags.salt.size() < kMinSalt) {
    return UsageError(absl::StrCat("--salt: found ", flags.salt.size(),
                                   " characters; accepted: at least ", kMinSalt,
                                   " that nobody else knows"));
  }
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(flags.input);
  if (!options.ok()) return options.status();
  absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      OpenTrace(flags.input.trace, *options);
  if (!reader.ok()) return reader.status();
  Anonymiser anonymiser(*std::move(reader), flags.salt);
  const absl::StatusOr<int64_t> rows =
      WriteTrace(flags.output, flags.input.trace, anonymiser.has_sessions(),
                 /*keep_ids=*/true, context,
                 [&](TraceWriter& to) { return CopyTrace(anonymiser, to); });
  if (!rows.ok()) return rows.status();
  *context.err << "Wrote " << FormatCount(*rows) << " requests to "
               << flags.output.output << ".\n";
  return absl::OkStatus();
}

}  // namespace

void AddAnonymiseCommand(CLI::App& trace, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = AddCommand(
      trace, context, "anonymise",
      "Write a trace with salted ids, to share it: lengths, sharing and times "
      "between requests stay.",
      ServeArguments::kRefused,
      [flags, &context] { return Anonymise(*flags, context); });
  AddTraceFlags(*command, flags->input);
  AddTraceOutputFlags(*command, flags->output);
  command
      ->add_option("--salt", flags->salt,
                   "Any text; keep it secret. Files of one salt can be "
                   "compared with each other.")
      ->required();
}

}  // namespace kvsim
