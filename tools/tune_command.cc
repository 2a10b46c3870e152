#include "tools/tune_command.h"

#include "tools/tune_block_size_command.h"
#include "tools/tune_checkpoints_command.h"

namespace kvsim {

void AddTuneCommand(CLI::App& app, CommandContext& context) {
  CLI::App* tune = app.add_subcommand(
      "tune", "Compare the values that a setting of the engine can have.");
  tune->require_subcommand(1);
  AddTuneBlockSizeCommand(*tune, context);
  AddTuneCheckpointsCommand(*tune, context);
}

}  // namespace kvsim
