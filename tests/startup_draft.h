// The drafter of a recorded start, where it has a config of its own.
#ifndef KVSIM_TESTS_STARTUP_DRAFT_H_
#define KVSIM_TESTS_STARTUP_DRAFT_H_

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "models/model_config.h"
#include "tests/startup_case.h"

namespace kvsim {

// Nothing: no drafter. Errors: those of reading its config.
inline absl::StatusOr<std::optional<ModelSpec>> ReadDraft(
    const StartupCase& startup) {
  if (startup.draft_config.empty()) return std::optional<ModelSpec>();
  absl::StatusOr<ModelSpec> draft =
      ReadModelConfig(startup.draft_config, "draft_config");
  if (!draft.ok()) return draft.status();
  return std::optional<ModelSpec>(*std::move(draft));
}

}  // namespace kvsim

#endif  // KVSIM_TESTS_STARTUP_DRAFT_H_
