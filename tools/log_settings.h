// What a start-up log says of its engine's settings, as the engine's own flags.
//
// Model:   a setting is a flag, its value ("" for a switch) and the line that
//          said so. Only what the log prints is here; the rest keeps the
//          engine's defaults, as under a command that does not give it.

#ifndef KVSIM_TOOLS_LOG_SETTINGS_H_
#define KVSIM_TOOLS_LOG_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engines/startup_log.h"
#include "tools/capacity_flags.h"

namespace kvsim {

struct LogSetting {
  std::string flag;
  std::string value;
  int64_t line = 0;
};

struct LogSettings {
  std::string model;  // "": the log names none
  std::string version;
  std::vector<std::string> switches;  // rules that the log's shape shows
  std::vector<LogSetting> given;
  std::vector<std::string> notes;  // what was concluded and not printed
};

LogSettings SettingsOfLog(const StartupLog& log);

// Whether kvsim's own flags decide what the engine's `flag` would.
bool IsGiven(const CapacityFlags& flags, absl::string_view flag);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_LOG_SETTINGS_H_
