// kvsim's own flags beside those of an engine's command: both may say the same,
// neither may contradict the other.
//
// Model:   a setting that the command leaves at its default takes the flag's
//          value. The first problem is kept, nothing is changed after it.
// Errors:  InvalidArgument naming flag and both values, or a flag that the
//          engine has nothing for.

#ifndef KVSIM_ENGINES_FLAG_MERGE_H_
#define KVSIM_ENGINES_FLAG_MERGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kvsim {

class FlagMerge {
 public:
  explicit FlagMerge(std::string engine) : engine_(std::move(engine)) {}

  const absl::Status& status() const { return status_; }

  // `otherwise` is the setting's default.
  template <typename T>
  void Set(absl::string_view flag, const std::optional<T>& asked, T otherwise,
           T* setting) {
    if (!asked.has_value() || !status_.ok()) return;
    if (*setting != otherwise && *setting != *asked) {
      Contradict(flag, absl::StrCat(*asked), absl::StrCat(*setting));
    } else {
      *setting = *asked;
    }
  }

  template <typename T>
  void Set(absl::string_view flag, const std::optional<T>& asked,
           std::optional<T>* setting) {
    if (!asked.has_value() || !status_.ok()) return;
    if (setting->has_value() && **setting != *asked) {
      Contradict(flag, absl::StrCat(*asked), absl::StrCat(**setting));
    } else {
      *setting = asked;
    }
  }

  // The same for values that have names. An asked value of `otherwise` is no
  // flag at all.
  template <typename T>
  void SetNamed(absl::string_view flag, T asked, T otherwise,
                absl::string_view (*name)(T), T* setting) {
    if (asked == otherwise || !status_.ok()) return;
    if (*setting != otherwise && *setting != asked) {
      Contradict(flag, std::string(name(asked)), std::string(name(*setting)));
    } else {
      *setting = asked;
    }
  }

  // A flag that means nothing to the engine.
  void Unused(absl::string_view flag, bool given) {
    if (!given || !status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(flag, ": --engine ", engine_,
                     " has no such setting; give its own flags after --"));
  }

 private:
  void Contradict(absl::string_view flag, const std::string& asked,
                  const std::string& setting) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(flag, " ", asked, " contradicts ", setting,
                     " in the engine's command"));
  }

  std::string engine_;
  absl::Status status_;
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_FLAG_MERGE_H_
