// The settings of the engines whose caches do not follow from vLLM's flags, as
// their own commands give them.

#ifndef KVSIM_ENGINES_ENGINE_SETTINGS_H_
#define KVSIM_ENGINES_ENGINE_SETTINGS_H_

#include <variant>

#include "engines/llama_cpp/settings.h"
#include "engines/sglang/settings.h"
#include "engines/tensorrt_llm/settings.h"

namespace kvsim {

// monostate: no command was given, the engine's defaults hold.
using EngineSettings =
    std::variant<std::monostate, sglang::Settings, llama_cpp::Settings,
                 tensorrt_llm::Settings>;

// The settings of one engine, or its defaults.
template <typename Settings>
Settings SettingsOr(const EngineSettings& settings) {
  const auto* own = std::get_if<Settings>(&settings);
  return own == nullptr ? Settings{} : *own;
}

}  // namespace kvsim

#endif  // KVSIM_ENGINES_ENGINE_SETTINGS_H_
