#include "tools/sweep_grid.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/command.h"

namespace kvsim {
namespace {

constexpr int64_t kMostPoints = 1'000'000;

absl::Status BadVary(const std::string& text, const std::string& reason) {
  return UsageError(absl::StrCat("--vary '", text, "': ", reason));
}

// Whether `kvsim replay` has the flag and a sweep may turn it.
bool IsTurnable(const std::string& name) {
  if (name == "trace") return false;  // a sweep is of one trace
  ReplayFlags flags;
  CLI::App app;
  DeclareRunFlags(app, flags);
  return app.get_option_no_throw("--" + name) != nullptr;
}

}  // namespace

absl::StatusOr<SweepGrid> SweepGrid::Parse(
    const std::vector<std::string>& texts) {
  SweepGrid grid;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return BadVary(text, "accepted: FLAG=VALUE,VALUE,...");
    }
    std::string name = text.substr(0, equals);
    if (name.rfind("--", 0) == 0) name = name.substr(2);
    if (!IsTurnable(name)) {
      return BadVary(text, absl::StrCat("no flag --", name, " to vary; ",
                                        "kvsim sweep --help lists them"));
    }
    if (std::find(grid.names_.begin(), grid.names_.end(), name) !=
        grid.names_.end()) {
      return BadVary(text, absl::StrCat("--", name, " varies twice"));
    }
    const std::string list = text.substr(equals + 1);
    const char separator = list.find(';') != std::string::npos ? ';' : ',';
    std::vector<std::string> values = absl::StrSplit(list, separator);
    for (const std::string& value : values) {
      if (value.empty()) return BadVary(text, "a value is empty");
    }
    grid.size_ *= static_cast<int64_t>(values.size());
    if (grid.size_ > kMostPoints) {
      return BadVary(text, "makes more than 1,000,000 points");
    }
    grid.names_.push_back(std::move(name));
    grid.values_.push_back(std::move(values));
  }
  return grid;
}

std::vector<std::string> SweepGrid::Values(int64_t point) const {
  std::vector<std::string> values(names_.size());
  for (size_t i = names_.size(); i-- > 0;) {
    const auto choices = static_cast<int64_t>(values_[i].size());
    values[i] = values_[i][static_cast<size_t>(point % choices)];
    point /= choices;
  }
  return values;
}

absl::Status SweepGrid::Apply(int64_t point, ReplayFlags* flags) const {
  CLI::App app;
  DeclareRunFlags(app, *flags);
  // CLI11 takes arguments from the back.
  std::vector<std::string> arguments;
  const std::vector<std::string> values = Values(point);
  for (size_t i = names_.size(); i-- > 0;) {
    arguments.push_back(absl::StrCat("--", names_[i], "=", values[i]));
  }
  arguments.push_back(absl::StrCat("--trace=", flags->trace));
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace kvsim
