#include "tools/fit_steps_command.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "base/text_table.h"
#include "sim/linear_fit.h"
#include "tools/step_samples.h"

namespace kvsim {
namespace {

struct Flags {
  std::string file;
  bool json = false;
};

// As --linear-us takes it back, six significant digits each.
std::string FlagValue(const LinearCoefficients& c) {
  return absl::StrFormat("base=%.6g,prefill=%.6g,decode=%.6g,context=%.6g",
                         c.base_us, c.prefill_token_us, c.decode_request_us,
                         c.context_token_us);
}

std::string ErrorText(const RelativeError& error) {
  return absl::StrFormat("%.1f %% half of the steps, %.1f %% nine in ten",
                         100 * error.median, 100 * error.p90);
}

std::string Text(const std::string& file, int64_t steps, const LinearFit& fit) {
  using Align = TextTable::Align;
  const LinearCoefficients& c = fit.coefficients;
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft});
  const auto row = [&](const char* name, double us, const char* unit) {
    table.AddRow({name, absl::StrFormat("%.6g us", us), unit});
  };
  row("base", c.base_us, "a step");
  row("prefill", c.prefill_token_us, "a token of a prompt's chunk");
  row("decode", c.decode_request_us, "a decoding request");
  row("context", c.context_token_us, "a token in the cache that is read");
  return absl::StrCat(
      "Fitted to ", FormatCount(steps), " steps of ", file,
      " (least squares of the relative error)\n", table.Print("  "),
      "\nError of a step's time, not exceeded by\n  the steps fitted   ",
      ErrorText(fit.in_sample), "\n  steps left out     ",
      ErrorText(fit.left_out),
      "\n\nUse it with\n  kvsim replay --timing linear "
      "--linear-us ",
      FlagValue(c), "\n");
}

std::string JsonText(int64_t steps, const LinearFit& fit) {
  const LinearCoefficients& c = fit.coefficients;
  const auto error = [](const RelativeError& e) {
    return nlohmann::ordered_json{{"median", e.median}, {"p90", e.p90}};
  };
  const nlohmann::ordered_json json = {
      {"steps", steps},
      {"base_us", c.base_us},
      {"prefill_token_us", c.prefill_token_us},
      {"decode_request_us", c.decode_request_us},
      {"context_token_us", c.context_token_us},
      {"linear_us", FlagValue(c)},
      {"error", error(fit.in_sample)},
      {"error_left_out", error(fit.left_out)}};
  return json.dump(2) + "\n";
}

absl::Status FitSteps(const Flags& flags, const CommandContext& context) {
  const absl::StatusOr<std::vector<StepSample>> samples =
      ReadStepSamples(flags.file);
  if (!samples.ok()) return samples.status();
  const absl::StatusOr<LinearFit> fit = FitLinear(*samples);
  if (!fit.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.file, ": ", fit.status().message()));
  }
  const auto steps = static_cast<int64_t>(samples->size());
  *context.out << (flags.json ? JsonText(steps, *fit)
                              : Text(flags.file, steps, *fit));
  return absl::OkStatus();
}

}  // namespace

void AddFitStepsCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      AddCommand(app, context, "fit-steps",
                 "Fit --timing linear to steps measured on your own server",
                 ServeArguments::kRefused,
                 [flags, &context] { return FitSteps(*flags, context); });
  command
      ->add_option("file", flags->file,
                   "CSV with a header: step_us (or start_ns and end_ns), "
                   "prefill_tokens, decode_requests, context_tokens")
      ->required();
  command->add_flag("--json", flags->json, "One JSON object on stdout");
}

}  // namespace kvsim
